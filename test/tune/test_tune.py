#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Tests bench/tune.py: test_tune.py TUNE_PROGRAM [PROGRAM_THAT_READS_A_TABLE]"""
import json
import pathlib
import subprocess
import sys
import tempfile

TUNE = sys.argv[1]
READER = sys.argv[2] if len(sys.argv) > 2 else None


def row(policy, pattern, delay, operation="reduce", size=1024, factor=1.0):
    return {"operation": operation, "policy": policy, "bytes": size, "pattern": pattern,
            "factor": 0 if pattern == "no_delay" else factor, "last_delay_ms": {"median": delay}}


def run(*arguments, documents):
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for i, document in enumerate(documents):
            path = pathlib.Path(folder) / f"result{i}.json"
            path.write_text(document if isinstance(document, str) else json.dumps(document))
            paths.append(str(path))
        return subprocess.run([sys.executable, TUNE, *paths, *arguments], capture_output=True, text=True)


def table(*arguments, documents):
    done = run(*arguments, documents=documents)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["papcoll_tuning"] == 1
    return result["choices"]


def choice(rule, rows):
    entries = table("--rule", rule, documents=[{"ranks": 8, "rows": rows}])
    assert len(entries) == 1
    return entries[0]["policy"]


# quick is best together and terrible once; steady is never far off; slow has the least sum of nothing
ROWS = [row("quick", "no_delay", 1.0), row("steady", "no_delay", 1.5), row("slow", "no_delay", 4.0),
        row("quick", "ascending", 9.0), row("steady", "ascending", 3.0), row("slow", "ascending", 3.1),
        row("quick", "random", 2.0), row("steady", "random", 2.2), row("slow", "random", 2.1)]
assert choice("balanced", ROWS) == "quick"
assert choice("robust", ROWS) == "steady"
assert choice("minimax", ROWS) == "steady"
assert choice("total", ROWS) == "steady"

# What was not measured together says nothing of who is best together.
blind = run("--rule", "balanced", documents=[{"ranks": 8, "rows": [r for r in ROWS if r["pattern"] != "no_delay"]}])
assert blind.returncode == 1 and "balanced needs rows without delays" in blind.stderr, blind.stderr
nothing = run(documents=[{"ranks": 8, "rows": []}])
assert nothing.returncode == 1 and "nothing was measured" in nothing.stderr, nothing.stderr
nowhere = run("-o", "/nowhere/table.json", documents=[{"ranks": 8, "rows": ROWS}])
assert nowhere.returncode == 1 and "cannot write /nowhere/table.json" in nowhere.stderr, nowhere.stderr

# The robust rule is a mean of quotients: one absurd pattern in milliseconds does not decide.
DOMINATED = [row("a", "no_delay", 1.0), row("b", "no_delay", 2.0), row("a", "ascending", 1.0), row("b", "ascending", 2.0),
             row("a", "random", 1000.0), row("b", "random", 900.0)]
assert choice("robust", DOMINATED) == "a"
assert choice("total", DOMINATED) == "b"

# What was told the arrivals, and what no table can name, does not count either.
def quick(name):
    return [row(name, "no_delay", 0.1), row(name, "ascending", 0.1), row(name, "random", 0.1)]


for told in ("sorted_linear", "circulant@reversed", "stragglar", "native:3"):
    assert choice("robust", ROWS + quick(told)) == "steady", told
assert choice("robust", ROWS + [dict(r, operation="reduce_value") for r in quick("tree")]) == "steady"

# Open MPI's chains have four arms where they are forced, which the file must say.
CHAIN = [row(name, "no_delay", delay, operation="broadcast") for name, delay in (("native", 2.0), ("native:2", 1.0))]
done = run("--for", "open-mpi", documents=[{"ranks": 8, "rows": CHAIN}])
assert done.returncode == 0 and "\n0 2 4 0\n" in done.stdout, done

# A policy that misses a pattern does not count, however fast it was.
assert choice("robust", ROWS + [row("untested", "no_delay", 0.1)]) == "steady"

# What a table cannot name is no candidate, but counts in hindsight; native is what was measured as nonblocking.
told = table(documents=[{"ranks": 8, "rows": ROWS + [
    row(policy, pattern, 0.5) for policy in ("clairvoyant", "native:ring", "native") for pattern in
    ("no_delay", "ascending", "random")] + [row("inative", p, 9.0) for p in ("no_delay", "ascending", "random")]}])[0]
assert told["policy"] == "steady" and set(told["evidence"]["scores"]) >= {"native", "steady"}, told
assert told["evidence"]["scores"]["native"] == 18 and "clairvoyant" in told["evidence"]["scores"]
assert told["evidence"]["mean_over_best_in_hindsight"] > 4
done = run(documents=[{"ranks": 8, "rows": [row("clairvoyant", "no_delay", 1.0)]}])
assert done.returncode != 0 and "can name" in done.stderr, done.stderr

# Files are put together; cells are kept apart by operation, ranks and bytes.
entries = table(documents=[{"ranks": 8, "rows": ROWS}, {"ranks": 16, "rows": ROWS},
                           {"ranks": 8, "rows": [row("ring", "no_delay", 1.0, "all_gatherv_mod3", 64)]},
                           {"ranks": 8, "rows": [row("circulant", "no_delay", 1.0, "all_gather", 64)]}])
assert [(e["operation"], e["ranks"], e["policy"]) for e in entries] == [
    ("all_gather", 8, "circulant"), ("reduce", 8, "steady"), ("reduce", 16, "steady")], entries
