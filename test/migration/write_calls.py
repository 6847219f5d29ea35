#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Writes the calls of the migration table as C++.

    write_calls.py <migration_table.md> <calls.cpp>

Calls of the first column are written with Boost.MPI and with papcoll in its place, those of the last with papcoll, without
a policy and with one. Where Boost.MPI has no function of that name in a namespace, the call is its own.
"""
import pathlib
import re
import sys

BEGIN = """// Written by write_calls.py from the migration table.
#include <papcoll/papcoll.hpp>

#include <boost/mpi/collectives.hpp>
#include <boost/mpi/collectives/all_gatherv.hpp>
#include <boost/mpi/communicator.hpp>
#include <boost/serialization/vector.hpp>

#include <functional>
#include <vector>

// They are compiled; to run, each would need ranks that play their parts.

void make_calls(boost::mpi::communicator const& comm);
void make_calls(boost::mpi::communicator const& comm) {
    using boost::mpi::inplace;
    double value = 1, result = 0;
    double const* const in = nullptr;
    double* const out = nullptr;
    int const n = 3, root = 0;
    std::vector<double> vector, results;
    std::vector<std::vector<double>> vectors;
    std::vector<int> sizes, displacements;
    std::plus<double> const op;
    [[maybe_unused]] papcoll::automatic const policy;
"""
END = """    (void)value, (void)result;
}

int main() { return 0; }
"""


def in_namespace(call, space):
    """`result = f(…)` as `result = space::f(…)`."""
    return re.sub(r"^(\w+ = )?(\w+)\(", lambda m: f"{m.group(1) or ''}{space}::{m.group(2)}(", call)


def rows(text):
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| `") or line.startswith("| – |"):
            yield cells[0].strip("| "), cells[-1].strip("| ")


def main():
    text, target = pathlib.Path(sys.argv[1]).read_text(), pathlib.Path(sys.argv[2])
    calls = []
    for theirs, ours in rows(text):
        found = re.match(r"`([^`]+)`", theirs)
        if found and not found.group(1).startswith("comm."):
            if "does not compile" not in theirs:
                calls.append(in_namespace(found.group(1), "boost::mpi"))
            calls.append(in_namespace(found.group(1), "papcoll"))
        ours = re.match(r"`([^`]+)`", ours).group(1)
        calls.append(in_namespace(ours, "papcoll"))
        calls.append(in_namespace(ours, "papcoll")[:-1] + ", policy)")
    if len(calls) < 150:
        sys.exit(f"the table has {len(calls)} calls only")
    content = BEGIN + "".join(f"    {call};\n" for call in calls) + END
    if not target.exists() or target.read_text() != content:
        target.write_text(content)


if __name__ == "__main__":
    main()
