#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Runs programs under the tracer and compares its traces, and what the reader makes of them, with what the programs did.

    run_traced.py --tracer LIBRARY --reader PROGRAM --program PROGRAM SCENARIO RANKS -- MPIRUN ...

MPIRUN ... is the command that takes a number of ranks, a program and its arguments.
"""
import argparse
import csv
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

TOLERANCE_NS = 15_000_000  # the machine has other things to do; injected delays differ by 40 ms
WORLD = "1"
arguments = None
folder = None


def check(condition, *message):
    if not condition:
        raise AssertionError(" ".join(str(part) for part in message))


def launch(*words, preload=True, **settings):
    """Runs the program on all ranks; settings EVERY=3 become PAPCOLL_TRACE_EVERY=3."""
    for old in folder.glob("t.*.trace"):
        old.unlink()
    environment = [f"PAPCOLL_TRACE_FILE={folder}/t"]
    environment += [f"PAPCOLL_TRACE_{name}={value}" for name, value in settings.items()]
    if preload:
        environment.append(f"LD_PRELOAD={arguments.tracer}")
    command = [*arguments.mpirun, str(arguments.ranks), "env", *environment, arguments.program, *words]
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=100)


def run(*words, **settings):
    done = launch(*words, **settings)
    check(done.returncode == 0, "the program failed:", done.stdout, done.stderr)
    return done


def files():
    return sorted(folder.glob("t.*.trace"))


def read(*options, inputs=None):
    command = [arguments.reader, *map(str, files() if inputs is None else inputs), *map(str, options)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def read_well(*options):
    done = read(*options)
    check(done.returncode == 0, "the reader failed:", done.stderr)
    return done.stdout


class Trace:
    """One rank's file, read without the reader."""

    def __init__(self, rank):
        self.comms, self.calls, self.clocks, self.sites = {}, [], [], {}
        self.lines = (folder / f"t.{rank}.trace").read_text().splitlines()
        for line in self.lines[3:]:
            kind, *fields = line.split(" ")
            if kind == "comm":
                self.comms[fields[0]] = (fields[1], int(fields[2]), int(fields[3]))
            elif kind == "site":
                self.sites[fields[0]] = line
            elif kind == "clock":
                self.clocks.append(tuple(map(int, fields)))
            elif kind == "call":
                identity = self.comms[fields[0]][0]
                self.calls.append((identity, int(fields[1]), fields[2], *map(int, fields[3:6]), fields[6]))


def traces():
    return [Trace(rank) for rank in range(arguments.ranks)]


def injected():
    """The delays of all programs, in nanoseconds."""
    return [40_000_000 * ((2 * rank + 1) % arguments.ranks) for rank in range(arguments.ranks)]


def pattern(operation):
    path = folder / "pattern.txt"
    # Delayed calls are of four bytes.
    read_well("--operation", operation, "--bytes", 4, "--communicator", WORLD, "--pattern", path)
    lines = [line.split("#")[0].strip() for line in path.read_text().splitlines()]
    lines = [line for line in lines if line]
    check(lines[0] == f"ranks {arguments.ranks}", "pattern file:", lines)
    return [int(line) for line in lines[1:]]


def check_delays(operation, *words, **settings):
    """Compares the average pattern with what was injected; up to three runs, since the machine may be busy."""
    for attempt in range(3):
        run(*words, **settings)
        wrong = max(abs(seen - meant) for seen, meant in zip(pattern(operation), injected(), strict=True))
        if wrong <= TOLERANCE_NS:
            return
        print(f"attempt {attempt}: {wrong / 1e6:.1f} ms off, the pattern is", pattern(operation), flush=True)
    check(False, "the average pattern is not what was injected")


