#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Runs a program of which a rank is killed: mpirun must fail soon, and leave no process and no memory behind.

    run_killed.py PROGRAM CALL -- MPIRUN ...

MPIRUN ... is the command that takes a program and its arguments.
"""
import pathlib
import subprocess
import sys
import time

SOON = 60  # seconds; a machine that has other things to do
SHARED = pathlib.Path("/dev/shm")
OURS = "papcoll"


def check(condition, *message):
    if not condition:
        raise AssertionError(" ".join(str(part) for part in message))


def until(condition, seconds):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.1)
    return condition()


def ours_in_shm():
    return sorted(path.name for path in SHARED.glob(f"*{OURS}*")) if SHARED.is_dir() else []


def alive(pids, program):
    """Those that still run the program: a number may have become another's."""
    found = []
    for pid in pids:
        try:
            if pathlib.Path(f"/proc/{pid}/exe").resolve(strict=True) == program:
                found.append(pid)
        except OSError:
            pass
    return found


def main():
    split = sys.argv.index("--")
    program, call = sys.argv[1:split]
    program = pathlib.Path(program).resolve()
    before = ours_in_shm()
    begin = time.monotonic()
    job = subprocess.Popen([*sys.argv[split + 1:], str(program), call], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, errors="replace")
    try:
        output, _ = job.communicate(timeout=SOON)
    except subprocess.TimeoutExpired:
        job.terminate()
        output, _ = job.communicate()
        check(False, "the job did not end:", output)
    lines = output.splitlines()
    print(f"ended with {job.returncode} after {time.monotonic() - begin:.1f} s")
    check(job.returncode != 0, "mpirun succeeded:", output)
    pids = [line.split()[1] for line in lines if line.startswith("rank ") and line.split()[1].isdigit()]
    check(len(pids) == 3 and lines.count("memory") == 3, "the ranks shared no memory:", output)
    # The memory has no name: it goes with the last process that has it.
    check(until(lambda: not alive(pids, program), 10), "processes stay:", alive(pids, program))
    check(set(ours_in_shm()) <= set(before), "files stay in /dev/shm:", ours_in_shm())


if __name__ == "__main__":
    main()
