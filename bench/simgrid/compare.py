#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Markdown of what run.sh measured: compare.py RESULT_FOLDER [POLICY]

A cell is operation × bytes × pattern × magnitude. In each the last delay of POLICY is compared with the least of the
algorithms of SMPI that were measured. Without POLICY it is the robust choice of papcoll's policies for each operation
and size: the one whose last delay ÷ the least of papcoll's is lowest in the mean over the patterns. First a line for
each operation and size, then the losing cells.
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


def is_native(name):
    return name.startswith("native")


def robust_choices(found):
    """(operation, bytes) -> the policy of least mean of delay ÷ best delay"""
    ratios = {}
    for key, delays in found.items():
        ours = {name: value for name, value in delays.items() if not is_native(name)}
        for name, value in ours.items():
            ratios.setdefault(key[:2], {}).setdefault(name, []).append(value / min(ours.values()))
    return {key: min(names, key=lambda name: sum(names[name]) / len(names[name])) for key, names in ratios.items()}


def compared(found, policies):
    """key -> (ours, the best algorithm of SMPI, its delay); `policies` by operation and bytes"""
    result = {}
    for key, delays in found.items():
        theirs = {name: value for name, value in delays.items() if is_native(name)}
        best = min(theirs, key=theirs.get)
        result[key] = (delays[policies[key[:2]]], best.removeprefix("native:"), theirs[best])
    return result


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def line(name, chosen):
    ratios = [theirs / ours for ours, _, theirs in chosen]
    good = sum(ratio >= 0.999 for ratio in ratios)  # simulated times repeat to the digit, not sums of them
    print(f"| {name} | {len(ratios)} | {good} ({100 * good / len(ratios):.0f} %) | {mean(ratios):.2f} | {min(ratios):.2f} | {max(ratios):.2f} |")


def main():
    folder = pathlib.Path(sys.argv[1])
    found = cells(folder)
    if len(sys.argv) > 2:
        found = {key: value for key, value in found.items() if sys.argv[2] in value}
        policies = {key[:2]: sys.argv[2] for key in found}
    else:
        policies = robust_choices(found)
    if not found:
        sys.exit(f"{sys.argv[0]}: no results in {folder}")
    all_cells = compared(found, policies)
    print(f"Best of SMPI's last delay ÷ that of {sys.argv[2] if len(sys.argv) > 2 else 'the robust choice'}:\n")
    print("| operation, bytes: policy | cells | not worse | geometric mean | least | most |")
    print("| --- | --- | --- | --- | --- | --- |")
    for operation, size in dict.fromkeys(key[:2] for key in all_cells):
        line(f"{operation}, {size}: {policies[operation, size]}", [v for k, v in all_cells.items() if k[:2] == (operation, size)])
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
