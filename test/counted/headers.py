#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Checks which headers a file reaches that includes one of papcoll's.

    headers.py <compiler> <its options>...
"""
import re
import subprocess
import sys
import tempfile

SEPARATE = "-DPAPCOLL_SEPARATE_COMPILATION"
# Header, further options, and what it must not reach.
RULES = [
    ("papcoll/core.hpp", [], r"/boost/(mpi|serialization|archive)/"),
    ("papcoll/core.hpp", [], r"papcoll/(analysis|monitor)/|papcoll/transport/threads\.hpp"),
    ("papcoll/papcoll.hpp", [], r"papcoll/(analysis|monitor)/|papcoll/transport/threads\.hpp"),
    ("papcoll/collective/reduce.hpp", [], r"papcoll/(analysis|monitor)/|/boost/mpi/"),
    ("papcoll/collective/reduce.hpp", [SEPARATE],
     r"papcoll/(analysis|monitor|scheduler/\w+/|scheduler/c)|papcoll/executor/execution|papcoll/program/program_builder|/xsimd/"),
    ("papcoll/papcoll.hpp", [SEPARATE],
     r"papcoll/\w+/impl/|papcoll/scheduler/\w+/|papcoll/executor/execution|papcoll/program/program_builder|papcoll/context/(settings|attach_operation)|/xsimd/"),
]
# Header, options, and how many of papcoll's own it may reach.
MOST = [("papcoll/collective/reduce.hpp", [SEPARATE], 52), ("papcoll/papcoll.hpp", [SEPARATE], 120)]


def reached(compiler, header):
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as file:
        file.write(f"#include <{header}>\n")
        file.flush()
        made = subprocess.run([*compiler, "-std=c++20", "-M", file.name], capture_output=True, text=True, check=True)
    return made.stdout.replace("\\\n", " ").split()[2:]


def main():
    wrong = False
    for header, options, forbidden in RULES:
        found = [name for name in reached([*sys.argv[1:], *options], header) if re.search(forbidden, name)]
        for name in found[:10]:
            print(f"{header} {' '.join(options)} reaches {name}")
        wrong = wrong or bool(found)
    for header, options, most in MOST:
        count = len([name for name in reached([*sys.argv[1:], *options], header) if "/papcoll/" in name])
        print(f"{header} {' '.join(options)}: {count} headers of papcoll's, at most {most}")
        wrong = wrong or count > most
    return wrong


if __name__ == "__main__":
    sys.exit(main())
