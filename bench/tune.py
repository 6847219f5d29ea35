#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Turns results of papcoll-bench run into a tuning table for papcoll::automatic (PAPCOLL_TUNING_FILE), or into the rules by which
Open MPI or MPICH chooses among its own algorithms, for programs that know nothing of papcoll.

    tune.py RESULT.json ... -o tuning.json [--rule robust] [--show]
    tune.py RESULT.json ... -o rules.txt --for open-mpi
    tune.py RESULT.json ... -o rules.json --for mpich --default libmpich.so


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

Rules for an MPI library are made of its algorithms alone (policies native and native:*, the results being of that library). As in papcoll's
table the nearest measured size counts, as a ratio; ranks do up to twice and down to half of what was measured, and all other communicators
are left to the library. So is a cell where its own decision, native, is the best. What to set is said on standard error.
"""
import argparse
import json
import math
import pathlib
import statistics
import sys

# Names of papcoll-bench run for kinds of elements that a table does not tell from others.
NOT_FOR_TABLES = ("all_reduce_integers", "reduce_value")
# Those whose elements are divided unevenly, and what the library calls them.
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
                 float(row["last_delay_ms"]["median"])) for row in document["rows"]
                if row["operation"] not in NOT_FOR_TABLES]
    except (OSError, UnicodeDecodeError) as error:
        fail(f"cannot read {path}: {error}")
    except json.JSONDecodeError as error:
        fail(f"{path}:{error.lineno}: {error.msg}")
    except (KeyError, TypeError, ValueError) as error:
        fail(f"{path}: no result of papcoll-bench run ({error!r})")


def is_candidate(policy):
    """Whether a table can name it, and it has not been told the arrivals."""
    return not (":" in policy or "@" in policy or policy in ("automatic", "sorted_linear", "stragglar") or
                policy.startswith(("clairvoyant", "arrival_", "background_")))


def measured_cells(paths):
    cells = {}
    for path in paths:
        for cell, policy, column, delay in read(path):
            column_delays = cells.setdefault(cell, {}).setdefault(policy, {})
            column_delays[column] = min(delay, column_delays.get(column, delay))
    return cells


def cells_of(paths):
    """As measured_cells, with the names that a table has: native is the nonblocking routine."""
    cells = measured_cells(paths)
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
        if rule == "balanced" and not any(pattern == "no_delay" for pattern, _ in columns):
            fail(f"the rule balanced needs rows without delays, and {operation} at {ranks} ranks and {size} bytes has none")
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
    return json.dumps({"papcoll_tuning": 1, "rule": rule, "choices": distinct(entries)}, indent=1, allow_nan=False) + "\n"


# What papcoll calls an operation, the number of Open MPI's rules for it, what MPICH calls it, and by what MPICH measures its bytes.
LIBRARY_OPERATIONS = {"all_gather": (0, "allgather", "total_msg_size"), "all_reduce": (2, "allreduce", "avg_msg_size"),
                      "all_to_all": (3, "alltoall", "total_msg_size"), "broadcast": (7, "bcast", "avg_msg_size"),
                      "reduce": (11, "reduce", "avg_msg_size"), "reduce_scatter": (12, "reduce_scatter", "total_msg_size")}

# Where MPICH's algorithms are no choice the library decides: (the key where it is one, the key of the rest, whether the rest comes first).
BUILT_IN, ENOUGH = ("is_op_built_in=yes", "is_op_built_in=no", False), ("count=any", "count<pow2", True)
COMMUTATIVE, POWER_OF_2 = ("is_commutative=yes", "is_commutative=no", False), ("comm_size=pow2", "comm_size=any", False)
PARENT, APART = ("comm_hierarchy=parent", "comm_hierarchy=any", False), ("is_sendbuf_inplace=no", "is_sendbuf_inplace=yes", False)
MPICH_NEEDS = {("reduce", "reduce_scatter_gather"): [BUILT_IN, ENOUGH], ("allreduce", "reduce_scatter_allgather"): [BUILT_IN, ENOUGH],
               ("reduce", "smp"): [PARENT, COMMUTATIVE], ("allreduce", "smp"): [PARENT, COMMUTATIVE], ("bcast", "smp"): [PARENT],
               ("bcast", "scatter_recursive_doubling_allgather"): [POWER_OF_2], ("allgather", "recursive_doubling"): [POWER_OF_2],
               ("alltoall", "brucks"): [APART], ("alltoall", "pairwise"): [APART], ("alltoall", "scattered"): [APART],
               ("reduce_scatter", "pairwise"): [COMMUTATIVE], ("reduce_scatter", "recursive_halving"): [COMMUTATIVE]}


def library_choices(cells, rule, library):
    """{operation: {ranks: {bytes: the algorithm, or None where the library shall decide}}}, and {operation: mean scores (of the choices, of
    native)}"""
    chosen, scores = {}, {}
    for (operation, ranks, size), policies in sorted(cells.items()):
        own = {p: d for p, d in policies.items() if p == "native" or p.startswith("native:")}
        own, columns = comparable(own) if own else ({}, [])
        if operation not in LIBRARY_OPERATIONS or len(own) < 2:
            continue
        wrong = [p for p in own if p.startswith("native:") and p[7:].isdigit() != (library == "open-mpi")]
        if wrong:
            fail(f"{wrong[0]} is no algorithm of {library}: the results are of another MPI library")
        score = RULES[rule](own, columns)
        # MPICH is told for a whole operation whether its device decides, which native stands for; auto is what it does without.
        candidates = [p for p in score if library == "open-mpi" or p != "native"]
        best = min(candidates, key=lambda p: (score[p], p != "native", p))
        algorithm = None if best in ("native", "native:auto") else best[7:]
        chosen.setdefault(operation, {}).setdefault(ranks, {})[size] = algorithm
        scores.setdefault(operation, []).append((score[best], score.get("native", math.inf)))
    if not chosen:
        fail("no algorithms of an MPI library were measured: papcoll-bench run --policies native,native:*")
    return chosen, {operation: tuple(map(statistics.mean, zip(*pairs))) for operation, pairs in scores.items()}


def runs_of(choices):
    """[(from this size on, choice)] of {size: choice}: the nearest size counts, as a ratio, and of two as near the smaller."""
    runs, sizes = [], sorted(choices)
    for i, size in enumerate(sizes):
        begin = math.isqrt(sizes[i - 1] * size) + 1 if i > 0 else 0
        if not runs or runs[-1][1] != choices[size]:
            runs.append((begin, choices[size]))
    return runs


def rank_runs(by_ranks):
    """[(from so many ranks on, {size: algorithm}, or None where the library decides)]"""
    ranks = sorted(by_ranks)
    runs = [(1, None)]
    for i, p in enumerate(ranks):
        begin = max(2, -(-p // 2))
        if i > 0:
            begin = max(begin, math.isqrt(ranks[i - 1] * p) + 1)
            if begin > 2 * ranks[i - 1] + 1:
                runs.append((2 * ranks[i - 1] + 1, None))
        runs.append((begin, by_ranks[p]))
    return [*runs, (2 * ranks[-1] + 1, None)]


def fan_out(operation, algorithm):
    """Of chains, as Open MPI has it where the algorithm is forced: so it was measured. In a file 0 would be one chain."""
    return 4 if operation in ("broadcast", "reduce") and str(algorithm) == "2" else 0


def open_mpi_rules(chosen):
    lines = [f"{len(chosen)}  # collectives; made by papcoll's tune.py"]
    for operation, by_ranks in chosen.items():
        runs = rank_runs(by_ranks)
        lines += [f"{LIBRARY_OPERATIONS[operation][0]}  # {operation}", f"{len(runs)}  # sizes of communicators"]
        for ranks, choices in runs:
            rules = runs_of(choices or {0: None})
            lines.append(f"{ranks} {len(rules)}  # from so many ranks on so many rules: bytes, algorithm (0: the library decides), fan-out, 0")
            lines += [f"{size} {algorithm or 0} {fan_out(operation, algorithm)} 0" for size, algorithm in rules]
    return "\n".join(lines) + "\n"


def default_tree(path):
    """MPICH's own selection: a JSON file, or what the library has in itself."""
    try:
        content = pathlib.Path(path).read_bytes()
    except OSError as error:
        fail(f"cannot read {path}: {error}")
    at = content.find(b'{"collective=') if not content.startswith(b"{") else 0
    while at >= 0:
        text = content[at:].partition(b"\0")[0]
        if b"algorithm=MPIR_Bcast_intra_binomial" in text:
            try:
                return json.loads(text)
            except ValueError:
                pass
        at = content.find(b'{"collective=', at + 1)
    fail(f"{path}: neither MPICH's library nor its selection as JSON")


