#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Draws what bench/tree_figure2 printed: paper 2, figure 2.

    tree_figure2 > trees-figure2.csv
    tree_figure2.py trees-figure2.csv trees-figure2.png

Debian: apt-get install python3-matplotlib, and call it as /usr/bin/python3 if another Python comes first.
"""
import csv
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("tree_figure2.py: matplotlib is missing for " + sys.executable + "; on Debian: apt-get install python3-matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], newline="") as file:
        rows = list(csv.DictReader(file))
    n = [int(row["n"]) for row in rows]
    curves = {
        "binomial, d = c": ("binomial_to_optimum_at_d_equal_c", "-"),
        "Fibonacci, min(d, c) = 0": ("fibonacci_to_optimum_at_min_0", "--"),
    }
    figure, axes = plt.subplots(figsize=(8, 4.5))
    for label, (column, style) in curves.items():
        axes.step(n, [float(row[column]) for row in rows], style, where="post", label=label, linewidth=1.2)
    axes.set_xscale("log")
    axes.set_xlim(n[0], n[-1])
    axes.set_ylim(0.98, 2.0)
    axes.set_xlabel("machines n")
    axes.set_ylabel("length ÷ optimal length")
    axes.set_title("Strategies at the costs that suit them least (paper 2, figure 2)")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(sys.argv[2], dpi=130)


main()
