#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Plots what bench/block_size wrote with --csv.

    block_size_plot.py RESULT.csv [RESULT.csv ...] -o PICTURE.png

One column for each operation: above the time with circulant's own number of blocks, with the paper's rule, the best of
the sweep and the MPI library's own; below the first two (and the library) as multiples of the best.
Debian: apt-get install python3-matplotlib.
"""
import argparse
import csv
import pathlib
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("block_size_plot.py: matplotlib is missing; on Debian: apt-get install python3-matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt


def read(paths):
    """operation → elements → rows."""
    found = {}
    for path in paths:
        with path.open() as file:
            for row in csv.DictReader(file):
                found.setdefault(row["operation"], {}).setdefault(int(row["elements"]), []).append(row)
    return found


def series(cases, of):
    """(elements, ms) wherever `of` finds a row."""
    points = [(elements, of(rows)) for elements, rows in sorted(cases.items())]
    return [(elements, float(row["median_ms"])) for elements, row in points if row]


def first(condition):
    return lambda rows: next((row for row in rows if condition(row)), None)


def best(rows):
    return min((row for row in rows if int(row["blocks"]) > 0), key=lambda row: float(row["median_ms"]))


CURVES = [
    ("MPI's own", first(lambda row: row["blocks"] == "0"), {"color": "tab:gray", "marker": "s"}),
    ("the paper's rule", first(lambda row: row["paper"] == "1"), {"color": "tab:orange", "marker": "^"}),
    ("papcoll's choice", first(lambda row: row["chosen"] == "1"), {"color": "tab:blue", "marker": "o"}),
    ("best of the sweep", best, {"color": "black", "linestyle": ":"}),
]


def plot(found, picture):
    figure, axes = plt.subplots(2, len(found), figsize=(4.2 * len(found), 6), sharex=True, squeeze=False,
                                layout="constrained", height_ratios=(3, 2))
    for column, (operation, cases) in enumerate(found.items()):
        above, below = axes[0][column], axes[1][column]
        least = dict(series(cases, best))
        for label, of, style in CURVES:
            points = series(cases, of)
            above.loglog(*zip(*points), label=label, markersize=4, **style)
            below.semilogx([e for e, _ in points], [ms / least[e] for e, ms in points], markersize=4, **style)
        ranks = next(iter(cases.values()))[0]["ranks"]
        above.set_title(f"{operation}, {ranks} ranks", fontsize=10)
        below.set_ylim(0.5, 3)
        below.set_xlabel("floats")
        for axis in (above, below):
            axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("last delay [ms]")
    axes[1][0].set_ylabel("÷ best of the sweep")
    axes[0][0].legend(fontsize=8)
    figure.savefig(picture, dpi=110)


def main():
    parser = argparse.ArgumentParser(description="Plots results of bench/block_size")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("block_size.png"))
    arguments = parser.parse_args()
    plot(read(arguments.files), arguments.output)


if __name__ == "__main__":
    main()
