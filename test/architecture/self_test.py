#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""check_includes.py accepts a good tree and finds each kind of violation in broken ones."""
import pathlib
import sys
import tempfile

import check_includes

GOOD = {
    "papcoll/papcoll.hpp": "<papcoll/collective/reduce.hpp>",
    "papcoll/collective/reduce.hpp": "<papcoll/policy/clairvoyant.hpp>",
    "papcoll/policy/clairvoyant.hpp": "<papcoll/scheduler/search/linear.hpp>",
    "papcoll/scheduler/search/linear.hpp": "<papcoll/schedule/problem.hpp>",
    "papcoll/schedule/problem.hpp": "<papcoll/detail/require.hpp>",
    "papcoll/detail/require.hpp": "<string>",
    "papcoll/analysis/verify.hpp": "<papcoll/scheduler/search/linear.hpp>",
    "papcoll/arrival/patterns.hpp": "<papcoll/schedule/problem.hpp>",
    "papcoll/executor/combine.hpp": "<papcoll/schedule/problem.hpp>",
}
BROKEN = [
    # (header, what it includes, words of the message)
    ("papcoll/schedule/problem.hpp", "<papcoll/collective/reduce.hpp>", "schedule/ must not include collective/"),
    ("papcoll/scheduler/search/linear.hpp", "<papcoll/analysis/verify.hpp>", "scheduler/ must not include analysis/"),
    ("papcoll/executor/combine.hpp", "<papcoll/scheduler/search/linear.hpp>", "executor/ must not include scheduler/"),
    ("papcoll/arrival/patterns.hpp", "<papcoll/analysis/verify.hpp>", "arrival/ must not include analysis/"),
    ("papcoll/detail/require.hpp", "<papcoll/schedule/problem.hpp>", "detail/ must not include schedule/"),
    ("papcoll/policy/clairvoyant.hpp", "<papcoll/papcoll.hpp>", "includes the umbrella"),
    ("papcoll/policy/clairvoyant.hpp", '"linear.hpp"', "must be included as <papcoll/...>"),
    ("papcoll/policy/clairvoyant.hpp", "<papcoll/schedule/gone.hpp>", "does not exist"),
    ("papcoll/attic/old.hpp", "<string>", "is no room"),
]


def check(tree):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, include in tree.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(f"#pragma once\n#include {include}\n")
        return check_includes.violations(root)


def main():
    failures = [f"the good tree is refused: {text}" for text in check(GOOD)]
    for header, include, words in BROKEN:
        found = check({**GOOD, header: include})
        if len(found) != 1 or words not in found[0]:
            failures.append(f"{header} with {include}: expected one '{words}', found {found}")
    if check({}) == []:
        failures.append("a folder without headers is accepted")
    print("\n".join(failures) if failures else f"{len(BROKEN)} broken trees found out")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
