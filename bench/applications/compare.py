#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Does a choice made on artificial patterns help an application? (after the last part of paper 5)

    sudo bench/cluster/cluster.sh up 8 100mbit
    sudo bench/applications/compare.py build/release STUDY RESULTS -- bench/cluster/cluster.sh run 8

STUDY is the folder of bench/pattern_study.py for the same ranks: its tables are used, and its times for predictions. Nothing that
is measured here enters a table. For the FFT (all-to-all, its ranks delayed by shapes) and the Buddhabrot (reduce, its ranks late
by themselves) it
    traces one run, and writes the recorded pattern and its picture into RESULTS: fft.txt, fft.svg, buddhabrot.txt, buddhabrot.svg
    runs the application with the MPI library's default, the choices of both tables, and each of papcoll's policies
    writes RESULTS/applications.md: run times by choice, the best in hindsight, and predicted against actual times

Each run is a file in RESULTS/parts; what is there is not run again.
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import tune

SHAPES = ["ascending", "descending", "random", "first_delayed", "last_delayed", "bell", "valley", "half_delayed"]
ALL_TO_ALL = ["linear", "pairwise", "bruck", "linear_sync"]
REDUCE = ["native", "circulant", "binomial_tree", "greedy_tree", "fibonacci_tree"]
DEFAULT = "native:blocking"  # in tune.py's cells, where native is the nonblocking routine that a table calls so
COMPLEX_BYTES = 16


def parse():
    parser = argparse.ArgumentParser(description="Compares choices of algorithms by the run time of applications",
                                     epilog="After -- comes the command that takes a program and its arguments and runs it.")
    parser.add_argument("build", type=pathlib.Path, help="the build folder: bench/fft, examples/buddhabrot, the tracer and its reader")
    parser.add_argument("study", type=pathlib.Path)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=8, help="that the command starts")
    parser.add_argument("--applications", type=lambda text: text.split(","), default=["fft", "buddhabrot"])
    parser.add_argument("--grids", default="64,32", help="of the FFT: cubes of so many points a side")
    parser.add_argument("--iterations", type=int, default=5, help="of the FFT")
    parser.add_argument("--repetitions", type=int, default=3, help="of the FFT")
    parser.add_argument("--shapes", type=lambda text: text.split(","), default=SHAPES)
    parser.add_argument("--per-run", type=int, default=3, help="shapes that one run of the FFT goes through")
    parser.add_argument("--buddhabrot", default="--width 512 --frames 6 --samples 1000000", help="its options")
    parser.add_argument("--width", type=int, default=512, help="in those options")
    parser.add_argument("--reduce", type=lambda text: text.split(","), default=REDUCE, help="the policies to try in the Buddhabrot")
    parser.add_argument("--prefix", default="", help="a command put before every run")
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options = parser.parse_args(sys.argv[1:end])
    options.launch = sys.argv[end + 1:]
    options.grids = [int(side) for side in options.grids.split(",")]
    return options


