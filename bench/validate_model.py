#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Summarises what validate_model printed, in Markdown: validate_model.py FILE..."""
import collections
import statistics
import sys

rows = []
for path in sys.argv[1:]:
    with open(path) as lines:
        rows += [line.strip().split(",") for line in lines if line.count(",") == 8 and not line.startswith("#")]
errors = collections.defaultdict(list)
for row in rows:
    error = abs(float(row[8]))
    for key in ("all", row[2] + " floats", row[0] + ", " + row[1], row[3]):
        errors[key].append(error)
print("| cases | number | median error | largest |\n|---|---|---|---|")
for key, values in errors.items():
    print(f"| {key} | {len(values)} | {statistics.median(values):.1%} | {max(values):.1%} |")
print("\n| operation | policy | floats | pattern | predicted, ms | measured, ms | least–most | error |")
print("|---|---|---|---|---|---|---|---|")
for row in rows:
    print(f"| {row[0]} | {row[1]} | {row[2]} | {row[3]} | {float(row[4]):.1f} | {float(row[5]):.1f} | "
          f"{float(row[6]):.1f}–{float(row[7]):.1f} | {float(row[8]):+.1%} |")
