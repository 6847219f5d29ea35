#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Plots what bench/reduce_mini wrote with --json, in the form of figures 10 and 11 of the paper on Clairvoyant.

    reduce_mini_plot.py RESULT.json [RESULT.json ...] -o FOLDER

For each operation, number of ranks and size with several maximal delays: reduce_mini-delays-….png, the mean metric
over the delay (figure 10). For each operation, size and delay with several numbers of ranks: reduce_mini-ranks-….png
(figure 11). Bars are one standard deviation of the iterations. Rows of equal conditions in several files: the last.
Debian: apt-get install python3-matplotlib, and call it as /usr/bin/python3 if another Python comes first.
"""
import argparse
import json
import pathlib
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("matplotlib is missing for " + sys.executable + "; on Debian: apt-get install python3-matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt

METRICS = {"run_time_ms": "run time", "last_delay_ms": "last delay", "mean_elapsed_ms": "mean elapsed time"}
MARKERS = "osv^D<>PX*hp"


def read(files):
    """{(operation, elements, algorithm, ranks, delay): row}, and the conditions of the last file."""
    rows, document = {}, {}
    for path in files:
        try:
            document = json.loads(path.read_text())
            for row in document["rows"]:
                key = (document["operation"], row["elements"], row["algorithm"], document["ranks"], row["delay_ms"])
                rows[key] = row
        except (OSError, ValueError, KeyError, TypeError) as error:
            sys.exit(f"{path}: no result of reduce_mini: {error!r}")
    return rows, document


def plot(title, label, metric, lines, file):
    """lines: {algorithm: [(x, row), ...]}"""
    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    axes.set_prop_cycle(color=plt.get_cmap("tab10" if len(lines) <= 10 else "tab20").colors)
    for (algorithm, points), marker in zip(lines.items(), MARKERS * len(lines)):
        points.sort(key=lambda point: point[0])
        axes.errorbar(
            [x for x, _ in points],
            [row[metric]["mean"] for _, row in points],
            [row[metric]["deviation"] for _, row in points],
            label=algorithm, marker=marker, markersize=4, linewidth=1, capsize=2,
        )
    axes.set(xlabel=label, ylabel=f"{METRICS[metric]}, mean ± σ [ms]", ylim=(0, None))
    axes.set_title(title, fontsize=10)
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.01, 1))
    axes.grid(alpha=0.3)
    figure.savefig(file, dpi=110)
    plt.close(figure)
    print(file)


def groups(rows, fixed, moving):
    """Rows that differ in column `moving` alone and in the algorithm, where there are several such values."""
    found = {}
    for key, row in rows.items():
        group = found.setdefault(tuple(key[i] for i in fixed), {})
        group.setdefault(key[2], []).append((key[moving], row))
    return {k: g for k, g in found.items() if len({x for points in g.values() for x, _ in points}) > 1}


def main():
    parser = argparse.ArgumentParser(description="Plots results of bench/reduce_mini")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--metric", choices=METRICS, default="run_time_ms")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    rows, document = read(arguments.files)
    where = f"{document.get('rate') or 'local'} links, {document.get('mpi', '')}"
    for (operation, elements, ranks), lines in groups(rows, (0, 1, 3), 4).items():
        plot(f"{operation} of {elements} floats, {ranks} ranks, {where}", "maximal delay [ms]", arguments.metric, lines,
             arguments.output / f"reduce_mini-delays-{operation}-{elements}-{ranks}.png")
    for (operation, elements, delay), lines in groups(rows, (0, 1, 4), 3).items():
        plot(f"{operation} of {elements} floats, delays up to {delay:g} ms, {where}", "ranks", arguments.metric, lines,
             arguments.output / f"reduce_mini-ranks-{operation}-{elements}-{delay:g}ms.png")


if __name__ == "__main__":
    main()
