#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Tests bench/pattern_study.py on invented times: test_pattern_study.py PATTERN_STUDY_PROGRAM

Called with other arguments, as by the study, it is the benchmark whose times are invented.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

# On a few cores algorithms forced inside the MPI library can be many times as fast as all that a table can name.
SLOW = {"native": 0.04, "inative": 0.4}
PATTERNS = ["ascending", "last_delayed"]


def row(policy, pattern, operation):
    median = SLOW.get(policy, 0.02 if ":" in policy else 0.5)
    times = {"median": median, "min": median, "max": median}
    return {"operation": operation, "policy": policy, "elements": 4096, "bytes": 16384, "pattern": pattern,
            "factor": 0 if pattern == "no_delay" else 1, "last_delay_ms": times, "run_time_ms": times}


def benchmark():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--operation")
    parser.add_argument("--policies")
    parser.add_argument("--patterns", default="no_delay")
    options, _ = parser.parse_known_args()
    rows = [row(policy, pattern, options.operation) for pattern in options.patterns.split(",")
            for policy in options.policies.split(",")]
    options.json.write_text(json.dumps({"ranks": 4, "rows": rows}))


def study(program, folder, *arguments):
    command = [sys.executable, program, __file__, folder, "--quick", "--no-pictures", "--operations", "reduce", *arguments]
    return subprocess.run([*command, "--", sys.executable], capture_output=True, text=True)


def test(program):
    with tempfile.TemporaryDirectory() as folder:
        done = study(program, folder)
        assert done.returncode == 0, done.stderr
        assert "\n| reduce | 4096 | native |" in done.stdout, done.stdout
        choices = json.loads((pathlib.Path(folder) / "tuning.json").read_text())["choices"]
        assert [choice["policy"] for choice in choices] == ["native"]
        assert choices[0]["evidence"]["patterns"] == 1 + len(PATTERNS)

        # Slow algorithms are measured without delays alone, the library's own routines under all patterns.
        delays = (pathlib.Path(folder) / "delays.csv").read_text().splitlines()
        assert len([line for line in delays if ",circulant," in line]) == 1, delays
        assert len([line for line in delays if ",inative," in line]) == 1 + len(PATTERNS), delays

        # With a large --slow all are measured under all patterns.
        done = study(program, folder, "--fresh", "--slow", "100")
        assert done.returncode == 0, done.stderr
        delays = (pathlib.Path(folder) / "delays.csv").read_text().splitlines()
        assert len([line for line in delays if ",circulant," in line]) == 1 + len(PATTERNS), delays


if "--json" in sys.argv:
    benchmark()
else:
    test(sys.argv[1])