def mpich_leaf(operation, algorithm, default):
    tree = {f"algorithm=MPIR_{operation.capitalize()}_intra_{algorithm}": {}}
    for good, rest, rest_first in reversed(MPICH_NEEDS.get((operation, algorithm), [])):
        tree = {rest: default, good: tree} if rest_first else {good: tree, rest: default}
    return tree


def mpich_sizes(operation, measure, choices, default):
    runs = runs_of(choices)
    ends = [f"{measure}<{begin}" for begin, _ in runs[1:]] + [f"{measure}=any"]
    return {end: mpich_leaf(operation, algorithm, default) if algorithm else default for end, (_, algorithm) in zip(ends, runs)}


def mpich_rules(chosen, default):
    for papcoll_name, by_ranks in chosen.items():
        _, operation, measure = LIBRARY_OPERATIONS[papcoll_name]
        types = default.get(f"collective={operation}", {})
        if "comm_type=intra" not in types:
            fail(f"MPICH's own selection says nothing of {operation}")
        own = types["comm_type=intra"]
        runs = rank_runs(by_ranks)
        ends = [f"comm_size<{begin}" for begin, _ in runs[1:]] + ["comm_size=any"]
        types["comm_type=intra"] = {end: mpich_sizes(operation, measure, choices, own) if choices else own
                                    for end, (_, choices) in zip(ends, runs)}
    return json.dumps(default, indent=1) + "\n"