def delays():
    check_delays("allreduce", "delays")
    rows = list(csv.DictReader(read_csv("--ranks-csv", "allreduce")))
    check([int(row["rank"]) for row in rows] == list(range(arguments.ranks)), rows)
    for row in rows:
        check(row["calls"] == "6" and row["bytes"] == "4" and row["ranks"] == str(arguments.ranks), row)
        quantiles = [int(row[name]) for name in ("p10_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns")]
        check(quantiles == sorted(quantiles) and quantiles[0] <= int(row["mean_ns"]) <= quantiles[-1], row)
    calls = list(csv.DictReader(read_csv("--calls-csv", "allreduce")))
    check([int(row["call"]) for row in calls] == [1, 3, 5, 7, 9, 11], calls)
    for row in calls:
        latest = max(injected())
        check(int(row["skew_ns"]) > latest - TOLERANCE_NS, row)
        check(int(row["total_delay_ns"]) == int(row["skew_ns"]) + int(row["last_delay_ns"]), row)
    check("6 |" in read_well("--site", pathlib.Path(arguments.program).name), "the call site is not in the program")
    check_picture()
    other = read("--operation", "all_reduce")
    check(other.returncode != 0 and "allreduce of 4 bytes on communicator 1" in other.stderr, other.stderr)
    mixed = read("--communicator", WORLD, "--pattern", folder / "mixed.txt")
    check(mixed.returncode == 0 and "--bytes and --site" in mixed.stderr, mixed.stderr)


def read_csv(option, operation):
    path = folder / "out.csv"
    read_well("--operation", operation, option, path)
    return path.read_text().splitlines()


def check_picture():
    path = folder / "picture.svg"
    read_well("--operation", "allreduce", "--picture", path)
    bars = [node for node in xml.etree.ElementTree.parse(path).iter() if node.get("class") == "mean"]
    check(len(bars) == arguments.ranks, "bars in the picture:", len(bars))
    heights = [float(bar.get("height")) for bar in bars]
    check(all(height >= 0 for height in heights), heights)
    latest = injected().index(max(injected()))
    check(heights.index(max(heights)) == latest, "the latest rank's bar is not the highest:", heights)


def expected_calls(rank):
    """What everything.c and everything.f90 do before the delays."""
    ranks, block = arguments.ranks, 12
    own, all_counts = 4 * (rank + 1), 4 * ranks * (ranks + 1) // 2
    once = [("barrier", 0), ("bcast", block), ("gather", block), ("gatherv", own), ("scatter", block),
            ("scatterv", own), ("allgather", block), ("allgatherv", all_counts), ("alltoall", block),
            ("alltoallv", all_counts), ("alltoallw", all_counts), ("reduce", block), ("allreduce", block),
            ("reduce_scatter", all_counts), ("reduce_scatter_block", block * ranks), ("scan", block),
            ("exscan", block)]
    return once + [("i" + name, size) for name, size in once]


def expected_neighbours():
    """On a ring."""
    once = [("neighbor_allgather", 12), ("neighbor_allgatherv", 8), ("neighbor_alltoall", 12),
            ("neighbor_alltoallv", 12), ("neighbor_alltoallw", 12)]
    return once + [("i" + name, size) for name, size in once]


def check_everything(rank_traces):
    for rank, trace in enumerate(rank_traces):
        check(trace.lines[-1] == f"end {len(trace.calls)}", trace.lines[-1])
        check(all(call[4] <= call[5] for call in trace.calls), "times")
        seen = [(call[2], call[3]) for call in trace.calls if call[0] == WORLD]
        check(seen == expected_calls(rank) + 6 * [("barrier", 0), ("alltoall", 4)], "rank", rank, seen)
        ring = [(call[2], call[3]) for call in trace.calls if call[0] != WORLD]
        check(ring == expected_neighbours(), "rank", rank, ring)
        numbers = [[call[1] for call in trace.calls if (call[0] == WORLD) == is_world] for is_world in (True, False)]
        check(numbers == [list(range(len(seen))), list(range(len(ring)))], "numbers of the calls:", numbers)
        check(len(trace.sites) == 46, "call sites:", len(trace.sites))


def everything():
    check_delays("alltoall", BUFFER=1000)
    check_everything(traces())


def linked():
    run(preload=False)
    check_everything(traces())


def modern():
    run()
    for rank, trace in enumerate(traces()):
        check([(call[2], call[3]) for call in trace.calls] == [("allreduce", 16), ("bcast", 8), ("ibarrier", 0)],
              trace.calls)
        check(len({call[0] for call in trace.calls}) == 3, "communicators of rank", rank, trace.comms)
    check(read().returncode == 0, read().stderr)


