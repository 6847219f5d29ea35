#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Markdown tables of what collective_tables.sh measured: summarise.py RESULT_FOLDER/parts

All times are medians of the last delay in ms, with the multiple of the link bound. First the balanced rows:
the MPI library's default, the fastest of its algorithms with its number, circulant, and how many times
circulant is faster than the faster one of the two. Then circulant at the largest size, one row for each cluster. Then reduce under
patterns: mean and worst median over all patterns and magnitudes.
"""
import json
import pathlib
import re
import sys

NAME = re.compile(r"(?P<hosts>\d+)x(?P<per_host>\d+)-(?P<operation>\w+)-[\d,]+-(?P<variant>.+)\.json")
OPERATIONS = ["broadcast", "reduce", "all_reduce", "all_gather", "all_gatherv_one", "all_gatherv_mod3",
              "reduce_scatter", "reduce_scatter_mod3"]


def read(folder):
    """All rows, each with its cluster and variant."""
    rows = []
    for path in sorted(folder.glob("*.json")):
        match = NAME.fullmatch(path.name)
        if match:
            cluster = (int(match["hosts"]), int(match["per_host"]))
            rows += [row | {"cluster": cluster, "variant": match["variant"]} for row in json.loads(path.read_text())["rows"]]
    return rows


def median(row):
    return row["last_delay_ms"]["median"]


def order(key):
    cluster, operation, elements = key
    hosts, per_host = cluster
    return (per_host, hosts % 8 != 0, hosts, OPERATIONS.index(operation), elements)


def groups(rows):
    found = {}
    for row in rows:
        found.setdefault((row["cluster"], row["operation"], row["elements"]), []).append(row)
    return [(key, found[key]) for key in sorted(found, key=order)]


def time(row):
    if row is None:
        return "-"
    bound = row.get("bound_ms")
    digits = 3 if median(row) < 2 else 1
    return f"{median(row):.{digits}f}" + (f" ({median(row) / bound:.2f})" if bound and row["elements"] > 1024 else "")


def balanced_table(rows):
    print("| ranks | operation | floats | default | best of its algorithms | circulant | times faster |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for ((hosts, per_host), operation, elements), mine in groups(rows):
        def of(policy, *variants):
            return [r for r in mine if r["policy"] == policy and r["variant"].startswith(variants)]
        default = next(iter(of("native", "default", "small")), None)
        circulant = next(iter(of("circulant", "default", "small")), None)
        best = min(of("native", "algorithm"), key=median, default=None)
        number = best["variant"].removeprefix("algorithm-") if best else ""
        native = min((median(r) for r in (default, best) if r), default=0)
        faster = f"{native / median(circulant):.2f}" if circulant and native else "-"
        print(f"| {hosts if per_host == 1 else f'{hosts} × {per_host}'} | {operation} | {elements} | {time(default)} | "
              f"{time(best)}{', no. ' + number if best else ''} | {time(circulant)} | {faster} |")


def cluster_table(rows):
    """Circulant ÷ link bound (times faster than the default), at the largest size."""
    largest = max(row["elements"] for row in rows)
    cells = {}
    for (cluster, operation, elements), mine in groups([r for r in rows if r["variant"] == "default"]):
        time_of = {r["policy"]: median(r) for r in mine}
        if elements == largest and "circulant" in time_of:
            faster = f" ({time_of['native'] / time_of['circulant']:.1f})" if "native" in time_of else ""
            cells.setdefault(cluster, {})[operation] = f"{time_of['circulant'] / mine[0]['bound_ms']:.2f}{faster}"
    if not cells:
        return
    print(f"\n| ranks, {largest} floats | " + " | ".join(OPERATIONS) + " |")
    print("| --- " * (len(OPERATIONS) + 1) + "|")
    for (hosts, per_host), found in cells.items():
        print(f"| {hosts if per_host == 1 else f'{hosts} × {per_host}'} | "
              + " | ".join(found.get(operation, "-") for operation in OPERATIONS) + " |")


def pattern_table(rows):
    print("| ranks | floats | policy | ÷ bound, mean | worst | where |")
    print("| --- | --- | --- | --- | --- | --- |")
    for ((hosts, _), _, elements), mine in groups(rows):
        for policy in dict.fromkeys(r["policy"] for r in mine):
            ratios = [(median(r) / r["bound_ms"], f"{r['pattern']} × {r['factor']:g}") for r in mine if r["policy"] == policy]
            worst, where = max(ratios)
            print(f"| {hosts} | {elements} | {policy} | {sum(r for r, _ in ratios) / len(ratios):.2f} | {worst:.2f} | {where} |")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: summarise.py RESULT_FOLDER/parts")
    rows = read(pathlib.Path(sys.argv[1]))
    if not rows:
        sys.exit(f"summarise.py: no results of collective_tables.sh in {sys.argv[1]}")
    balanced = [r for r in rows if r["pattern"] == "no_delay" and not r["variant"].startswith("pattern")]
    balanced_table(balanced)
    cluster_table(balanced)
    delayed = [r for r in rows if r["pattern"] != "no_delay"]
    if delayed:
        print()
        pattern_table(delayed)


if __name__ == "__main__":
    main()
