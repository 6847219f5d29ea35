#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Counts, by callgrind, the instructions of repeated calls with 8 bytes: on one rank, or on several ranks of one
node, there without those of waiting.

    instructions.py <program> [<launcher> ...]

Exit code 77: there is no valgrind.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MOST_ALONE = {"all_reduce": 300, "observed": 800, "in_turn": 8 * 350, "new_vector": 2200, "with_vector": 2200 + 8 * 350,
              "many_in_turn": 19 * 800}
MOST_OF_TWO = {"all_reduce": 400, "all_gather": 415, "barrier": 350, "in_turn": 8 * 450}
CALLS = 2000
ALL = re.compile(r"make_calls<")
WAITING = re.compile(r":papcoll::v0::detail::short_run<[^(]*>::wait_\w+\(")


def counted(file, functions):
    """The instructions of these functions and of all that they call."""
    lines = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", str(file)], capture_output=True,
                           text=True, check=True).stdout.splitlines()
    costs = [re.match(r"\s*([\d,]+) ", line) for line in lines if functions.search(line)]
    return sum(int(cost[1].replace(",", "")) for cost in costs if cost)


def per_call(launcher, program, what):
    """The most of any rank."""
    with tempfile.TemporaryDirectory() as place:
        tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={place}/%p", "--toggle-collect=*make_calls*"]
        subprocess.run(launcher + tool + [program, str(CALLS), what], capture_output=True, check=True)
        return max(counted(f, ALL) - counted(f, WAITING) for f in pathlib.Path(place).iterdir()) / CALLS


def main():
    if shutil.which("valgrind") is None or shutil.which("callgrind_annotate") is None:
        print("there is no valgrind here: skipped")
        return 77
    program, launcher = sys.argv[1], sys.argv[2:]
    too_many = False
    for what, most in (MOST_OF_TWO if launcher else MOST_ALONE).items():
        count = per_call(launcher, program, what)
        for _ in range(2): # which rank finds the other's value there, and which waits, varies a little
            if count > most:
                count = min(count, per_call(launcher, program, what))
        too_many = too_many or count > most or count == 0
        print(f"{what}: {count:.1f} instructions per call, at most {most}")
    if not launcher:
        print(f"MPI_Allreduce: {per_call([], program, 'mpi'):.1f}")
    return int(too_many)


if __name__ == "__main__":
    sys.exit(main())
