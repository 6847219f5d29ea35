#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Tables in the form of tables 3 and 4 of Proficz, All-gather algorithms resilient to imbalanced process
arrival patterns (2021), from outputs of all_gather_mini: rows are delays, columns sizes of a rank's part, and
a cell names the algorithm with the least mean elapsed time, with its factor over the best regular one, in
brackets the factor that the model expects of it.

    all_gather_tables.py OUTPUT ... [--plot PICTURE]     the same sizes and delays of later files win
"""
import argparse
import re

REGULAR = ("NEX", "LNBC", "RING")
PAPER = ("BSLB", "BDR")
OURS = PAPER + ("BCIRC",)
COLOURS = {name: f"C{i}" for i, name in enumerate(REGULAR + OURS)}


def read(files):
    """{(ranks, pattern): {(KiB of a part, delay in tau): {algorithm: row}}}"""
    runs = {}
    for name in files:
        with open(name, encoding="utf-8") as text:
            for line in text:
                if head := re.match(r"# .*?, (\d+) ranks, .*iterations, ([^,]+),", line):
                    cases = runs.setdefault((int(head[1]), head[2]), {})
                elif size := re.match(r"\d+ K floats, parts of (\d+) KiB .* = ([\d.]+) tau", line):
                    cell = cases.setdefault((int(size[1]), float(size[2])), {})
                elif row := re.match(r"(\w+)((?: +[\d.]+){7})$", line.rstrip()):
                    keys = ("elapsed", "mean", "deviation", "model", "run", "last", "last_in_tau")
                    cell[row[1]] = dict(zip(keys, map(float, row[2].split())))
    return runs


def least(cell, names, key):
    found = [(cell[n][key], n) for n in names if n in cell and cell[n][key] > 0]
    return min(found) if found else (0, "-")


def factor(cell, name, key):
    regular, own = least(cell, REGULAR, key)[0], cell[name][key]
    return regular / own if regular and own else 0


def winner(cell, aware):
    name = least(cell, REGULAR + aware, "elapsed")[1]
    if name in REGULAR or name == "-":
        return name
    return f"{name} {factor(cell, name, 'elapsed'):.2f} ({factor(cell, name, 'model'):.2f})"


def single(cell, name):
    if name not in cell:
        return ""
    return f"{factor(cell, name, 'elapsed'):.2f} ({factor(cell, name, 'model'):.2f})"


def table(title, cases, text):
    sizes = sorted({size for size, _ in cases})
    print(f"{title}\n\n| delay | " + " | ".join(f"{s} KiB" for s in sizes) + " |")
    print("|---|" + "---|" * len(sizes))
    for delay in sorted({delay for _, delay in cases}):
        cells = (text(cases[s, delay]) if (s, delay) in cases else "" for s in sizes)
        print(f"| {delay:g} τ | " + " | ".join(cells) + " |")
    print()


def plot(runs, picture):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    panels = [(run, size) for run in sorted(runs) for size in sorted({s for s, _ in runs[run]})]
    figure, axes = pyplot.subplots(2, len(panels), figsize=(3.4 * len(panels), 6), squeeze=False)
    for column, (run, size) in enumerate(panels):
        cases = {d: cell for (s, d), cell in sorted(runs[run].items()) if s == size}
        for row, key in enumerate(("elapsed", "run")):
            panel = axes[row][column]
            for name in REGULAR + OURS:
                points = [(d, cell[name][key]) for d, cell in cases.items() if name in cell]
                if points:
                    panel.plot(*zip(*points), marker="o", markersize=3, label=name, color=COLOURS[name])
            panel.set_ylim(bottom=0)
            panel.set_xlabel("delays up to, in τ")
            panel.set_ylabel({"elapsed": "mean elapsed [ms]", "run": "run time [ms]"}[key])
        axes[0][column].set_title(f"{run[0]} hosts, {size} KiB,\n{run[1]}", fontsize=9)
        axes[0][column].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(picture, dpi=90)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("outputs", nargs="+")
    parser.add_argument("--plot", help="elapsed and run time over the delays, as its figures 6 to 10")
    given = parser.parse_args()
    runs = read(given.outputs)
    for (ranks, pattern), cases in sorted(runs.items()):
        print(f"### {ranks} hosts, {pattern}\n")
        table("The paper's five:", cases, lambda cell: winner(cell, PAPER))
        table("With background_circulant:", cases, lambda cell: winner(cell, OURS))
        for name in OURS:
            if any(name in cell for cell in cases.values()):
                table(f"{name}:", cases, lambda cell, name=name: single(cell, name))
    if given.plot:
        plot(runs, given.plot)


if __name__ == "__main__":
    main()