def sampling():
    run("delays", RANKS="0,2-4:2", EVERY=3)
    check([file.name for file in files()] == ["t.0.trace", "t.2.trace", "t.4.trace"], files())
    for rank in 0, 2, 4:
        check([call[1] for call in Trace(rank).calls] == [0, 3, 6, 9], Trace(rank).calls)
    check(re.search(r"allreduce +4 +5 +3 +2 \|", read_well()), read_well())
    refused = read("--operation", "allreduce", "--pattern", folder / "pattern.txt")
    check(refused.returncode == 1 and "needs all 5 ranks" in refused.stderr, refused.stderr)


def small_buffers():
    run("delays")
    whole = [[call[:4] for call in trace.calls] for trace in traces()]
    for size in 1, 5, 12:
        run("delays", BUFFER=size)
        check(whole == [[call[:4] for call in trace.calls] for trace in traces()], "with a buffer of", size)
        check(read().returncode == 0, read().stderr)


def clock():
    # Rank r's clock is r · 1000 s ahead and 2 r % fast: in a run of a second a constant offset would not do.
    check_delays("allreduce", "delays", TEST_OFFSET_NS=10**12, TEST_DRIFT_PPM=20000)
    for rank, trace in enumerate(traces()):
        first, last = trace.clocks
        check(abs(first[1] + rank * 10**12) < 100_000_000, "the first offset of rank", rank, first)
        drift = (first[1] - last[1]) / (last[0] - first[0])
        check(abs(drift - 0.02 * rank) < 0.005 + 0.002 * rank, "the drift of rank", rank, drift)


def clock_is_needed():
    """The comparison finds something where clocks differ and the trace says that they do not."""
    run("delays", TEST_OFFSET_NS=10**9)
    for file in files():
        file.write_text(re.sub(r"(?m)^clock (\S+) \S+", r"clock \1 0", file.read_text()))
    wrong = [abs(seen - meant) for seen, meant in zip(pattern("allreduce"), injected(), strict=True)]
    check(max(wrong) > 10 * TOLERANCE_NS, wrong)


def ended_early(how, least):
    ended = launch(how, BUFFER=4)
    check(ended.returncode != 0 or how == "exits", "the program should not have ended well")
    check(len(files()) == arguments.ranks, files())
    refused = read()
    check(refused.returncode == 1 and re.search(r"t\.\d\.trace:\d+: .*(cut off|does not end)", refused.stderr),
          refused.stderr)
    path = folder / "pattern.txt"
    done = read("--partial", "--operation", "allreduce", "--pattern", path, "--calls-csv", folder / "out.csv")
    check(done.returncode == 0, done.stderr)
    check(len((folder / "out.csv").read_text().splitlines()) - 1 >= least, done.stdout)
    check(len(path.read_text().splitlines()) == arguments.ranks + 2, path.read_text())


def killed():
    ended_early("killed", 2)  # 7 calls were made, 4 written: one pair of barrier and allreduce is whole, and another


def aborted():
    launch("aborted")
    check(len(Trace(1).calls) == 7, "the rank that aborted should have written its calls:", Trace(1).lines)
    ended_early("aborted", 2)


def exits():
    # The first process that ends so writes its calls; mpirun may kill the others meanwhile.
    launch("exits")
    made = [len(trace.calls) for trace in traces()]
    check(max(made) == 7, "calls before exit()")
    parts = read("--partial")
    check(parts.returncode == 0 and (min(made) == 7 or "that some traced rank lacks" in parts.stderr), made, parts)
    ended_early("exits", 2)


def communicators():
    ranks = arguments.ranks
    even, odd = list(range(0, ranks, 2)), list(range(1, ranks, 2))
    everybody, without_1 = list(range(ranks)), [rank for rank in range(ranks) if rank != 1]
    meant = {(1, tuple(everybody)): 1, (2, tuple(even[::-1])): 1, (2, tuple(odd[::-1])): 1,
             (3, tuple(everybody[1:])): 1, (4, tuple(even[::-1])): 1, (4, tuple(odd[::-1])): 1,
             (5, tuple(without_1)): 1, (6, tuple(without_1)): 1, (7, tuple(everybody)): 1}
    meant |= {(60, (rank,)): 1 for rank in everybody}
    run("communicators")
    members = {}
    for rank, trace in enumerate(traces()):
        place = {identity: (own, size) for identity, own, size in trace.comms.values()}
        for identity, sequence, _, size, *_ in trace.calls:
            check(sequence == 0, "first calls only")
            members.setdefault((identity, size, place[identity][1]), {})[place[identity][0]] = rank
    seen = {}
    for (identity, size, count), by_rank in members.items():
        check(sorted(by_rank) == list(range(count)), "communicator", identity, by_rank)
        key = (size, tuple(by_rank[own] for own in range(count)))
        seen[key] = seen.get(key, 0) + 1
    check(seen == meant, seen)
    check(len({identity for identity, *_ in members}) == len(meant), "ids differ")
    check(read().returncode == 0, read().stderr)


