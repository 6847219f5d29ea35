#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""The pattern study: which algorithm stays good when ranks come late? (after the selection study in paper 5)

    sudo bench/cluster/cluster.sh up 8 100mbit
    sudo bench/pattern_study.py build/release/bench/papcoll-bench results -- bench/cluster/cluster.sh run 8
    bench/pattern_study.py build/release/bench/papcoll-bench results --quick -- mpirun -n 4

What follows -- takes a program and its arguments and runs it. For every operation and size, all in turn in the same runs:
the MPI library's default (native), its nonblocking routine (inative), papcoll's policies that use neither arrivals nor the
memory of a node, and with Open MPI each of its algorithms (native:NUMBER). First all ranks together; then under the
patterns, at multiples of the mean time of all these algorithms together. There only those count that took at most --slow
times the fastest one's time before, and always native and inative, so that a table can name the library however slow its
routine is.

Each run is a file in FOLDER/parts; what is there is not measured again, so the study goes on where it was stopped. Then (and
without -- and a command only this, of all parts of these operations and sizes) it writes into FOLDER
    tuning.json     the table for PAPCOLL_TUNING_FILE, by tune.py's robust rule; no_delay.json by the winner of no_delay
    summary.md      the robust choices against the best in hindsight, and against the library's default
    delays.csv      medians of last delay and total delay (first arrival to last exit) of all cells
    *.png           the pictures of plot.py study (where matplotlib is installed, and without --no-pictures)
