#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Tests that an MPI library follows the rules of bench/tune.py in a program that knows nothing of papcoll:

    test_library_rules.py TUNE_PROGRAM open-mpi|mpich COMPILER LAUNCHER [MPICH_LIBRARY]

How often each rank combines tells which algorithm the library took (combinations.cpp).
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

TUNE, LIBRARY, COMPILER, LAUNCHER = sys.argv[1:5]
SOURCE = pathlib.Path(__file__).parent / "combinations.cpp"
SMALL, LARGE = 16, 4096  # doubles

# {operation: {doubles: (the algorithm to be chosen, what 4 ranks then combine)}}; the library decides otherwise in at least one of two.
EXPECTED = {
    "open-mpi": {"reduce": {SMALL: ("1", "3 0 0 0"), LARGE: ("5", "2 0 1 0")},           # linear, binomial
                 "all_reduce": {SMALL: ("4", "3 3 3 3"), LARGE: ("1", "3 0 0 0")}},      # ring, linear
    "mpich": {"all_reduce": {SMALL: ("smp", "2 0 1 0"), LARGE: ("recursive_doubling", "2 2 2 2")}}}[LIBRARY]
CALLS = {"reduce": "reduce", "all_reduce": "allreduce"}
ALGORITHMS = {"open-mpi": ["1", "4", "5"], "mpich": ["auto", "smp", "recursive_doubling"]}[LIBRARY]


def results(ranks):
    """Invented times, by which those algorithms are the best that are expected."""
    rows = []
    for operation, sizes in EXPECTED.items():
        for count, (best, _) in sizes.items():
            for policy in ["native", *(f"native:{a}" for a in ALGORITHMS)]:
                delay = 1.0 if policy == f"native:{best}" else 2.0
                rows += [{"operation": operation, "policy": policy, "bytes": 8 * count, "pattern": pattern, "factor": 0 if pattern == "no_delay" else 1,
                          "last_delay_ms": {"median": delay}} for pattern in ("no_delay", "ascending")]
    return {"ranks": ranks, "rows": rows}


def environment_of(rules):
    if LIBRARY == "open-mpi":
        return {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", "OMPI_MCA_coll_tuned_dynamic_rules_filename": str(rules)}
    return {"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": str(rules), "MPIR_CVAR_ALLREDUCE_DEVICE_COLLECTIVE": "0"}


def tuned(folder, ranks):
    result, rules = folder / "result.json", folder / f"rules-{ranks}"
    result.write_text(json.dumps(results(ranks)))
    subprocess.run([sys.executable, TUNE, result, "-o", rules, "--for", LIBRARY, *(["--default", sys.argv[5]] if LIBRARY == "mpich" else [])], check=True)
    return environment_of(rules)


def run(program, told):
    done = subprocess.run([LAUNCHER, "-n", "4", program, str(SMALL), str(LARGE)], env=os.environ | told, check=True, capture_output=True, text=True, timeout=60)
    return done.stdout.splitlines()


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    program = folder / "combinations"
    subprocess.run([COMPILER, "-std=c++17", "-O1", SOURCE, "-o", program], check=True)
    without, following = run(program, {}), run(program, tuned(folder, 4))
    for operation, sizes in EXPECTED.items():
        lines = {count: f"{CALLS[operation]} {count} {combined}" for count, (_, combined) in sizes.items()}
        for line in lines.values():
            assert line in following, (line, following)
        assert any(line not in without for line in lines.values()), without
    # Rules of 16 ranks are none for communicators of less than 8: there the library decides.
    far = run(program, tuned(folder, 16))
    if LIBRARY == "open-mpi":
        assert far == without, (far, without)
    else:
        assert f"allreduce {SMALL} 2 2 2 2" in far and far != following, far
print("ok")
