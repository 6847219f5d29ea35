#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Turns results of papcoll-bench run into a tuning table for papcoll::automatic (PAPCOLL_TUNING_FILE).

    tune.py RESULT.json ... -o tuning.json [--rule robust] [--show]

One choice for each (operation, ranks, bytes). Rules, on the median last delay d(policy, pattern):

    robust     the least mean over all patterns of d divided by the least d of that pattern (paper 5)
    minimax    the least maximum of the same quotient
    balanced   the least d when all ranks arrive together
    total      the least mean of d

Candidates are the policies that `automatic` can be told by name. Not among them are those that are told the arrivals
(clairvoyant, arrival_…, background_…: a table is blind), and algorithms forced inside the MPI library; they count for what
is best in hindsight. What a table calls native is the library's nonblocking routine, measured as inative; the blocking
one is a candidate only where that is missing.

A policy counts only if it was measured under every pattern of its cell. Files of one cell are put together: of a policy
that is in several under the same pattern and magnitude the least median counts.
"""
import argparse
import json
import pathlib
import statistics
import sys

# Names of papcoll-bench run whose elements are divided unevenly, and what the library calls them.
OPERATIONS = {"all_gatherv_one": "all_gather", "all_gatherv_mod3": "all_gather",
              "reduce_scatter_mod3": "reduce_scatter"}


def fail(message):
    sys.exit(f"tune.py: {message}")


def read(path):
    """The cells of one file: {(operation, ranks, bytes): {policy: {(pattern, factor): ms}}}"""
    try:
        document = json.loads(pathlib.Path(path).read_text())
        ranks = document["ranks"]
        return [((row["operation"], ranks, row["bytes"]), row["policy"], (row["pattern"], row["factor"]),
                 float(row["last_delay_ms"]["median"])) for row in document["rows"]]
    except (OSError, UnicodeDecodeError) as error:
        fail(f"cannot read {path}: {error}")
    except json.JSONDecodeError as error:
        fail(f"{path}:{error.lineno}: {error.msg}")
    except (KeyError, TypeError, ValueError) as error:
        fail(f"{path}: no result of papcoll-bench run ({error!r})")


def is_candidate(policy):
    return not (":" in policy or policy == "automatic" or
                policy.startswith(("clairvoyant", "arrival_", "background_")))


def cells_of(paths):
    cells = {}
    for path in paths:
        for cell, policy, column, delay in read(path):
            column_delays = cells.setdefault(cell, {}).setdefault(policy, {})
            column_delays[column] = min(delay, column_delays.get(column, delay))
    for policies in cells.values():
        if "inative" in policies:
            if "native" in policies:
                policies["native:blocking"] = policies["native"]
            policies["native"] = policies.pop("inative")
    return cells


def comparable(policies):
    """The policies measured under every pattern of the cell, and these patterns."""
    columns = sorted(set().union(*policies.values()))
    return {p: d for p, d in policies.items() if len(d) == len(columns)}, columns


def normalised(policies, columns):
    """{policy: [d / least d of the column]}"""
    least = {c: min(d[c] for d in policies.values()) for c in columns}
    return {p: [d[c] / least[c] if least[c] > 0 else 1.0 for c in columns] for p, d in policies.items()}


def balanced_of(delays):
    together = [d for (pattern, _), d in delays.items() if pattern == "no_delay"]
    return together[0] if together else float("inf")


RULES = {
    "robust": lambda policies, columns: {p: statistics.mean(q) for p, q in normalised(policies, columns).items()},
    "minimax": lambda policies, columns: {p: max(q) for p, q in normalised(policies, columns).items()},
    "balanced": lambda policies, columns: {p: balanced_of(d) for p, d in policies.items()},
    "total": lambda policies, columns: {p: statistics.mean(d.values()) for p, d in policies.items()},
}


def choose(cells, rule):
    """One entry per cell, the best policy first in its evidence."""
    entries = []
    for (operation, ranks, size), policies in sorted(cells.items()):
        policies, columns = comparable(policies)
        if not policies:
            fail(f"no policy of {operation} at {ranks} ranks and {size} bytes was measured under all its patterns")
        scores = RULES[rule](policies, columns)
        ranking = sorted(filter(is_candidate, scores), key=lambda p: (scores[p], p))
        if not ranking:
            fail(f"nothing that a table can name was measured under all patterns of {operation} at {ranks} ranks and {size} bytes")
        quotients = normalised(policies, columns)
        hindsight = statistics.mean(quotients[ranking[0]])
        entries.append({"operation": OPERATIONS.get(operation, operation), "ranks": ranks, "bytes": size,
                        "policy": ranking[0],
                        "evidence": {"measured": operation, "rule": rule, "patterns": len(columns),
                                     "scores": {p: round(scores[p], 4) for p in sorted(scores, key=lambda p: (scores[p], p))},
                                     "mean_over_best_in_hindsight": round(hindsight, 4)}})
    return entries


def distinct(entries):
    """Even and uneven divisions of one operation share an entry: the even one is kept."""
    kept = {}
    for entry in entries:
        key = (entry["operation"], entry["ranks"], entry["bytes"])
        uneven = entry["evidence"]["measured"] in OPERATIONS
        if key not in kept or not uneven:
            kept[key] = entry
    return list(kept.values())


def table_of(entries, rule):
    return json.dumps({"papcoll_tuning": 1, "rule": rule, "choices": distinct(entries)}, indent=1) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Makes a tuning table for papcoll::automatic")
    parser.add_argument("results", nargs="+", help="JSON files of papcoll-bench run")
    parser.add_argument("-o", "--output", help="the table; default: standard output")
    parser.add_argument("--rule", choices=sorted(RULES), default="robust")
    parser.add_argument("--show", action="store_true", help="print the choices and their distance from hindsight")
    options = parser.parse_args()

    entries = choose(cells_of(options.results), options.rule)
    if options.show:
        for e in entries:
            evidence = e["evidence"]
            print(f'{evidence["measured"]:20} {e["ranks"]:5} ranks {e["bytes"]:10} bytes  {e["policy"]:20} '
                  f'{evidence["mean_over_best_in_hindsight"]:.3f} of hindsight', file=sys.stderr)
    text = table_of(entries, options.rule)
    if options.output:
        pathlib.Path(options.output).write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