"""
import argparse
import csv
import itertools
import json
import math
import os
import pathlib
import shlex
import shutil
import statistics
import subprocess
import sys

import tune

OUR_POLICIES = {
    "reduce": ["circulant", "binomial_tree", "fibonacci_tree", "greedy_tree"],
    "broadcast": ["circulant", "binomial_tree", "fibonacci_tree", "greedy_tree"],
    "all_gather": ["circulant", "ring", "neighbor_exchange", "linear"],
    "all_reduce": ["circulant"],
    "all_to_all": ["linear", "pairwise", "bruck", "linear_sync"],
}
# Those that any even number of ranks can use.
OPEN_MPI = {"reduce": range(1, 8), "broadcast": range(1, 10), "all_gather": range(1, 6), "all_reduce": range(1, 7),
            "all_to_all": range(1, 5)}
PATTERNS = ["ascending", "descending", "random", "first_delayed", "last_delayed", "bell", "valley", "half_delayed"]
START_SECONDS = 0.01  # of each call: agreement on a start, check of the result
# Targets: default ÷ robust choice, geometric mean over patterns and sizes, where each size counts the same.
WANTED = {"reduce": 2.5, "broadcast": 4.0, "all_gather": 1.3, "all_reduce": 1.4}
WANTED_HINDSIGHT = 1.10


def listed(kind):
    return lambda text: [kind(item) for item in text.split(",")]


def parse():
    parser = argparse.ArgumentParser(description="Measures collectives under arrival patterns, and chooses",
                                     epilog="After -- comes the command that takes a program and its arguments and runs it.")
    parser.add_argument("program", type=pathlib.Path, help="papcoll-bench, built")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--operations", type=listed(str), default=list(OUR_POLICIES))
    parser.add_argument("--sizes", type=listed(int), default=[16384, 131072, 1048576], help="numbers of floats")
    parser.add_argument("--patterns", type=listed(str), default=PATTERNS)
    parser.add_argument("--magnitudes", type=listed(float), default=[0.5, 1.0, 1.5],
                        help="multiples of the mean time of all algorithms without delays")
    parser.add_argument("--recorded", type=pathlib.Path, help="one more pattern: a file of arrivals, such as papcoll-read-trace writes")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--unmeasured", type=int, default=1, help="calls before each row")
    parser.add_argument("--slow", type=float, default=3.0)
    parser.add_argument("--no-open-mpi", action="store_true", help="no forced algorithms: another MPI library")
    parser.add_argument("--seconds", type=float, default=45, help="what a run may take, about: patterns are divided into such runs")
    parser.add_argument("--prefix", default="", help="a command put before every run, such as 'chrt --fifo 10'")
    parser.add_argument("--seed", type=int, default=1, help="of the random pattern")
    parser.add_argument("--quick", action="store_true", help="one small size, two patterns, one magnitude, one repetition")
    parser.add_argument("--fresh", action="store_true", help="measure again what is there")
    parser.add_argument("--no-pictures", action="store_true")
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options = parser.parse_args(sys.argv[1:end])
    options.launch = sys.argv[end + 1:]
    if options.quick:
        options.sizes, options.magnitudes, options.repetitions = [4096], [1.0], 1
        options.patterns = ["ascending", "last_delayed"]
    unknown = [name for name in options.operations if name not in OUR_POLICIES]
    if unknown:
        parser.error(f"no operation {unknown[0]}: {', '.join(OUR_POLICIES)}")
    return options


class Study:
    def __init__(self, options):
        self.options = options
        self.parts = options.folder / "parts"
        if options.fresh:
            shutil.rmtree(self.parts, ignore_errors=True)
        self.parts.mkdir(parents=True, exist_ok=True)
        self.failed = []

    def policies(self, operation):
        forced = [] if self.options.no_open_mpi else [f"native:{k}" for k in OPEN_MPI[operation]]
        return ["native", "inative", *OUR_POLICIES[operation], *forced]

    def measure(self, name, *words):
        """The rows of a part; none if it failed."""
        path = self.parts / f"{name}.json"
        if not path.exists():
            print("==", name, flush=True)
            command = [*shlex.split(self.options.prefix), *self.options.launch, str(self.options.program.resolve()), "run",
                       "--seed", str(self.options.seed), "--json", str(path.resolve()), *map(str, words)]
            environment = os.environ | {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1"}
            with open(path.with_suffix(".txt"), "w") as output:
                done = subprocess.run(command, env=environment, stdout=output)
            if done.returncode != 0:
                path.unlink(missing_ok=True)
                self.failed.append(name)
                return []
        return json.loads(path.read_text())["rows"]

    def study(self, operation, size):
        o = self.options
        name = f"{operation}-{size}"
        common = ["--operation", operation, "--sizes", f"{size}f"]
        rows = self.measure(f"{name}-no_delay", *common, "--policies", ",".join(self.policies(operation)),
                            "--balanced-only", "--repetitions", o.repetitions)
        if not rows:
            return
        together = {row["policy"]: row["last_delay_ms"]["median"] for row in rows}
        base = statistics.mean(row["run_time_ms"]["median"] for row in rows)
        kept = [p for p, ms in together.items() if p in ("native", "inative") or ms <= o.slow * min(together.values())]
        common += ["--policies", ",".join(kept), "--patterns-only", "--repetitions", o.repetitions,
                   "--warm-up", o.unmeasured]
        for factors, patterns in self.runs([together[p] for p in kept], base):
            part = f"{name}-x{'+'.join(f'{f:g}' for f in factors)}-{patterns[0]}-{len(patterns)}"
            self.measure(part, *common, "--base", f"{base:.6f}", "--patterns", ",".join(patterns),
                         "--magnitudes", ",".join(f"{f:g}" for f in factors))
        if o.recorded:
            self.measure(f"{name}-recorded", *common, "--base", f"{base:.6f}", "--arrivals", o.recorded.resolve())

    def runs(self, times, base):
        """Divides magnitudes × patterns into runs that take about the seconds that were asked for."""
        o = self.options
        calls = o.repetitions + o.unmeasured

        def seconds(factor):
            return calls * sum(START_SECONDS + (ms + 0.7 * factor * base) / 1000 for ms in times)

        if len(o.patterns) * sum(map(seconds, o.magnitudes)) <= o.seconds:
            return [(o.magnitudes, o.patterns)]
        result = []
        for factor in o.magnitudes:
            most = max(1, int(o.seconds / seconds(factor)))
            count = math.ceil(len(o.patterns) / math.ceil(len(o.patterns) / most))
            result += [([factor], o.patterns[i:i + count]) for i in range(0, len(o.patterns), count)]
        return result

    def files(self):
        return [path for operation, size in itertools.product(self.options.operations, self.options.sizes)
                for path in sorted(self.parts.glob(f"{operation}-{size}-*.json"))]


def write_csv(path, files):
    with open(path, "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["operation", "ranks", "floats", "pattern", "factor", "policy", "last_delay_ms", "least", "most", "total_delay_ms"])
        for file in files:
            document = json.loads(file.read_text())
            for row in document["rows"]:
                delay = row["last_delay_ms"]
                writer.writerow([row["operation"], document["ranks"], row["elements"], row["pattern"], f'{row["factor"]:g}', row["policy"],
                                 *(f"{delay[k]:.4g}" for k in ("median", "min", "max")), f'{row["run_time_ms"]["median"]:.4g}'])


def compare(policies, chosen):
    """choice ÷ best in hindsight without delays and under every pattern; default ÷ choice, default ÷ best under every pattern."""
    policies, columns = tune.comparable(policies)
    best = {c: min(d[c] for d in policies.values()) for c in columns}
    hindsight = [policies[chosen][c] / best[c] for c in columns]
    default = policies["native:blocking" if "native:blocking" in policies else "native"]
    patterns = [c for c in columns if c[0] != "no_delay"]
    return hindsight, [default[c] / policies[chosen][c] for c in patterns], [default[c] / best[c] for c in patterns]


def mark(value, good):
    return f"{value:.2f}" if good else f"**{value:.2f}**"


def summary(cells, tables):
    """Markdown. tables: {rule: entries of tune.choose}; cells without patterns are left out."""
    lines = ["Bold: misses the target. Hindsight: last delay ÷ the least of all algorithms, the library's forced ones among them, mean over",
             "no_delay and the patterns (wanted: 1.10) and worst; default ÷ robust: geometric mean over the patterns, and least.", "",
             "| operation | floats | robust choice | ÷ hindsight, mean | worst | no-delay choice | ÷ hindsight, mean | default ÷ robust | least |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    gains, together = {}, {(e["operation"], e["ranks"], e["bytes"]): e["policy"] for e in tables["balanced"]}
    for entry in tables["robust"]:
        key = (entry["operation"], entry["ranks"], entry["bytes"])
        hindsight, faster, most = compare(cells[key], entry["policy"])
        blind = compare(cells[key], together[key])[0]
        if not faster:
            continue
        mean = statistics.mean(hindsight)
        gains.setdefault(entry["operation"], []).append((statistics.geometric_mean(faster), statistics.geometric_mean(most)))
        lines.append(f'| {key[0]} | {key[2] // 4} | {entry["policy"]} | {mark(mean, mean <= WANTED_HINDSIGHT)} | {max(hindsight):.2f} | '
                     f'{together[key]} | {statistics.mean(blind):.2f} | {statistics.geometric_mean(faster):.2f} | {min(faster):.2f} |')
    lines += ["", "| operation | default ÷ robust, geometric mean over the sizes | wanted | default ÷ hindsight |", "| --- | --- | --- | --- |"]
    for operation, of_sizes in gains.items():
        (mean, most), wanted = map(statistics.geometric_mean, zip(*of_sizes)), WANTED.get(operation)
        lines.append(f"| {operation} | {mark(mean, wanted is None or mean >= wanted)} | {wanted or '-'} | {most:.2f} |")
    return "\n".join(lines) + "\n"


def evaluate(options, files):
    # A recorded pattern is shown, but it does not choose.
    cells = {cell: {policy: {column: ms for column, ms in delays.items() if column[0] != "file"} for policy, delays in policies.items()}
             for cell, policies in tune.cells_of(files).items()}
    tables = {rule: tune.choose(cells, rule) for rule in ("robust", "balanced")}
    for rule, name in (("robust", "tuning.json"), ("balanced", "no_delay.json")):
        (options.folder / name).write_text(tune.table_of(tables[rule], rule))
    write_csv(options.folder / "delays.csv", files)
    text = summary(cells, tables)
    (options.folder / "summary.md").write_text(text)
    print(text)
    if options.no_pictures:
        return
    try:
        import matplotlib  # noqa: F401  (whether it is there)
    except ImportError:
        print("pattern_study.py: no pictures without matplotlib", file=sys.stderr)
        return
    here = pathlib.Path(__file__).resolve().parent
    subprocess.run([sys.executable, here / "plot.py", "study", *files, "-o", options.folder], check=True)


def main():
    options = parse()
    study = Study(options)
    if options.launch:
        for size, operation in itertools.product(options.sizes, options.operations):
            study.study(operation, size)
    files = study.files()
    if not files and study.failed:
        sys.exit("pattern_study.py: failed: " + ", ".join(study.failed))
    if not files:
        sys.exit(f"pattern_study.py: nothing was measured in {study.parts}: after -- comes the command that runs papcoll-bench")
    evaluate(options, files)
    if study.failed:
        sys.exit("pattern_study.py: failed: " + ", ".join(study.failed))


if __name__ == "__main__":
    main()
