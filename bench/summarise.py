#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Markdown summary of what reduce_table.sh measured: summarise.py RESULT_FOLDER

For each number of hosts and size: the balanced row, and over all patterns and magnitudes the mean and the worst
median last delay, as multiples of the link bound and of what the schedule itself needs. Beside them MPI_Reduce
with its default algorithm and with the best of its algorithms, balanced.
"""
import json
import pathlib
import re
import sys


def rows_of(path):
    return json.loads(path.read_text())["rows"]


def median(row):
    return row["last_delay_ms"]["median"]


def best_algorithm(folder, hosts, elements):
    """(milliseconds, number) of the fastest of the library's algorithms, balanced."""
    found = []
    for path in folder.glob(f"reduce-{hosts}-algorithm-*.json"):
        number = int(re.search(r"algorithm-(\d+)", path.name).group(1))
        found += [(median(r), number) for r in rows_of(path) if r["elements"] == elements and r["pattern"] == "no_delay"]
    return min(found, default=None)


def spread(values):
    return f"{sum(values) / len(values):.2f} / {max(values):.2f}" if values else "-"


def main():
    folder = pathlib.Path(sys.argv[1])
    print("| hosts | floats | policy | balanced ms | ÷ bound | patterns ÷ bound, mean / worst | ÷ needed, mean / worst |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for path in sorted(folder.glob("reduce-*.json")):
        match = re.fullmatch(r"reduce-(\d+)\.json", path.name)
        if not match:
            continue
        hosts = int(match.group(1))
        rows = rows_of(path)
        for elements in sorted({r["elements"] for r in rows}):
            best = best_algorithm(folder, hosts, elements)
            for policy in dict.fromkeys(r["policy"] for r in rows):
                mine = [r for r in rows if r["elements"] == elements and r["policy"] == policy]
                balanced = [r for r in mine if r["pattern"] == "no_delay"]
                others = [r for r in mine if r["pattern"] != "no_delay"]
                needed = [median(r) / r["needed_ms"] for r in others if r.get("needed_ms")]
                print(f"| {hosts} | {elements} | {policy} | {median(balanced[0]):.1f} | "
                      f"{median(balanced[0]) / balanced[0]['bound_ms']:.2f} | "
                      f"{spread([median(r) / r['bound_ms'] for r in others])} | {spread(needed)} |")
            if best:
                print(f"| {hosts} | {elements} | MPI_Reduce, best of its algorithms ({best[1]}) | {best[0]:.1f} | "
                      f"{best[0] / rows[0]['bound_ms'] * rows[0]['elements'] / elements:.2f} | - | - |")


main()
