#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Plots what bench/collectives wrote with --json.

    plot.py RESULT.json [RESULT.json ...] -o FOLDER

For each file, operation and size, one figure NAME-OPERATION-ELEMENTS.png: the last delay of every policy, pattern
by pattern, median with a bar from the least to the most, beside the link bound where it is known.
Debian: apt-get install python3-matplotlib, and call it as /usr/bin/python3 plot.py if another Python comes first.
"""
import argparse
import json
import pathlib
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("plot.py: matplotlib is missing for " + sys.executable + "; on Debian: apt-get install python3-matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt

METRICS = {
    "last_delay_ms": "last delay [ms]",
    "run_time_ms": "run time [ms]",
    "mean_elapsed_ms": "mean elapsed time [ms]",
}


def unique(values):
    return list(dict.fromkeys(values))


def label(case):
    pattern, factor = case
    return pattern if factor == 0 else f"{pattern} × {factor:g}"


def plot(document, rows, metric, file):
    cases = unique((row["pattern"], row["factor"]) for row in rows)
    policies = unique(row["policy"] for row in rows)
    height = 0.8 / len(policies)
    figure, axes = plt.subplots(figsize=(10, 1.6 + 0.32 * len(cases)), layout="constrained")
    for number, policy in enumerate(policies):
        mine = {(row["pattern"], row["factor"]): row[metric] for row in rows if row["policy"] == policy}
        at = [position + (number - (len(policies) - 1) / 2) * height for position in range(len(cases))]
        medians = [mine[case]["median"] for case in cases]
        below = [mine[case]["median"] - mine[case]["min"] for case in cases]
        above = [mine[case]["max"] - mine[case]["median"] for case in cases]
        axes.barh(at, medians, height, xerr=(below, above), label=policy, error_kw={"linewidth": 0.8})
    bound = rows[0].get("bound_ms")
    if bound and metric == "last_delay_ms":
        axes.axvline(bound, color="black", linestyle="--", linewidth=1, label=f"link bound, {bound:.0f} ms")
    axes.set_yticks(range(len(cases)), [label(case) for case in cases])
    axes.invert_yaxis()
    axes.set_xlabel(METRICS[metric])
    axes.set_title(
        f"{rows[0]['operation']} of {rows[0]['elements']} floats, {document['ranks']} ranks, "
        f"{document['rate'] or 'local'}, {document['mpi']}, {document['repetitions']} repetitions",
        fontsize=10,
    )
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.01, 1))
    axes.grid(axis="x", alpha=0.3)
    figure.savefig(file, dpi=130)
    plt.close(figure)
    print(file)


def main():
    parser = argparse.ArgumentParser(description="Plots results of bench/collectives")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--metric", choices=METRICS, default="last_delay_ms")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    for path in arguments.files:
        try:
            document = json.loads(path.read_text())
            rows = document["rows"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            sys.exit(f"plot.py: {path} is no result of bench/collectives: {error!r}")
        for group in unique((row["operation"], row["elements"]) for row in rows):
            chosen = [row for row in rows if (row["operation"], row["elements"]) == group]
            plot(document, chosen, arguments.metric, arguments.output / f"{path.stem}-{group[0]}-{group[1]}.png")


if __name__ == "__main__":
    main()