evidence = entries[1]["evidence"]
assert evidence["patterns"] == 3 and list(evidence["scores"])[0] == "steady"
assert abs(evidence["mean_over_best_in_hindsight"] - (1.5 + 1.0 + 1.1) / 3) < 1e-3

# The same policy measured twice: the better run counts.
twice = [row("a", "no_delay", 5.0), row("b", "no_delay", 2.0), row("a", "no_delay", 1.0)]
assert choice("balanced", twice) == "a"

# Mistakes end with a message that names the file.
for broken in ("", "{", "[]", '{"ranks": 8}', '{"ranks": 8, "rows": [{}]}', '{"ranks": 8, "rows": [5]}'):
    done = run(documents=[broken])
    assert done.returncode != 0 and "result0.json" in done.stderr and "Traceback" not in done.stderr, (broken, done.stderr)
done = subprocess.run([sys.executable, TUNE, "/nowhere.json"], capture_output=True, text=True)
assert done.returncode != 0 and "/nowhere.json" in done.stderr

# Rules for Open MPI: the library's own algorithms alone; the nearest size counts; up to twice and down to half of the measured ranks.
OWN = [row(policy, pattern, delay, size=size) for size, best in ((1024, "native:6"), (4096, "native:2"), (16384, "native:2"), (65536, "native"))
       for pattern in ("no_delay", "ascending") for policy in ("native", "native:2", "native:6", "circulant")
       for delay in [0.5 if policy == "circulant" else 1.0 if policy == best else 2.0]]


def rules(ranks, rows, *arguments):
    done = run("--for", "open-mpi", *arguments, documents=[{"ranks": r, "rows": rows} for r in ranks])
    assert done.returncode == 0, done.stderr
    return [line.partition("#")[0].split() for line in done.stdout.splitlines()]


assert rules([8], OWN) == [["1"], ["11"], ["3"], ["1", "1"], ["0", "0", "0", "0"],
                           ["4", "3"], ["0", "6", "0", "0"], ["2049", "2", "4", "0"], ["32769", "0", "0", "0"],
                           ["17", "1"], ["0", "0", "0", "0"]]
# Between 8 and 16 ranks the nearest counts, between 8 and 64 the library decides from 17 to 31.
assert [words[0] for words in rules([8, 16], OWN) if len(words) == 2] == ["1", "4", "12", "33"]
assert [words[0] for words in rules([8, 64], OWN) if len(words) == 2] == ["1", "4", "17", "32", "129"]
done = run("--for", "open-mpi", documents=[{"ranks": 8, "rows": ROWS}])
assert done.returncode != 0 and "native:*" in done.stderr, done.stderr
done = run("--for", "open-mpi", documents=[{"ranks": 8, "rows": [row(p, "no_delay", 1.0) for p in ("native", "native:binomial")]}])
assert done.returncode != 0 and "another MPI library" in done.stderr, done.stderr

# Rules for MPICH: within its own selection, with its own choice where an algorithm is none.
LEAF = {"algorithm=MPIR_Reduce_intra_binomial": {}}
DEFAULT = {"collective=bcast": {"algorithm=MPIR_Bcast_intra_binomial": {}}, "collective=reduce": {"comm_type=intra": LEAF, "comm_type=inter": {}}}


def mpich(best, library=b""):
    with tempfile.TemporaryDirectory() as folder:
        default = pathlib.Path(folder) / "default"
        default.write_bytes(library + json.dumps(DEFAULT, separators=(",", ":")).encode() + (b"\0more" if library else b""))
        policies = ("native", "native:auto", "native:smp", "native:reduce_scatter_gather")
        done = run("--for", "mpich", "--default", str(default), documents=[{"ranks": 8, "rows": [
            row(p, "no_delay", 1.0 if p == best else 2.0, size=size) for size in (1024, 4096) for p in policies]}])
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


for library in (b"", b'\x7fELF{"collective=bcast":{"composition=other":{}}}\0'):
    tree, told = mpich("native:reduce_scatter_gather", library)
    assert "MPIR_CVAR_REDUCE_DEVICE_COLLECTIVE=0" in told, told
    assert tree["collective=bcast"] == DEFAULT["collective=bcast"] and tree["collective=reduce"]["comm_type=inter"] == {}
    sizes = tree["collective=reduce"]["comm_type=intra"]
    assert list(sizes) == ["comm_size<4", "comm_size<17", "comm_size=any"] and sizes["comm_size<4"] == sizes["comm_size=any"] == LEAF, sizes
    assert sizes["comm_size<17"] == {"avg_msg_size=any": {"is_op_built_in=yes": {"count<pow2": LEAF, "count=any": {
        "algorithm=MPIR_Reduce_intra_reduce_scatter_gather": {}}}, "is_op_built_in=no": LEAF}}, sizes
# What MPICH's device does is not given up where it is better.
tree, told = mpich("native")
assert tree == DEFAULT and "left to MPICH" in told and "DEVICE_COLLECTIVE" not in told, told

# What it writes is what the library reads.
if READER:
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / "result.json"
        result.write_text(json.dumps({"ranks": 8, "rows": ROWS}))
        tuned = pathlib.Path(folder) / "tuning.json"
        subprocess.run([sys.executable, TUNE, str(result), "-o", str(tuned)], check=True)
        out = subprocess.run([READER, str(tuned), "reduce", "8", "1024"], check=True, capture_output=True, text=True)
        assert out.stdout.strip() == "steady", out.stdout
print("ok")