def threads():
    run("threads", BUFFER=7)
    by_id = [{}, {}]
    for trace in traces():
        for identity, sequence, operation, size, *_ in trace.calls:
            by_id[size - 1].setdefault(identity, []).append(sequence)
    for ids in by_id:
        check(len(ids) == 1, "each thread has one communicator, the same on all ranks:", by_id)
        check(sorted(*ids.values()) == sorted(list(range(200)) * arguments.ranks), "calls")
    check(read().returncode == 0, read().stderr)


def intercommunicator():
    run("intercommunicator")
    for trace in traces():
        check([call[2] for call in trace.calls] == ["barrier", "barrier"], trace.calls)
    check(read().returncode == 0, read().stderr)


def spawned():
    run("spawned")
    for trace in traces():
        check([call[2] for call in trace.calls] == ["barrier"], trace.calls)
    check(read().returncode == 0, read().stderr)


def null_communicator():
    run("null_communicator")


def observed():
    silent = run(preload=False)
    check("not observed" in silent.stdout and not files(), silent.stdout)
    done = run(TEST_OFFSET_NS=10**9)
    check("not observed" not in done.stdout and "observed" in done.stdout, done.stdout)
    read_well("--operation", "papcoll.all_reduce", "--calls-csv", folder / "out.csv", "--site", "observed")
    rows = list(csv.DictReader((folder / "out.csv").read_text().splitlines()))
    check([row["call"] for row in rows] == ["0", "1", "2", "3"], rows)
    for row in rows:
        check(row["bytes"] == "24", row)
        check(abs(int(row["skew_ns"]) - 1_000_000 * (arguments.ranks - 1)) < TOLERANCE_NS, row)
        check(abs(int(row["last_delay_ns"]) - 10**9) < 2 * TOLERANCE_NS, row)
    # Debuggers find the call sites by what the traces say of them.
    _, _, offset, _, module = next(iter(traces()[0].sites.values())).split(" ", 4)
    place = subprocess.run(["addr2line", "-f", "-e", module, f"0x{offset}"], capture_output=True, text=True, check=True)
    check(place.stdout.startswith("main"), offset, module, place.stdout)


def median_skew_is_right(operation, size):
    path = folder / "out.csv"
    read_well("--operation", operation, "--bytes", size, "--ranks-csv", path)
    seen = [int(row["p50_ns"]) for row in csv.DictReader(path.read_text().splitlines())]
    wrong = max(abs(a - b) for a, b in zip(seen, injected(), strict=True))
    if wrong > TOLERANCE_NS:
        print(f"{operation} of {size} bytes: {wrong / 1e6:.1f} ms off, medians are", seen, flush=True)
    return wrong <= TOLERANCE_NS


def check_papcoll_calls(meant):
    """Operations and bytes in their order on all ranks, numbered alike; the library's own reduce beside them."""
    numbers = set()
    for rank, trace in enumerate(traces()):
        calls = [call for call in trace.calls if call[0] == WORLD]
        ours = [call for call in calls if call[2].startswith("papcoll.")]
        check([(call[2], call[3]) for call in ours] == meant, "rank", rank, calls)
        check([call[3] for call in calls if call[2] == "reduce"] == [2800] * 3, "the library's own, rank", rank, calls)
        check(all(call[4] <= call[5] for call in calls), "times of rank", rank, calls)
        numbers.add(tuple(call[1] for call in ours))
    check(len(numbers) == 1 and len(set(*numbers)) == len(meant), "numbers of the calls:", numbers)


