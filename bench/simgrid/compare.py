#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Markdown of what run.sh measured: compare.py RESULT_FOLDER [POLICY]

A cell is operation × bytes × pattern × magnitude. In each the last delay of POLICY (circulant) is compared with the
least of the algorithms of SMPI that were measured. First a line for each operation and size, then the losing cells.
"""
import json
import math
import pathlib
import sys


def delay(row):
    return row["last_delay_ms"]["median"]


def cells(folder):
    found = {}
    for path in sorted(folder.glob("*.json")):
        for row in json.loads(path.read_text())["rows"]:
            key = (row["operation"], row["bytes"], row["pattern"], row["factor"])
            found.setdefault(key, {})[row["policy"]] = delay(row)
    return found


def compared(found, policy):
    """key -> (ours, the best algorithm of SMPI, its delay)"""
    result = {}
    for key, delays in found.items():
        theirs = {name: value for name, value in delays.items() if name.startswith("native")}
        best = min(theirs, key=theirs.get)
        result[key] = (delays[policy], best.removeprefix("native:"), theirs[best])
    return result


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def line(name, chosen):
    ratios = [theirs / ours for ours, _, theirs in chosen]
    good = sum(ratio >= 0.999 for ratio in ratios)  # simulated times repeat to the digit, not sums of them
    print(f"| {name} | {len(ratios)} | {good} ({100 * good / len(ratios):.0f} %) | {mean(ratios):.2f} | {min(ratios):.2f} | {max(ratios):.2f} |")


def main():
    folder = pathlib.Path(sys.argv[1])
    policy = sys.argv[2] if len(sys.argv) > 2 else "circulant"
    found = {key: value for key, value in cells(folder).items() if policy in value}
    all_cells = compared(found, policy)
    print(f"Best of SMPI's last delay ÷ that of {policy}:\n")
    print("| operation, bytes | cells | not worse | geometric mean | least | most |")
    print("| --- | --- | --- | --- | --- | --- |")
    for operation, size in dict.fromkeys(key[:2] for key in all_cells):
        line(f"{operation}, {size}", [v for k, v in all_cells.items() if k[:2] == (operation, size)])
    for operation in dict.fromkeys(key[0] for key in all_cells):
        line(f"{operation}, all", [v for k, v in all_cells.items() if k[0] == operation])
    line("all", list(all_cells.values()))
    print("\nLosing cells (last delays in µs):\n")
    print("| operation | bytes | pattern | × | ours | best of SMPI | algorithm |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for key, (ours, best, theirs) in all_cells.items():
        if theirs / ours < 0.999:
            print(f"| {key[0]} | {key[1]} | {key[2]} | {key[3]} | {1000 * ours:.1f} | {1000 * theirs:.1f} | {best} |")


if __name__ == "__main__":
    main()
