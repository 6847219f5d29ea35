#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Counts, by callgrind, the instructions of a repeated all-reduce of 8 bytes on one rank.

    instructions.py <program>

Exit code 77: there is no valgrind.
"""
import os
import re
import shutil
import subprocess
import sys

MOST = 470


def instructions(program, calls, whose):
    made = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}", program, str(calls), whose],
                          capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", made.stderr).group(1))


def per_call(program, whose):
    few, many = 100, 40100 # the first calls make plans; starting MPI takes now more, now fewer
    return (instructions(program, many, whose) - instructions(program, few, whose)) / (many - few)


def main():
    if shutil.which("valgrind") is None:
        print("there is no valgrind here: skipped")
        return 77
    ours = per_call(sys.argv[1], "papcoll")
    print(f"{ours:.0f} instructions per call, at most {MOST}; MPI_Allreduce: {per_call(sys.argv[1], 'mpi'):.0f}")
    return int(ours > MOST)


if __name__ == "__main__":
    sys.exit(main())