def collectives():
    """papcoll's own: calls, bytes, call sites, and when the ranks came; up to three runs, since the machine may be busy."""
    once = [("reduce", 2000), ("all_gather", 100), ("all_to_all", 40), ("reduce", 2400), ("all_gather", 140)]
    once = [("papcoll." + name, size) for name, size in once]
    wrong = once
    for _ in range(3):
        run()
        check_papcoll_calls(once * 3)
        wrong = [case for case in wrong if not median_skew_is_right(*case)]
        if not wrong:
            break
    check(not wrong, "the skews are not what was injected:", wrong)
    for operation, size in once:
        read_well("--operation", operation, "--bytes", size, "--calls-csv", folder / "out.csv")
        rows = list(csv.DictReader((folder / "out.csv").read_text().splitlines()))
        check(len(rows) == 3, operation, size, rows)
        for row in rows:
            check(int(row["skew_ns"]) > max(injected()) - TOLERANCE_NS and int(row["last_delay_ns"]) >= 0, row)
    listed = read_well("--site", pathlib.Path(arguments.program).name)
    check("papcoll.reduce" in listed and "papcoll.all_to_all" in listed, "the call sites are not in the program:", listed)


def bad_settings():
    for name, value in [("EVERY", "0"), ("EVERY", "two"), ("BUFFER", "-1"), ("RANKS", "3-1"), ("RANKS", "1,"),
                        ("RANKS", ""), ("BUFFER", "99999999999999999999"), ("TEST_OFFSET_NS", "1.5")]:
        failed = launch("delays", **{name: value})
        check(failed.returncode != 0 and f'PAPCOLL_TRACE_{name}="{value}": expected' in failed.stderr, failed.stderr)
    failed = launch("delays", FILE=folder / "missing" / "t")
    check(failed.returncode != 0 and "missing/t.0.trace: No such file" in failed.stderr, failed.stderr)
    failed = launch("delays", BUFFER="1000000000000000")
    check(failed.returncode != 0 and "PAPCOLL_TRACE_BUFFER=1000000000000000: there" in failed.stderr, failed.stderr)
    nobody = run("delays", RANKS="7")
    check("names none of the 3 ranks" in nobody.stderr and not files(), nobody.stderr)


def no_mpi():
    """The preload must not disturb programs on the way, such as shells and env."""
    environment = os.environ | {"LD_PRELOAD": arguments.tracer, "PAPCOLL_TRACE_FILE": f"{folder}/t"}
    done = subprocess.run(["sh", "-c", "echo fine"], env=environment, capture_output=True, text=True, timeout=20)
    check(done.returncode == 0 and done.stdout == "fine\n" and done.stderr == "", done)
    check(not files(), files())


def reader_errors():
    missing = read(inputs=[folder / "t.9.trace"])
    check(missing.returncode == 1 and "t.9.trace: cannot be opened" in missing.stderr, missing.stderr)
    run("delays")
    twice = read(inputs=[*files(), files()[0]])
    check(twice.returncode == 1 and "rank 0 is also in" in twice.stderr, twice.stderr)
    first = files()[0].read_bytes()
    run("delays")
    files()[0].write_bytes(first)
    mixed = read()
    check(mixed.returncode == 1 and "is of another run of the program than" in mixed.stderr, mixed.stderr)
    run("delays")
    for option in "--pattern", "--picture", "--ranks-csv", "--calls-csv":
        failed = read("--operation", "allreduce", option, folder / "missing" / "out")
        check(failed.returncode == 1 and "cannot be written" in failed.stderr, option, failed.stderr)
        failed = read("--operation", "alltoall", option, folder / "out")
        check(failed.returncode == 1 and "no calls were recorded" in failed.stderr, option, failed.stderr)
    files()[1].write_bytes(b"\x7fELF\0\1")
    failed = read()
    check(failed.returncode == 1 and re.search(r'read_trace: \S*t\.1\.trace:1: ', failed.stderr), failed.stderr)


def main():
    global arguments, folder
    parser = argparse.ArgumentParser()
    for option in "--tracer", "--reader", "--program":
        parser.add_argument(option, required=True)
    parser.add_argument("scenario")
    parser.add_argument("ranks", type=int)
    parser.add_argument("mpirun", nargs="+")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        scenario = globals()[arguments.scenario]
        try:
            scenario()
        except AssertionError as error:
            sys.exit(f"{arguments.scenario}: {error}")
    print("good")


if __name__ == "__main__":
    main()