def library_rules(options):
    chosen, scores = library_choices(measured_cells(options.results), options.rule, options.library)
    if options.show:
        for operation, by_ranks in chosen.items():
            for ranks, choices in by_ranks.items():
                for size, algorithm in choices.items():
                    print(f"{operation:20} {ranks:5} ranks {size:10} bytes  {algorithm or 'its own decision'}", file=sys.stderr)
    file = options.output or "FILE"
    if options.library == "open-mpi":
        print(f"use it by: mpirun --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename {file}", file=sys.stderr)
        return open_mpi_rules(chosen)
    for operation, (ours, device) in scores.items():
        if device <= ours:
            print(f"{operation} is left to MPICH, whose own decision is not worse", file=sys.stderr)
            del chosen[operation]
    told = " ".join(f"MPIR_CVAR_{LIBRARY_OPERATIONS[operation][1].upper()}_DEVICE_COLLECTIVE=0" for operation in chosen)
    print(f"use it by: env MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE={file} {told} mpiexec", file=sys.stderr)
    return mpich_rules(chosen, default_tree(options.default))


def main():
    parser = argparse.ArgumentParser(description="Makes a tuning table for papcoll::automatic")
    parser.add_argument("results", nargs="+", help="JSON files of papcoll-bench run")
    parser.add_argument("-o", "--output", help="the table; default: standard output")
    parser.add_argument("--rule", choices=sorted(RULES), default="robust")
    parser.add_argument("--show", action="store_true", help="print the choices and their distance from hindsight")
    parser.add_argument("--for", dest="library", choices=("papcoll", "open-mpi", "mpich"), default="papcoll", help="who shall choose by it")
    parser.add_argument("--default", help="for MPICH: its library (libmpich.so) or JSON file, from which all else is kept")
    options = parser.parse_args()
    if options.library == "mpich" and not options.default:
        parser.error("--for mpich needs --default libmpich.so")

    if options.library != "papcoll":
        return write(options, library_rules(options))
    cells = cells_of(options.results)
    if not cells:
        fail("nothing was measured that a table is for")
    entries = choose(cells, options.rule)
    if options.show:
        for e in entries:
            evidence = e["evidence"]
            print(f'{evidence["measured"]:20} {e["ranks"]:5} ranks {e["bytes"]:10} bytes  {e["policy"]:20} '
                  f'{evidence["mean_over_best_in_hindsight"]:.3f} of hindsight', file=sys.stderr)
    write(options, table_of(entries, options.rule))


def write(options, text):
    if options.output:
        try:
            pathlib.Path(options.output).write_text(text)
        except OSError as error:
            fail(f"cannot write {options.output}: {error.strerror}")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
