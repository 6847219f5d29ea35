#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Tests bench/simgrid/selection.py on 2 hosts of 2 ranks: test_selection.py SELECTION_PROGRAM"""
import pathlib
import subprocess
import sys
import tempfile


def selection(*arguments):
    return subprocess.run([sys.executable, sys.argv[1], *map(str, arguments)], check=True, capture_output=True, text=True)


with tempfile.TemporaryDirectory() as folder:
    results = pathlib.Path(folder) / "results.csv"
    run = ("run", results, "--hosts", 2, "--per-host", 2, "--operations", "reduce", "--sizes", "8", "--limit", 20)
    selection(*run)
    rows = {(r[2], r[3]): [float(t) if t else None for t in r[4:]] for r in (line.split(",") for line in results.read_text().splitlines()[1:])}
    linear, chain = rows["ompi_basic_linear", "own"], rows["ompi_chain", "own"]
    # Columns: the skew, no_delay, ascending, descending, random, first_delayed, last_delayed, ...
    assert linear[0] == linear[1] == rows["ompi_basic_linear", "none"][1], rows
    mean = rows["ompi_basic_linear", "mean1"][0]
    assert abs(rows["ompi_basic_linear", "mean1.5"][0] - 1.5 * mean) < 1e-3, rows
    times = [row[1] for (_, skew), row in rows.items() if skew == "none" and row[1] is not None]
    assert abs(mean - sum(times) / len(times)) < 1e-2, (mean, times)
    # In a chain to rank 0 all but the last hop is over when rank 0 comes, and nothing is when the last rank does.
    assert chain[5] < 0.8 * chain[1], chain
    before = results.read_text()
    selection(*run)
    assert results.read_text() == before  # goes on where it was stopped: here at the end
    table = selection("tables", results).stdout
    assert "| no_delay | " in table and "reduce, 8 B: of " in table, table
print("ok")
