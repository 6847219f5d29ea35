#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""The simulation study of paper 5: all algorithms of SMPI under the arrival patterns, and papcoll's beside them.

    selection.py run RESULTS.csv [--hosts 32 --per-host 32] [--operations reduce,allreduce,alltoall] [--sizes 2,8,...]
    selection.py papcoll RESULTS.csv [the same]     papcoll's policies under the same patterns; after `run`
    selection.py tables RESULTS.csv...              Markdown: winners (figure 4), the claims made of them, robustness (figure 6)
    selection.py pictures RESULTS.csv... -o FOLDER  the winners as a picture

`run` goes on where it was stopped: a line of RESULTS.csv is one algorithm at one size (bytes of a rank's vector; for alltoall of
what goes to each rank) and one skew, with the last delay under each pattern in microseconds. Skews:

    none     no_delay alone
    mean1.5  1.5 times the mean no_delay time of all algorithms: figure 4
    mean1    that mean itself: figure 5                                  (at 8 B, 1 KiB and 1 MiB)
    own      the algorithm's own no_delay time: figure 6                 (at 8 B, 1 KiB and 1 MiB)

A line without times is one that failed or took longer than --limit; remove it to try again. Not measured under a skew s are
algorithms that cannot win there, since they need s and three times the time of the fastest algorithm even without delays; their
no_delay times count in the mean. SMPI's selectors (ompi, mpich, mvapich2, impi, default, automatic) are no algorithms of their own.
"""
import argparse
import csv
import json
import os
import pathlib
import selectors
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PATTERNS = ["no_delay", "ascending", "descending", "random", "first_delayed", "last_delayed", "bell", "valley", "half_delayed"]
COLUMNS = ["operation", "bytes", "algorithm", "skew", "skew_us", *PATTERNS]
ALGORITHMS = {
    "reduce": "binomial flat_tree mvapich2_knomial mvapich2_two_level NTSL ompi_basic_linear ompi_binary ompi_binomial ompi_chain "
              "ompi_in_order_binary ompi_pipeline rab scatter_gather arrival_pattern_aware".split(),
    "allreduce": "lr mvapich2_rs mvapich2_two_level ompi_ring_segmented rab rab_rdb rdb redbcast smp_binomial smp_binomial_pipeline "
                 "smp_rdb smp_rsag smp_rsag_lr smp_rsag_rab rab1 rab2".split(),
    "alltoall": "bruck 2dmesh 3dmesh rdb pair ring basic_linear mvapich2_scatter_dest pair_light_barrier pair_one_barrier "
                "pair_mpi_barrier ring_light_barrier ring_one_barrier ring_mpi_barrier pair_rma".split()}
POLICIES = {"reduce": ["automatic", "two_level", "circulant", "arrival_tree", "greedy_tree", "clairvoyant"],
            "allreduce": ["automatic", "two_level", "circulant", "arrival_all_reduce"],
            "alltoall": ["automatic", "two_level", "linear", "pairwise", "bruck", "linear_sync"]}
PAPCOLL_NAMES = {"reduce": "reduce", "allreduce": "all_reduce", "alltoall": "all_to_all"}
# Those that the paper names come first, so that a run that is stopped has them.
SIZES = [2, 8, 256, 1024, 32768, 1048576, 64, 8192, 262144, 4, 16, 32, 128, 512, 2048, 4096, 16384, 65536, 131072, 524288]
ROBUSTNESS_SIZES = (8, 1024, 1048576)


class Table:
    """The lines of a file of results, which every new line is added to at once."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.rows = {}
        if self.path.exists():
            with open(self.path, newline="") as file:
                for row in csv.DictReader(file):
                    times = [float(row[p]) if row[p] else None for p in PATTERNS]
                    self.rows[row["operation"], int(row["bytes"]), row["algorithm"], row["skew"]] = (float(row["skew_us"]), times)

    def add(self, operation, size, algorithm, skew, skew_us, times):
        self.rows[operation, size, algorithm, skew] = (skew_us, times)
        is_new = not self.path.exists()
        with open(self.path, "a", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if is_new:
                writer.writerow(COLUMNS)
            writer.writerow([operation, size, algorithm, skew, f"{skew_us:.10g}", *("" if t is None else f"{t:.10g}" for t in times)])

    def balanced(self, operation, size, all_of=False):
        """{algorithm: time without delays} of SMPI's algorithms, or of all."""
        return {a: times[0] for (o, s, a, skew), (_, times) in self.rows.items()
                if (o, s, skew) == (operation, size, "none") and times[0] is not None and (all_of or ":" not in a)}

    def column(self, operation, size, skew, pattern, all_of=False):
        """{algorithm: last delay under the pattern}; what was not measured there is missing."""
        if pattern == "no_delay":
            return self.balanced(operation, size, all_of)
        at = PATTERNS.index(pattern)
        return {a: times[at] for (o, s, a, k), (_, times) in self.rows.items()
                if (o, s, k) == (operation, size, skew) and times[at] is not None and (all_of or ":" not in a)}

    def sizes(self, operation, skew="mean1.5"):
        return sorted({s for (o, s, a, k), (_, times) in self.rows.items()
                       if o == operation and k == skew and times[1] is not None and ":" not in a})

    def operations(self):
        return [o for o in ALGORITHMS if any(key[0] == o for key in self.rows)]


class Cluster:
    """Hosts of some ranks each: 10 Gbit/s and 2 us between hosts, 10 Gbit/s and 1 us within."""

    def __init__(self, folder, hosts, per_host):
        self.ranks = hosts * per_host
        self.platform = folder / "platform.xml"
        text = (HERE / "platforms" / "nodes-32x32.xml").read_text()
        self.platform.write_text(text.replace('radical="0-31"', f'radical="0-{hosts - 1}"').replace('core="32"', f'core="{per_host}"'))
        self.hostfile = folder / "hostfile"
        self.hostfile.write_text("".join(f"host-{r // per_host}\n" for r in range(self.ranks)))

    def command(self, *options):
        return ["smpirun", "-np", str(self.ranks), "-platform", str(self.platform), "-hostfile", str(self.hostfile),
                "--cfg=smpi/simulate-computation:no", "--cfg=smpi/host-speed:10Gf", "--log=root.thres:critical", *options]


def build(folder, name, *sources):
    program = folder / name
    subprocess.run(["smpicxx", "-std=c++20", "-O2", "-s", "-fno-gnu-unique", f"-I{ROOT}/include", *map(str, sources), "-o", program], check=True)
    return program


def processor_seconds(group):
    """What the processes of a group have used so far."""
    used = 0
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group:
            used += sum(map(int, fields[11:15]))
    return used / os.sysconf("SC_CLK_TCK")


def lines_of(command, limit):
    """The lines a program prints, until one takes more processor time than the limit; it is ended then."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
    watched, pending, before = selectors.DefaultSelector(), b"", 0.0
    watched.register(child.stdout, selectors.EVENT_READ)
    try:
        while processor_seconds(child.pid) < before + limit:
            if not watched.select(2):
                continue
            chunk = os.read(child.stdout.fileno(), 65536)
            if not chunk:
                return
            *lines, pending = (pending + chunk).split(b"\n")
            for line in lines:
                yield line.decode()
                before = processor_seconds(child.pid)
    finally:
        if child.poll() is None:
            os.killpg(child.pid, 15)
        child.wait()


class Study:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.table = Table(options.results[0])
        self.cluster = Cluster(folder, options.hosts, options.per_host)

    def measure(self, program, operation, algorithm, tasks):
        """tasks: [(bytes, skew, its microseconds)]"""
        tasks = [t for t in tasks if (operation, t[0], algorithm, t[1]) not in self.table.rows]
        while tasks:
            words = [str(b) if skew == "none" else f"{b}:{round(us * 1000)}" for b, skew, us in tasks]
            print(f"{operation} {algorithm}: {' '.join(words)}", file=sys.stderr, flush=True)
            command = self.cluster.command("--cfg=smpi/privatization:no", "--cfg=smpi/wtime:0", f"--cfg=smpi/{operation}:{algorithm}",
                                           str(program), operation, str(self.options.seed), *words)
            for line in lines_of(command, self.options.limit):
                values = line.split()
                if not all(v.isdigit() for v in values):
                    continue  # what smpirun says of a program that failed
                (size, skew, us), tasks = tasks[0], tasks[1:]
                assert int(values[0]) == size, line
                # Numbers of bytes that are no int any more make times of ages.
                times = [int(v) / 1000 if int(v) < 10**12 else None for v in values[2:]]
                self.table.add(operation, size, algorithm, skew, us, times + [None] * (len(PATTERNS) - len(times)))
            if tasks:  # failed, or took too long; so will all that are larger
                given_up = tasks[0][0]
                for size, skew, us in [t for t in tasks if t[0] >= given_up]:
                    self.table.add(operation, size, algorithm, skew, us, [None] * len(PATTERNS))
                tasks = [t for t in tasks if t[0] < given_up]

    def skewed(self, operation, algorithm, sizes):
        tasks = []
        for size in sizes:
            together = self.table.balanced(operation, size)
            if algorithm not in together:
                continue
            mean, own, least = statistics.mean(together.values()), together[algorithm], min(together.values())
            for skew, us in (("mean1.5", 1.5 * mean), ("mean1", mean), ("own", own)):
                if (skew == "mean1.5" or size in ROBUSTNESS_SIZES) and (skew == "own" or own <= us + 3 * least):
                    tasks.append((size, skew, us))
        return tasks

    def run(self):
        program = self.options.program or build(self.folder, "selection", HERE / "selection.cpp")
        chosen, step = self.options.sizes, self.options.at_once
        for operation in self.options.operations:
            for sizes in [chosen[i:i + step] for i in range(0, len(chosen), step)]:
                for algorithm in ALGORITHMS[operation]:
                    self.measure(program, operation, algorithm, [(size, "none", 0) for size in sizes])
                for algorithm in ALGORITHMS[operation]:
                    self.measure(program, operation, algorithm, self.skewed(operation, algorithm, sizes))

    def papcoll(self):
        program = self.options.program or build(self.folder, "papcoll-bench", HERE / "main.cpp", *(ROOT / "bench" / path for path in (
            "support/options.cpp", "support/program.cpp", "run/run.cpp", "run/operations.cpp")))
        for operation in self.options.operations:
            for size in self.options.sizes:
                together = self.table.balanced(operation, size)
                if size < 4 or size % 4 or not together:
                    continue  # it measures floats
                for policy in POLICIES[operation]:
                    self.policy(program, operation, size, policy, 1.5 * statistics.mean(together.values()))

    def policy(self, program, operation, size, policy, skew_us):
        name = f"papcoll:{policy}"
        if (operation, size, name, "mean1.5") in self.table.rows:
            return
        print(f"{operation} {size} {name}", file=sys.stderr, flush=True)
        total = size * (self.cluster.ranks if operation == "alltoall" else 1)
        result = self.folder / "papcoll.json"
        result.unlink(missing_ok=True)
        command = self.cluster.command(str(program), "run", "--operation", PAPCOLL_NAMES[operation], "--policies", policy, "--sizes", str(total),
                                       "--repetitions", "1", "--magnitudes", "1", "--base", f"{skew_us / 1000:.6f}",
                                       "--seed", str(self.options.seed), "--json", str(result))
        for _ in lines_of(command, self.options.limit):
            pass
        times = [None] * len(PATTERNS)
        if result.exists():
            for row in json.loads(result.read_text())["rows"]:
                times[PATTERNS.index(row["pattern"])] = 1000 * row["last_delay_ms"]["median"]
        self.table.add(operation, size, name, "none", 0, times[:1] + [None] * (len(PATTERNS) - 1))
        self.table.add(operation, size, name, "mean1.5", skew_us, times)


def winner(delays):
    return min(delays, key=lambda name: (round(delays[name], 3), name))


def cell(table, operation, size, pattern, all_of=False):
    """(the best algorithm, its last delay ÷ that of the algorithm that is best without delays), or None"""
    delays = table.column(operation, size, "mean1.5", pattern, all_of)
    together = table.balanced(operation, size)
    blind = winner(together) if together else None
    if blind not in delays:
        return None
    best = winner(delays)
    return best, delays[best] / delays[blind]


def size_name(size):
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB" if size >= 1 << 10 else f"{size} B"


def winners_table(table, operation, all_of):
    sizes = table.sizes(operation)
    lines = ["| pattern | " + " | ".join(map(size_name, sizes)) + " |", "| --- |" + " --- |" * len(sizes)]
    for pattern in PATTERNS[::-1]:
        found = [cell(table, operation, size, pattern, all_of) for size in sizes]
        lines.append(f"| {pattern} | " + " | ".join(f"{f[0]} {f[1]:.2f}" if f else "" for f in found) + " |")
    return lines


def robustness(table, operation, size):
    """{algorithm: [last delay under each pattern ÷ that without delays − 1]}, its skew being its own time."""
    rows = {a: times for (o, s, a, k), (_, times) in table.rows.items() if (o, s, k) == (operation, size, "own") and times[1] is not None}
    return {a: [t / times[0] - 1 for t in times[1:]] for a, times in sorted(rows.items())}


def robustness_table(table, operation):
    lines = []
    for size in ROBUSTNESS_SIZES:
        rows = robustness(table, operation, size)
        if not rows:
            continue
        cells = [c for row in rows.values() for c in row]
        lines += [f"{operation}, {size_name(size)}: of {len(cells)} cells {sum(c < -0.25 for c in cells)} absorb (below −25 %), "
                  f"{sum(c > 0.25 for c in cells)} suffer (above +25 %).", "",
                  "| algorithm | " + " | ".join(PATTERNS[1:]) + " |", "| --- |" + " --- |" * (len(PATTERNS) - 1)]
        lines += [f"| {a} | " + " | ".join(f"**{c:+.2f}**" if abs(c) > 0.25 else f"{c:+.2f}" for c in row) + " |" for a, row in rows.items()]
        lines.append("")
    return lines


def tie_table(table, operation):
    """Figure 5: for each size and pattern the algorithms within 5 % of the fastest, skew: the mean."""
    sizes = [s for s in ROBUSTNESS_SIZES if s in table.sizes(operation, "mean1")]
    if not sizes:
        return []
    lines = ["| pattern | " + " | ".join(map(size_name, sizes)) + " |", "| --- |" + " --- |" * len(sizes)]
    for pattern in PATTERNS:
        good = []
        for size in sizes:
            delays = table.column(operation, size, "mean1", pattern)
            least = min(delays.values())
            good.append(", ".join(f"{a} {d:.4g}" for a, d in sorted(delays.items(), key=lambda d: d[1]) if d <= 1.05 * least))
        lines.append(f"| {pattern} | " + " | ".join(good) + " |")
    return [*lines, ""]


def changes(table, operation):
    """How often patterns change the winner, and what that gains."""
    found = [(cell(table, operation, size, pattern), size) for size in table.sizes(operation) for pattern in PATTERNS[1:]]
    cells = [(c, size) for c, size in found if c]
    if not cells:
        return ""
    gains = [c[1] for c, _ in cells]
    other = sum(c[0] != winner(table.balanced(operation, size)) for c, size in cells)
    return (f"{operation}: in {other} of {len(cells)} cells another algorithm than without delays is best; best ÷ choice without delays: geometric mean "
            f"{statistics.geometric_mean(gains):.2f}, least {min(gains):.2f}, below 0.8 in {sum(g < 0.8 for g in gains)}.")


def tables(options):
    for path in options.results:
        table = Table(path)
        for operation in table.operations():
            gone = sorted({f"{a} ({size_name(s)})" for (o, s, a, k), (_, t) in table.rows.items() if o == operation and k == "none" and t[0] is None})
            print(f"## {operation} ({path})\n\n{changes(table, operation)}\n")
            print("\n".join(winners_table(table, operation, False)) + "\n")
            if any(":" in key[2] and key[0] == operation for key in table.rows):
                print("With papcoll's policies among them:\n\n" + "\n".join(winners_table(table, operation, True)) + "\n")
            print("\n".join(tie_table(table, operation) + robustness_table(table, operation)))
            print("Failed, or took too long: " + (", ".join(gone) or "none") + "\n")


def pictures(options):
    try:
        import matplotlib
    except ImportError:
        sys.exit("selection.py: matplotlib is missing; on Debian: apt-get install python3-matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    for path in options.results:
        table = Table(path)
        for operation in table.operations():
            for all_of in (False, True) if any(":" in k[2] and k[0] == operation and t[0] for k, (_, t) in table.rows.items()) else (False,):
                draw(plt, table, operation, all_of, options.output / f"{pathlib.Path(path).stem}-{operation}{'-papcoll' if all_of else ''}.png")


def draw(plt, table, operation, all_of, path):
    sizes, patterns = table.sizes(operation), PATTERNS[1:] + PATTERNS[:1]
    cells = {(i, j): cell(table, operation, size, pattern, all_of) for i, pattern in enumerate(patterns) for j, size in enumerate(sizes)}
    names = sorted({c[0] for c in cells.values() if c})
    colour = {name: plt.get_cmap("tab20")(i % 20) for i, name in enumerate(names)}
    figure, axes = plt.subplots(figsize=(3.5 + 0.52 * len(sizes), 3.4), layout="constrained")
    for (i, j), c in cells.items():
        if c:
            axes.add_patch(plt.Rectangle((j - 0.5, i - 0.5), 1, 1, color=colour[c[0]]))
            axes.text(j, i, f"{c[1]:.2f}", ha="center", va="center", fontsize=7)
    axes.set(xlim=(-0.5, len(sizes) - 0.5), ylim=(len(patterns) - 0.5, -0.5), title=f"{operation}: best algorithm; ÷ the best without delays")
    axes.set_xticks(range(len(sizes)), map(size_name, sizes), rotation=60, fontsize=7)
    axes.set_yticks(range(len(patterns)), patterns, fontsize=7)
    axes.legend([plt.Rectangle((0, 0), 1, 1, color=colour[n]) for n in names], names, fontsize=6, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path, dpi=80)
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("run", "papcoll", "tables", "pictures"))
    parser.add_argument("results", nargs="+", help="a file of results")
    parser.add_argument("--hosts", type=int, default=32)
    parser.add_argument("--per-host", type=int, default=32)
    parser.add_argument("--operations", type=lambda t: t.split(","), default=list(ALGORITHMS))
    parser.add_argument("--sizes", type=lambda t: [int(s) for s in t.split(",")], default=SIZES)
    parser.add_argument("--at-once", type=int, default=6, help="sizes that are finished before the next are begun")
    parser.add_argument("--limit", type=float, default=120, help="seconds of processor time for a line of results")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--program", type=pathlib.Path, help="built before; default: it is built")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("."))
    options = parser.parse_args()
    if options.command in ("run", "papcoll"):
        with tempfile.TemporaryDirectory() as folder:
            getattr(Study(options, pathlib.Path(folder)), options.command)()
    else:
        {"tables": tables, "pictures": pictures}[options.command](options)


if __name__ == "__main__":
    main()