class Runs:
    def __init__(self, options):
        self.options = options
        self.parts = options.results / "parts"
        self.parts.mkdir(parents=True, exist_ok=True)

    def run(self, name, program, *words, environment=()):
        """What the program printed; it is run unless that is known."""
        path = self.parts / f"{name}.txt"
        if not path.exists():
            print("==", name, flush=True)
            command = [*shlex.split(self.options.prefix), *self.options.launch, "env", *environment, str(program), *map(str, words)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
            if done.returncode != 0:
                sys.exit(f"compare.py: {name} failed: {' '.join(command)}")
            path.write_text(done.stdout)
        return path.read_text()

    def trace(self, name, operation, program, *words, environment=(), size=None):
        """Traces a run, and draws the average pattern of the operation."""
        o = self.options
        bench = (o.build / "bench").resolve()
        traces = self.parts.resolve() / f"{name}-trace"
        self.run(f"{name}-traced", program, *words, environment=[
            f"LD_PRELOAD={bench / 'libpapcoll_tracer.so'}", f"PAPCOLL_TRACE_FILE={traces}", *environment])
        selection = ["--operation", operation] + (["--bytes", str(size)] if size else [])
        subprocess.run([bench / "papcoll-read-trace", *sorted(self.parts.glob(f"{name}-trace.*.trace")), *selection,
                        "--pattern", o.results / f"{name}.txt", "--picture", o.results / f"{name}.svg"], check=True)


class Study:
    """What the pattern study found, for one operation and size: nearest by ratio, as the library looks it up."""

    def __init__(self, folder, operation, ranks, size):
        cells = tune.cells_of(sorted((folder / "parts").glob(f"{operation}-*.json")))
        keys = [key for key in cells if key[:2] == (operation, ranks)]
        if not keys:
            sys.exit(f"compare.py: {folder} has nothing of {operation} on {ranks} ranks")
        self.key = min(keys, key=lambda key: max(key[2], size) / min(key[2], size))
        self.delays = cells[self.key]
        self.choice = {}
        for rule, name in ("robust", "tuning.json"), ("no_delay", "no_delay.json"):
            for entry in json.loads((folder / name).read_text())["choices"]:
                if (entry["operation"], entry["ranks"], entry["bytes"]) == self.key:
                    self.choice[rule] = entry["policy"]

    def of(self, policy):
        """Last delay in ms: together, and the mean over the patterns if these were measured."""
        delays = self.delays.get(policy, {})
        patterns = [ms for (pattern, _), ms in delays.items() if pattern not in ("no_delay", "file")]
        together = [ms for (pattern, _), ms in delays.items() if pattern == "no_delay"]
        return (together[0] if together else None), (statistics.mean(patterns) if patterns else None)


def text_of(ms):
    return "-" if ms is None else f"{ms:.4g}"


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + " --- |" * len(head), *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


FFT_ROW = re.compile(r"^(\w+) +([\w:]+) +([\d.]+) +\d+\.\.\d+ +([\d.]+) +[\d.]+$", re.M)


def fft(runs, side):
    o = runs.options
    program = (o.build / "bench/fft").resolve()
    block = side * (side // o.ranks) * (side // o.ranks) * COMPLEX_BYTES
    study = Study(o.study, "all_to_all", o.ranks, block * o.ranks)
    grid = ["--grid", f"{side},{side},{side}", "--iterations", o.iterations]
    tables = [("robust", "tuning.json", ["native", "automatic", *ALL_TO_ALL])]
    if study.choice["no_delay"] != study.choice["robust"]:
        tables.append(("no_delay", "no_delay.json", ["native", "automatic"]))
    times, transposes, magnitude = {}, {}, 0.0
    given = []
    for rule, file, policies in tables:
        for i in range(0, len(o.shapes), o.per_run):
            # One magnitude for all: that of the first run, about the time of one all-to-all.
            text = runs.run(f"fft-{side}-{rule}-{i}", program, *grid, "--repetitions", o.repetitions, "--all-to-all", ",".join(policies),
                            "--imbalance", ",".join(o.shapes[i:i + o.per_run]), *given,
                            environment=[f"PAPCOLL_TUNING_FILE={(o.study / file).resolve()}"])
            magnitude = float(re.search(r"# magnitude ([\d.]+) ms", text)[1])
            given = ["--magnitude-ms", magnitude]
            for shape, policy, run, inside in FFT_ROW.findall(text):
                name = rule if policy == "automatic" else policy
                if name == "native" and rule != "robust":
                    continue
                times.setdefault(shape, {}).setdefault(name, []).append(float(run))
                transposes.setdefault(shape, {}).setdefault(name, []).append(float(inside))
    times = {shape: {name: statistics.median(all_runs) for name, all_runs in row.items()} for shape, row in times.items()}
    for row in times.values():
        row.setdefault("no_delay", row["robust"])
    runs.trace(f"fft-{side}", "alltoall", program, *grid, "--imbalance", o.shapes[0], "--magnitude-ms", magnitude, size=block)
    lines = [f"## FFT, {side}³: blocks of {block} bytes, {o.iterations} iterations, {o.repetitions} repetitions, magnitude {magnitude:.1f} ms\n",
             f"Robust choice of all_to_all at {study.key[2]} bytes: {study.choice['robust']}; no-delay choice: {study.choice['no_delay']}. Run time in ms.\n",
             *choices(times, ALL_TO_ALL, ["native", "no_delay", "robust"])]
    # Computing and the delays, from the balanced run of the library's default.
    own = times["no_delay"]["native"] - statistics.median(transposes["no_delay"]["native"])
    shapes = [row for shape, row in times.items() if shape != "no_delay"]
    actual = {DEFAULT: statistics.mean(row["native"] for row in shapes)}
    actual |= {policy: statistics.mean(row[policy] for row in shapes) for policy in ALL_TO_ALL}
    lines += prediction(study, actual, own + o.iterations * magnitude, o.iterations + 1)
    return "\n".join(lines)


def choices(times, policies, shown):
    """Per imbalance: the run time by each choice and the best in hindsight, of all that was run."""
    head = {"native": "MPI default", "no_delay": "no-delay choice", "robust": "robust choice"}
    rows, gains, losses = [], [], []
    for imbalance, row in times.items():
        best = min(row, key=row.get)
        rows.append([imbalance, *(text_of(row[name]) for name in shown), f"{row[best]:.4g} ({head.get(best, best)})",
                     f"{row['native'] / row['robust']:.2f}", f"{row['robust'] / row[best]:.2f}", *(text_of(row.get(p)) for p in policies)])
        if imbalance != "no_delay":
            gains.append(row["native"] / row["robust"])
            losses.append(row["robust"] / row[best])
    yield table(["imbalance", *(head[name] for name in shown), "hindsight", "default ÷ robust", "robust ÷ hindsight", *policies], rows)
    yield (f"Under imbalance: default ÷ robust {statistics.geometric_mean(gains):.3f} (geometric mean, {min(gains):.2f} to {max(gains):.2f}), "
           f"robust ÷ hindsight {statistics.mean(losses):.3f} (mean).\n")


def prediction(study, actual, own, calls):
    """Run time = own time + calls × last delay, by the times without delays and by the mean over the artificial patterns."""
    rows = []
    for policy, ms in actual.items():
        together, late = study.of(policy)
        guesses = [None if d is None else own + calls * d for d in (together, late)]
        rows.append(["MPI default" if policy == DEFAULT else policy, text_of(together), text_of(late), *map(text_of, guesses), text_of(ms),
                     *("-" if g is None else f"{g / ms:.2f}" for g in guesses)])
    yield "Predicted run time: computing and delays, and one last delay of the study for each call.\n"
    yield table(["policy", "last delay without delays, ms", "mean under patterns, ms", "predicted by the first", "predicted by the second", "actual",
                 "first ÷ actual", "second ÷ actual"], rows)


def number(pattern, text):
    return [float(value) for value in re.search(pattern, text, re.M).groups()]


def buddhabrot(runs):
    o = runs.options
    program = (o.build / "examples/buddhabrot").resolve()
    size = 15 * o.width * o.width
    study = Study(o.study, "reduce", o.ranks, size)
    words = [*shlex.split(o.buddhabrot), "--automatic", "--output", runs.parts.resolve()]
    cases = [("robust choice", f"PAPCOLL_TUNING_FILE={(o.study / 'tuning.json').resolve()}"),
             ("no-delay choice", f"PAPCOLL_TUNING_FILE={(o.study / 'no_delay.json').resolve()}")]
    if study.choice["no_delay"] == study.choice["robust"]:
        cases.pop()
    cases += [(policy, f"PAPCOLL_REDUCE_ALGORITHM={policy}") for policy in o.reduce]
    rows, actual, own = [], {}, []
    for name, variable in cases:
        text = runs.run(f"buddhabrot-{name.replace(' ', '_')}", program, *words, environment=[variable])
        frames = number(r"^A frame took ([\d.]+) ms with MPI_Reduce and ([\d.]+) ms with papcoll", text)
        spread, _, default, ours = number(r"^ +median \| +([\d.]+) +([\d.]+) \| +([\d.]+) +([\d.]+) \|", text)
        actual[name] = frames[1]
        own.append(frames[0] - default)
        actual.setdefault(DEFAULT, []).append(frames[0])
        rows.append([name, *(f"{ms:.0f}" for ms in (spread, default, ours)), f"{default / ours:.2f}",
                     *(f"{ms:.0f}" for ms in frames), f"{frames[0] / frames[1]:.2f}"])
    default = statistics.median(actual.pop(DEFAULT))
    best = min((p for p in o.reduce), key=actual.get)
    runs.trace("buddhabrot", "reduce", program, *words, size=size)
    lines = [f"## Buddhabrot: reduce of {size} bytes, {o.buddhabrot}\n",
             f"Robust choice at {study.key[2]} bytes: {study.choice['robust']}; no-delay choice: {study.choice['no_delay']}. Every frame is computed",
             "twice, and summed by MPI_Reduce's default and by the choice in turn; medians of the frames but the first, in ms.\n",
             table(["choice", "spread of arrivals", "last delay, default", "last delay, choice", "gain", "frame, default", "frame, choice", "default ÷ choice"], rows),
             f"Best in hindsight: {best}. Robust ÷ hindsight, of frames: {actual['robust choice'] / actual[best]:.3f}.\n",
             *prediction(study, {DEFAULT: default} | {p: actual[p] for p in o.reduce}, statistics.median(own), 1)]
    return "\n".join(lines)


def main():
    options = parse()
    runs = Runs(options)
    sections = [fft(runs, side) for side in options.grids] if "fft" in options.applications else []
    sections += [buddhabrot(runs)] if "buddhabrot" in options.applications else []
    (options.results / "applications.md").write_text("\n".join(sections))
    print("\n".join(sections))


if __name__ == "__main__":
    main()
