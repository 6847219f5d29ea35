#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Draws what bench/compare_schedules measured and writes a summary.

    compare_schedules > some.csv
    compare_schedules.py <prefix of the output> some.csv [<csv> ...]

Writes <prefix>-<operation>.png, heat maps of last delay / bound with one panel per number of ranks, and
<prefix>.md, in which each scheduler has one line per operation and number of ranks.
"""
import csv
import math
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.colors import LogNorm

NO_DELAY = "no_delay"


def read(paths):
    rows = []
    settings = []
    for path in paths:
        with open(path, newline="", encoding="utf-8") as file:
            lines = file.readlines()
        settings += [line[1:].strip() for line in lines if line.startswith("#")]
        for row in csv.DictReader(line for line in lines if not line.startswith("#")):
            rows.append({
                "operation": row["operation"],
                "ranks": int(row["ranks"]),
                "bytes": int(row["bytes"]),
                "column": (row["pattern"], float(row["magnitude"])),
                "scheduler": row["scheduler"],
                "blocks": int(row["blocks"]),
                "ratio": float(row["ratio"]),
                "elapsed": float(row["mean_elapsed_ns"]),
                "bound": float(row["bound_ns"]),
            })
    return rows, sorted(set(settings))


def unique(values):
    return list(dict.fromkeys(values))


def panels(rows):
    """Yields (ranks, schedulers, columns, ratio by scheduler and column) for the rows of one operation."""
    for ranks in unique(row["ranks"] for row in rows):
        some = [row for row in rows if row["ranks"] == ranks]
        ratios = {(row["scheduler"], row["column"]): row["ratio"] for row in some}
        yield ranks, unique(row["scheduler"] for row in some), unique(row["column"] for row in some), ratios


def column_label(column):
    pattern, magnitude = column
    return pattern if pattern == NO_DELAY else f"{pattern} {magnitude:g}"


def short(ratio):
    return f"{ratio:.2f}" if ratio < 9.95 else f"{ratio:.0f}"


def draw(operation, rows, path):
    all_panels = list(panels(rows))
    heights = [len(schedulers) for _, schedulers, _, _ in all_panels]
    width = 3.2 + 0.46 * max(len(columns) for _, _, columns, _ in all_panels)
    figure, axes = plt.subplots(len(all_panels), 1, sharex=True, squeeze=False, layout="constrained",
                                figsize=(width, 2.4 + 0.36 * sum(heights) + 0.5 * len(heights)),
                                gridspec_kw={"height_ratios": heights})
    worst = max(max(row["ratio"] for row in rows), 2)
    norm = LogNorm(1, worst)
    for axis, (ranks, schedulers, columns, ratios) in zip(axes[:, 0], all_panels):
        table = [[ratios.get((s, c), math.nan) for c in columns] for s in schedulers]
        image = axis.imshow(table, norm=norm, cmap="viridis_r", aspect="auto")
        axis.set_yticks(range(len(schedulers)), schedulers, fontsize=8)
        axis.set_title(f"{ranks} ranks", fontsize=9, loc="left")
        axis.set_xticks(range(len(columns)), [column_label(c) for c in columns], rotation=60, ha="right",
                        rotation_mode="anchor", fontsize=8)
        for x in range(len(columns)):
            best = min(line[x] for line in table)
            for y, line in enumerate(table):
                dark = norm(line[x]) > 0.55
                wins = line[x] <= 1.005 * best
                axis.text(x, y, short(line[x]), ha="center", va="center", fontsize=6.5,
                          color="white" if dark else "black", fontweight="bold" if wins else "normal")
                if wins:
                    axis.add_patch(plt.Rectangle((x - 0.47, y - 0.46), 0.94, 0.92, fill=False, lw=1.2,
                                                 edgecolor="#d62728"))
    bar = figure.colorbar(image, ax=list(axes[:, 0]), pad=0.01, aspect=40)
    bar.set_label("last delay ÷ bound (framed: the best of its column)", fontsize=8)
    ticks = [t for t in (1, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500) if t <= worst]
    bar.set_ticks(ticks, labels=[f"{t:g}" for t in ticks], fontsize=8)
    bar.minorticks_off()
    figure.suptitle(f"{operation}: {rows[0]['bytes'] // 1024} KiB"
                    f"{' of each rank' if operation == 'all_gather' else ''}, in the model; "
                    "pattern and magnitude", fontsize=10)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def summary(rows):
    """A line per scheduler: ratios when all arrive together, on average and at worst, and columns won."""
    yield "| operation | ranks | scheduler | blocks | together | mean | worst | best in | mean elapsed ÷ bound |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for operation in unique(row["operation"] for row in rows):
        of_operation = [row for row in rows if row["operation"] == operation]
        for ranks, schedulers, columns, ratios in panels(of_operation):
            best = {c: min(ratios[s, c] for s in schedulers) for c in columns}
            for s in schedulers:
                own = [ratios[s, c] for c in columns]
                wins = sum(ratios[s, c] <= 1.005 * best[c] for c in columns)
                some = [r for r in of_operation if r["ranks"] == ranks and r["scheduler"] == s]
                elapsed = sum(r["elapsed"] / r["bound"] for r in some) / len(some)
                together = ratios[s, (NO_DELAY, 0.0)]
                yield (f"| {operation} | {ranks} | {s} | {some[0]['blocks']} | {together:.2f} | "
                       f"{sum(own) / len(own):.2f} | {max(own):.2f} | {wins} of {len(own)} | {elapsed:.2f} |")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    prefix = sys.argv[1]
    rows, settings = read(sys.argv[2:])
    for operation in unique(row["operation"] for row in rows):
        draw(operation, [r for r in rows if r["operation"] == operation], f"{prefix}-{operation}.png")
    with open(f"{prefix}.md", "w", encoding="utf-8") as file:
        file.write("# All schedulers under all arrival patterns, in the model\n\n"
                   "Last delay as a multiple of a bound that no algorithm can beat (its terms are in\n"
                   "bench/compare_schedules.cpp); `best in` counts the columns of the heat map in which no other\n"
                   "is more than 0.5 % faster. These are predictions of `simulate`, not measurements. A magnitude of 1\n"
                   "is the time to send all that a late rank has, or misses.\n\n")
        file.write("\n".join(settings) + "\n")
        file.write("\n" + "\n".join(summary(rows)) + "\n")


if __name__ == "__main__":
    main()
