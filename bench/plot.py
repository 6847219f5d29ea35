#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Pictures of what papcoll-bench wrote with --json: plot.py COMMAND RESULT.json ... -o FOLDER; tables go to standard output

    delays       of `run`: for each operation and size the last delay of every policy, pattern by pattern
    curves       of `run`: a line for each policy, over the magnitude of the delays, the number of ranks, or the size
    blocks       of `run --blocks`: circulant's number of blocks beside the best of the sweep
    study        of a pattern study: the pictures of the selection study in paper 5
    schedulers   of `model schedulers`: heat maps and a table
    figure2      of `model figure2`: paper 2, figure 2
    guidelines   of `guidelines`: heat maps of the ratios
    tables       of `run`: Markdown, see `plot.py tables --help`

Debian: apt-get install python3-matplotlib, and call it as /usr/bin/python3 plot.py if another Python comes first.
"""
import argparse
import json
import math
import pathlib
import re
import statistics
import sys

METRICS = {"last_delay_ms": "last delay [ms]", "run_time_ms": "run time [ms]", "mean_elapsed_ms": "mean elapsed time [ms]"}
plt = None


def fail(message):
    sys.exit(f"plot.py: {message}")


def use_matplotlib():
    global plt
    try:
        import matplotlib
    except ImportError:
        fail(f"matplotlib is missing for {sys.executable}; on Debian: apt-get install python3-matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot
    plt = matplotlib.pyplot


def read(paths, needed):
    """All rows, each with the conditions of its file under "file"; every row has the keys that are needed."""
    rows = []
    for path in paths:
        try:
            document = json.loads(path.read_text())
            for row in document["rows"]:
                for key in needed:
                    row[key]
                rows.append(row | {"file": {k: v for k, v in document.items() if k != "rows"} | {"name": path.stem}})
        except (OSError, UnicodeDecodeError, ValueError, KeyError, TypeError) as error:
            fail(f"{path}: no such result of papcoll-bench: {error!r}")
    if not rows:
        fail("nothing was measured")
    return rows


def with_names(paths):
    """The same, where results are told apart by the names of their files."""
    known = {}
    for path in paths:
        if known.setdefault(path.stem, path) != path:
            fail(f"{path} and {known[path.stem]} have one name, by which results are told apart")
    return paths


def unique(values):
    return list(dict.fromkeys(values))


def grouped(rows, key):
    found = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


def pattern_of(row):
    return row["pattern"], row["factor"]


def pattern_name(pattern):
    name, factor = pattern
    return "recorded" if name == "file" else name if factor == 0 else f"{name} × {factor:g}"


def pattern_order(pattern):
    name, factor = pattern
    return (name != "no_delay", name == "file", factor, name)


def size_name(size):
    for unit, scale in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size} B"


def where(row):
    file = row["file"]
    return f"{file['ranks']} ranks, {file.get('rate') or 'local'} links, {file.get('mpi', '')}"


def beside(axes, **options):
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.01, 1), **options)


def save(figure, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    print(path)


def heat(axes, values, rows, columns, texts, norm, colours, title="", frames=()):
    """A labelled heat map with a text in every cell."""
    rows, columns = list(rows), list(columns)
    image = axes.imshow(values, cmap=colours, norm=norm, aspect="auto")
    axes.set_xticks(range(len(columns)), columns, rotation=40, ha="right", rotation_mode="anchor", fontsize=8)
    axes.set_yticks(range(len(rows)), rows, fontsize=8)
    axes.set_title(title, fontsize=9, loc="left")
    for i, line in enumerate(texts):
        for j, text in enumerate(line):
            red, green, blue, _ = image.cmap(image.norm(values[i][j]))
            dark = 0.3 * red + 0.6 * green + 0.1 * blue < 0.5
            axes.text(j, i, text, ha="center", va="center", fontsize=6.5, color="white" if dark else "black")
    for i, j in frames:
        axes.add_patch(plt.Rectangle((j - 0.47, i - 0.46), 0.94, 0.92, fill=False, lw=1.4, edgecolor="#d62728"))
    return image


def short(ratio):
    return "" if math.isnan(ratio) else f"{ratio:.2f}" if ratio < 9.95 else f"{ratio:.0f}"


def fitted(values, least=1.0, floor=1.5):
    """A scale from `least` to what nearly all values reach."""
    from matplotlib.colors import Normalize
    known = sorted(v for line in values for v in line if not math.isnan(v))
    return Normalize(least, max(floor, known[int(0.95 * (len(known) - 1))] if known else floor))


# delays

def delays(options):
    for (name, operation, elements), rows in grouped(read(with_names(options.files), ["policy", options.metric]),
                                                     lambda r: (r["file"]["name"], r["operation"], r["elements"])).items():
        cases, policies = unique(map(pattern_of, rows)), unique(row["policy"] for row in rows)
        height = 0.8 / len(policies)
        figure, axes = plt.subplots(figsize=(10, 1.6 + 0.32 * len(cases)), layout="constrained")
        for number, policy in enumerate(policies):
            mine = {pattern_of(row): row[options.metric] for row in rows if row["policy"] == policy}
            measured = [(position, case) for position, case in enumerate(cases) if case in mine]
            at = [position + (number - (len(policies) - 1) / 2) * height for position, _ in measured]
            middle = [mine[case]["median"] for _, case in measured]
            bars = ([mine[case]["median"] - mine[case]["min"] for _, case in measured],
                    [mine[case]["max"] - mine[case]["median"] for _, case in measured])
            axes.barh(at, middle, height, xerr=bars, label=policy, error_kw={"linewidth": 0.8})
        bound = rows[0].get("bound_ms")
        if bound and options.metric == "last_delay_ms":
            axes.axvline(bound, color="black", linestyle="--", linewidth=1, label=f"link bound, {bound:.0f} ms")
        axes.set_yticks(range(len(cases)), [pattern_name(case) for case in cases])
        axes.invert_yaxis()
        axes.set_xlabel(METRICS[options.metric] + ", median, least and most")
        axes.set_title(f"{operation} of {elements} floats, {where(rows[0])}", fontsize=10)
        beside(axes)
        axes.grid(axis="x", alpha=0.3)
        save(figure, options.output / f"{name}-{operation}-{elements}.png")


# curves

AXES = {"delay": ("magnitude_ms", "delays up to [ms]"), "ranks": ("ranks", "ranks"), "size": ("elements", "floats")}


def curves(options):
    rows = [row | {"ranks": row["file"]["ranks"]} for row in read(options.files, ["policy", options.metric])]
    key, label = AXES[options.over]
    for condition in ("mpi", "rate", "root"):
        values = {row["file"].get(condition) for row in rows}
        if len(values) > 1:
            fail(f"the results differ in {condition}, and a curve is of one: {', '.join(sorted(map(str, values)))}")
    drawn = False
    fixed = [k for k in ("operation", "elements", "ranks", "magnitude_ms") if k != key]
    for group, mine in grouped(rows, lambda r: tuple(r[k] for k in fixed)).items():
        if len({row[key] for row in mine}) < 2:
            continue
        drawn = True
        figure, axes = plt.subplots(figsize=(8.5, 5), layout="constrained")
        lines = grouped(mine, lambda r: r["policy"])
        axes.set_prop_cycle(color=plt.get_cmap("tab10" if len(lines) <= 10 else "tab20").colors)
        for (policy, points), marker in zip(lines.items(), "osv^D<>PX*hp" * len(lines)):
            points = sorted({row[key]: row for row in points}.items())
            axes.errorbar([x for x, _ in points], [row[options.metric]["mean"] for _, row in points],
                          [row[options.metric]["deviation"] for _, row in points], label=policy, marker=marker, markersize=4,
                          linewidth=1, capsize=2)
        if options.over == "size":
            axes.set(xscale="log", yscale="log")
        else:
            axes.set_ylim(0, None)
        axes.set(xlabel=label, ylabel=f"{METRICS[options.metric]}, mean ± standard deviation")
        titles = {"operation": "{}", "elements": "{} floats", "ranks": "{} ranks", "magnitude_ms": "delays up to {:g} ms"}
        axes.set_title(", ".join(titles[k].format(v) for k, v in zip(fixed, group)), fontsize=10)
        beside(axes)
        axes.grid(alpha=0.3)
        save(figure, options.output / f"{options.over}-{'-'.join(f'{v:g}' if isinstance(v, float) else str(v) for v in group)}.png")
    if not drawn:
        fail(f"nothing was measured at two places of the axis: --over {' or '.join(other for other in AXES if other != options.over)}")


# blocks

def swept(row):
    return row["policy"].startswith("circulant") and not row["policy"].startswith("circulant:paper")


def read_blocks(files):
    rows = read(files, ["operation", "policy", "elements", "last_delay_ms"])
    for (operation, elements), mine in grouped(rows, lambda r: (r["operation"], r["elements"])).items():
        missing = {"circulant", "circulant:paper"} - {row["policy"] for row in mine}
        if missing or not any(map(swept, mine)) or min(map(delay_of, filter(swept, mine))) <= 0:
            fail(f"{operation} of {elements} floats is no result of run --blocks")
    return rows


def block_points(rows):
    """{curve: {elements: ms}} of one operation"""
    found = {"MPI's own": {}, "the paper's rule": {}, "papcoll's choice": {}, "best of the sweep": {}}
    for elements, mine in sorted(grouped(rows, lambda r: r["elements"]).items()):
        of = {row["policy"]: row["last_delay_ms"]["median"] for row in mine}
        for name, policy in zip(found, ("native", "circulant:paper", "circulant")):
            if policy in of:
                found[name][elements] = of[policy]
        found["best of the sweep"][elements] = min(row["last_delay_ms"]["median"] for row in mine if swept(row))
    return {name: points for name, points in found.items() if points}


BLOCK_STYLES = {"MPI's own": {"color": "tab:gray", "marker": "s"}, "the paper's rule": {"color": "tab:orange", "marker": "^"},
                "papcoll's choice": {"color": "tab:blue", "marker": "o"},
                "best of the sweep": {"color": "black", "linestyle": ":"}}


def blocks(options):
    operations = grouped(read_blocks(options.files), lambda r: r["operation"])
    figure, axes = plt.subplots(2, len(operations), figsize=(4.2 * len(operations) + 1.5, 6), sharex=True, squeeze=False,
                                layout="constrained", height_ratios=(3, 2))
    for column, (operation, rows) in enumerate(operations.items()):
        above, below = axes[0][column], axes[1][column]
        points = block_points(rows)
        best = points["best of the sweep"]
        for name, line in points.items():
            above.loglog(line.keys(), line.values(), label=name, markersize=4, **BLOCK_STYLES[name])
            below.semilogx(line.keys(), [ms / best[e] for e, ms in line.items()], markersize=4, **BLOCK_STYLES[name])
        above.set_title(f"{operation}, {rows[0]['file']['ranks']} ranks", fontsize=10)
        below.set_xlabel("floats")
        for each in (above, below):
            each.grid(alpha=0.3)
    axes[0][0].set_ylabel("last delay [ms]")
    axes[1][0].set_ylabel("÷ best of the sweep")
    beside(axes[0][-1])
    save(figure, options.output / "blocks.png")


# study

TIE = 1.05
ABSORBS, SUFFERS = -0.25, 0.25


def study(options):
    rows = read(options.files, ["policy", "pattern", "factor", "last_delay_ms"])
    if all(row["pattern"] == "file" for row in rows):
        fail("a study needs rows without delays, or under patterns")
    for (operation, ranks), mine in sorted(grouped(rows, lambda r: (r["operation"], r["file"]["ranks"])).items()):
        sizes = {}
        for row in mine:
            cell = sizes.setdefault(row["bytes"], {}).setdefault(pattern_of(row), {})
            delay = float(row["last_delay_ms"]["median"])
            cell[row["policy"]] = min(delay, cell.get(row["policy"], delay))
        name = f"{operation}, {ranks} ranks"
        winners(name, sizes, options.output)
        for kind, (title, cell) in STUDIES.items():
            per_size(kind, title, cell, name, sizes, options.output)


def winners(name, sizes, folder):
    patterns, columns = sorted(set().union(*sizes.values()), key=pattern_order), sorted(sizes)
    values, texts = [], []
    for pattern in patterns:
        values.append([])
        texts.append([])
        for size in columns:
            delays_of, together = sizes[size].get(pattern, {}), sizes[size].get(("no_delay", 0), {})
            known = {p: d for p, d in together.items() if p in delays_of}
            best = min(delays_of, key=delays_of.get) if known else ""
            values[-1].append(delays_of[min(known, key=known.get)] / delays_of[best] if known and delays_of[best] > 0 else math.nan)
            texts[-1].append(f"{best}\n{short(values[-1][-1])}")
    figure, axes = plt.subplots(figsize=(2.6 + 1.6 * len(columns), 1.5 + 0.38 * len(patterns)), layout="constrained")
    image = heat(axes, values, map(pattern_name, patterns), [size_name(s) for s in columns], texts, fitted(values), "YlOrRd",
                 f"{name}: best policy;\nbest without delays ÷ best")
    figure.colorbar(image, ax=axes)
    save(figure, folder / f"winners-{name.replace(', ', '-').replace(' ', '-')}.png")


def per_size(kind, title, cell, name, sizes, folder):
    """cell(delays, delay, together) -> (value, text, framed)"""
    columns = sorted(sizes)
    # Not those that were left out of some rows, as too slow without delays.
    policies = {s: sorted(set.intersection(*(set(d) for d in sizes[s].values()))) for s in columns}
    if not all(policies.values()):
        fail(f"{name}: of some size no policy was measured in all rows")
    patterns = {s: sorted(sizes[s], key=pattern_order) for s in columns}
    figure, all_axes = plt.subplots(1, len(columns), squeeze=False, layout="constrained", figsize=(
        sum(2.2 + 0.75 * len(policies[s]) for s in columns), 1.8 + 0.3 * max(len(r) for r in patterns.values())))
    for axes, size in zip(all_axes[0], columns):
        cells = [[cell(sizes[size][pattern], sizes[size][pattern][p], sizes[size].get(("no_delay", 0), {}).get(p))
                  for p in policies[size]] for pattern in patterns[size]]
        values, texts = [[c[0] for c in line] for line in cells], [[c[1] for c in line] for line in cells]
        frames = [(i, j) for i, line in enumerate(cells) for j, c in enumerate(line) if c[2]]
        names = [pattern_name(p) for p in patterns[size]]
        if kind == "normalised":
            artificial = [line for line, (pattern, _) in zip(values, patterns[size]) if pattern != "file"]
            values.append([statistics.mean(line[j] for line in artificial) for j in range(len(policies[size]))])
            texts.append([f"{v:.2f}" for v in values[-1]])
            frames.append((len(values) - 1, values[-1].index(min(values[-1]))))
            names.append("mean")
        colours = {"times": "Greys", "robustness": "RdYlGn_r", "normalised": "YlOrRd"}[kind]
        norm = plt.Normalize(-1, 1) if kind == "robustness" else fitted(values, 0 if kind == "times" else 1, 0 if kind == "times" else 1.5)
        heat(axes, values, names, policies[size], texts, norm, colours, f"{name}, {size_name(size)}", frames)
    figure.suptitle(title, fontsize=10)
    save(figure, folder / f"{kind}-{name.replace(', ', '-').replace(' ', '-')}.png")


def time_cell(delays_of, delay, _):
    return delay, f"{delay:.3g}", delay <= TIE * min(delays_of.values())


def robustness_cell(_, delay, together):
    if not together:
        return math.nan, "", False
    change = delay / together - 1
    return change, f"{change * 100:+.0f} %", change < ABSORBS or change > SUFFERS


def normalised_cell(delays_of, delay, _):
    quotient = delay / min(delays_of.values()) if min(delays_of.values()) > 0 else 1.0
    return quotient, f"{quotient:.2f}", False


STUDIES = {"times": ("last delay in ms; framed: within 5 % of the best of the row", time_cell),
           "robustness": ("last delay ÷ that without delays − 1; framed: better than −25 % or worse than +25 %", robustness_cell),
           "normalised": ("last delay ÷ the best of its row; framed: the least mean", normalised_cell)}


# schedulers

def scheduler_panels(rows):
    """(ranks, schedulers, patterns, ratio by scheduler and pattern) for the rows of one operation."""
    for ranks, some in grouped(rows, lambda r: r["ranks"]).items():
        yield ranks, unique(r["scheduler"] for r in some), unique(map(pattern_of, some)), {
            (r["scheduler"], pattern_of(r)): r["ratio"] for r in some}


def schedulers(options):
    from matplotlib.colors import LogNorm
    rows = read(options.files, ["scheduler", "ratio"])
    for operation, mine in grouped(rows, lambda r: r["operation"]).items():
        panels = list(scheduler_panels(mine))
        heights = [len(p[1]) for p in panels]
        figure, axes = plt.subplots(len(panels), 1, sharex=True, squeeze=False, layout="constrained",
                                    figsize=(3.2 + 0.46 * max(len(p[2]) for p in panels), 2.4 + 0.36 * sum(heights) + 0.5 * len(heights)),
                                    gridspec_kw={"height_ratios": heights})
        worst = max(max(row["ratio"] for row in mine), 2)
        for axis, (ranks, names, patterns, ratios) in zip(axes[:, 0], panels):
            table = [[ratios.get((s, c), math.nan) for c in patterns] for s in names]
            best = [min(line[x] for line in table if not math.isnan(line[x])) for x in range(len(patterns))]
            frames = [(y, x) for y, line in enumerate(table) for x, v in enumerate(line) if v <= 1.005 * best[x]]
            image = heat(axis, table, names, map(pattern_name, patterns), [[short(v) for v in line] for line in table],
                         LogNorm(1, worst), "viridis_r", f"{ranks} ranks", frames)
        bar = figure.colorbar(image, ax=list(axes[:, 0]), pad=0.01, aspect=40)
        bar.set_label("last delay ÷ bound (framed: the best of its column)", fontsize=8)
        ticks = [t for t in (1, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500) if t <= worst]
        bar.set_ticks(ticks, labels=[f"{t:g}" for t in ticks], fontsize=8)
        bar.minorticks_off()
        figure.suptitle(f"{operation}: {size_name(mine[0]['bytes'])}{' of each rank' if operation == 'all_gather' else ''}, in the model; "
                        "pattern and magnitude", fontsize=10)
        save(figure, options.output / f"schedulers-{operation}.png")
    (options.output / "schedulers.md").write_text("\n".join(scheduler_summary(rows)) + "\n")


def scheduler_summary(rows):
    """A line per scheduler: ratios when all arrive together, on average and at worst, and columns won."""
    yield "| operation | ranks | scheduler | blocks | together | mean | worst | best in | mean elapsed ÷ bound |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for operation, mine in grouped(rows, lambda r: r["operation"]).items():
        for ranks, names, patterns, ratios in scheduler_panels(mine):
            best = {c: min(ratios[s, c] for s in names) for c in patterns}
            for s in names:
                own = [ratios[s, c] for c in patterns]
                wins = sum(ratios[s, c] <= 1.005 * best[c] for c in patterns)
                some = [r for r in mine if r["ranks"] == ranks and r["scheduler"] == s]
                elapsed = statistics.mean(r["mean_elapsed_us"] / r["bound_us"] for r in some)
                yield (f"| {operation} | {ranks} | {s} | {some[0]['segments']} | {ratios[s, ('no_delay', 0)]:.2f} | "
                       f"{statistics.mean(own):.2f} | {max(own):.2f} | {wins} of {len(own)} | {elapsed:.2f} |")


# figure2

def figure2(options):
    rows = read(options.files, ["machines", "binomial_to_optimum"])
    figure, axes = plt.subplots(figsize=(8.5, 4.5), layout="constrained")
    for label, column, style in (("binomial, where a transfer\ntakes as long as a combination", "binomial_to_optimum", "-"),
                                 ("Fibonacci, where one of\nthe two takes nothing", "fibonacci_to_optimum", "--")):
        axes.step([r["machines"] for r in rows], [r[column] for r in rows], style, where="post", label=label, linewidth=1.2)
    axes.set(xscale="log", xlim=(rows[0]["machines"], rows[-1]["machines"]), xlabel="machines", ylabel="length ÷ optimal length")
    axes.set_title("Strategies at the costs that suit them least (paper 2, figure 2)", fontsize=10)
    axes.grid(alpha=0.3)
    beside(axes)
    save(figure, options.output / "figure2.png")


# guidelines

def guidelines(options):
    from matplotlib.colors import LogNorm
    rows = read(options.files, ["guideline", "library", "ratio", "limit"])
    for library, mine in grouped(rows, lambda r: r["library"]).items():
        panels = grouped(mine, lambda r: r["guideline"])
        lines = {name: sorted({(r["operation"], r["ranks"]) for r in some}) for name, some in panels.items()}
        columns = sorted({r["bytes"] for r in mine})
        heights = [len(lines[name]) for name in panels]
        figure, axes = plt.subplots(len(panels), 1, squeeze=False, layout="constrained", gridspec_kw={"height_ratios": heights},
                                    sharex=True,
                                    figsize=(max(7.5, 4.5 + 0.42 * len(columns)), 1.8 + 0.24 * sum(heights) + 0.4 * len(heights)))
        logarithms = sorted(abs(math.log(r["ratio"])) for r in mine if r["ratio"] > 0)
        spread = math.exp(min(max(0.2, logarithms[int(0.9 * (len(logarithms) - 1))]), 1.5))
        for axis, (name, some) in zip(axes[:, 0], panels.items()):
            ratios = {(r["operation"], r["ranks"], r["bytes"]): r for r in some}
            table = [[ratios.get((*line, c), {"ratio": math.nan})["ratio"] for c in columns] for line in lines[name]]
            frames = [(y, x) for y, line in enumerate(lines[name]) for x, c in enumerate(columns)
                      if ratios.get((*line, c), {}).get("violation")]
            image = heat(axis, table, [f"{operation}, {ranks} ranks" for operation, ranks in lines[name]],
                         [size_name(c) for c in columns], [[short(v) for v in line] for line in table],
                         LogNorm(1 / spread, spread), "RdBu_r", f"{GUIDELINES.get(name, name)}: at most {some[0]['limit']:g}", frames)
        bar = figure.colorbar(image, ax=list(axes[:, 0]), pad=0.01, aspect=40)
        bar.minorticks_off()
        ticks = [t for t in (0.1, 0.2, 0.5, 0.7, 1, 1.4, 2, 5, 10) if 1 / spread <= t <= spread]
        bar.set_ticks(ticks, labels=[f"{t:g}" for t in ticks])
        figure.suptitle(f"Performance guidelines of {'the MPI library' if library == 'mpi' else library}: left side ÷ right side;\n"
                        "framed: violated with 95 % confidence", fontsize=10)
        save(figure, options.output / f"guidelines-{library}.png")


GUIDELINES = {"library": "papcoll ÷ the MPI library", "monotone": "time ÷ that of the next size",
              "split": "time of the next size ÷ that of as many bytes in parts of this size", "p + 1": "time on one rank more ÷ this time"}


# tables

CLUSTER_NAME = re.compile(r"(\d+)x(\d+)")
OPERATIONS = ["broadcast", "reduce", "all_reduce", "all_gather", "all_gatherv_one", "all_gatherv_mod3", "reduce_scatter",
              "reduce_scatter_mod3"]


def delay_of(row):
    return row["last_delay_ms"]["median"]


def with_bound(row):
    if row is None:
        return "-"
    bound = row.get("bound_ms")
    return f"{delay_of(row):.{3 if delay_of(row) < 2 else 1}f}" + (f" ({delay_of(row) / bound:.2f})" if bound and row["elements"] > 1024 else "")


def head(*columns):
    print("| " + " | ".join(columns) + " |\n" + "| --- " * len(columns) + "|")


def line(*cells):
    print("| " + " | ".join(map(str, cells)) + " |")


def collective_tables(rows):
    for row in rows:
        match = CLUSTER_NAME.match(row["file"]["name"])
        hosts, per_host = map(int, match.groups()) if match else (row["file"]["ranks"], 1)
        row["cluster"] = str(hosts) if per_host == 1 else f"{hosts} × {per_host}"
        row["order"] = (per_host, hosts % 8 != 0, hosts, OPERATIONS.index(row["operation"])
                        if row["operation"] in OPERATIONS else len(OPERATIONS), row["elements"])
    rows.sort(key=lambda r: r["order"])
    together = [r for r in rows if r["pattern"] == "no_delay"]
    head("ranks", "operation", "floats", "default", "best of its algorithms", "circulant", "times faster")
    for key, mine in grouped(together, lambda r: (r["cluster"], r["operation"], r["elements"])).items():
        default, ours = (next((r for r in mine if r["policy"] == policy), None) for policy in ("native", "circulant"))
        best = min((r for r in mine if r["policy"].startswith("native:")), key=delay_of, default=None)
        number = f", no. {best['policy'].removeprefix('native:')}" if best else ""
        native = min((delay_of(r) for r in (default, best) if r), default=0)
        line(*key, with_bound(default), with_bound(best) + number, with_bound(ours),
             f"{native / delay_of(ours):.2f}" if ours and native else "-")
    delayed = [r for r in rows if r["pattern"] != "no_delay" and r.get("bound_ms")]
    if not delayed:
        return
    print()
    head("ranks", "operation", "floats", "policy", "÷ bound under patterns, mean", "worst", "where")
    for key, mine in grouped(delayed, lambda r: (r["cluster"], r["operation"], r["elements"], r["policy"])).items():
        worst = max(mine, key=lambda r: delay_of(r) / r["bound_ms"])
        line(*key, f"{statistics.mean(delay_of(r) / r['bound_ms'] for r in mine):.2f}", f"{delay_of(worst) / worst['bound_ms']:.2f}",
             pattern_name(pattern_of(worst)))


REGULAR = ("native", "neighbor_exchange", "linear", "ring", "circulant")


def gather_tables(rows):
    """After tables 3 and 4 of Proficz (2021): the least mean elapsed time, and its factor over the best that does not know arrivals."""
    for ranks, mine in grouped(rows, lambda r: r["file"]["ranks"]).items():
        cells = grouped(mine, lambda r: (r["elements"], r["factor"]))
        sizes = sorted({size for size, _ in cells})
        factors = {}  # of each that knows arrivals
        print(f"\n{ranks} ranks: the policy with the least mean elapsed time, and how many times the best of {', '.join(REGULAR)} takes\n")
        head(f"delays, in {mine[0]['file'].get('base', '')}", *(f"{size} floats" for size in sizes))
        for factor in sorted({factor for _, factor in cells}):
            texts = []
            for size in sizes:
                of = {r["policy"]: r["mean_elapsed_ms"]["median"] for r in cells.get((size, factor), [])}
                regular = min((ms for policy, ms in of.items() if policy in REGULAR), default=0)
                best = min(of, key=of.get, default="-")
                for policy in set(of) - set(REGULAR):
                    factors.setdefault(policy, []).append(regular / of[policy])
                texts.append(best if best in REGULAR or not of else f"{best} {regular / of[best]:.2f}")
            line(f"{factor:g}", *texts)
        print(f"\n{ranks} ranks: how many times the best of them takes, over all {len(cells)} cells: least–most (cells below 0.97)\n")
        head("policy", "least–most")
        for policy, mine_of_best in sorted(factors.items()):
            line(policy, f"{min(mine_of_best):.2f}–{max(mine_of_best):.2f} ({sum(f < 0.97 for f in mine_of_best)})")


def prediction_tables(rows):
    rows = [r for r in rows if "predicted_last_delay_ms" in r]
    errors = {}
    for r in rows:
        r["error"] = r["predicted_last_delay_ms"] / delay_of(r) - 1
        for key in ("all", f"{r['elements']} floats", f"{r['operation']}, {r['policy']}", r["pattern"]):
            errors.setdefault(key, []).append(abs(r["error"]))
    head("cases", "number", "median error", "largest")
    for key, values in errors.items():
        line(key, len(values), f"{statistics.median(values):.1%}", f"{max(values):.1%}")
    print()
    head("operation", "policy", "floats", "pattern", "predicted, ms", "measured, ms", "least–most", "error")
    for r in rows:
        delay = r["last_delay_ms"]
        line(r["operation"], r["policy"], r["elements"], pattern_name(pattern_of(r)), f"{r['predicted_last_delay_ms']:.1f}",
             f"{delay['median']:.1f}", f"{delay['min']:.1f}–{delay['max']:.1f}", f"{r['error']:+.1%}")


def block_tables(rows):
    head("operation", "floats", "MPI's own", "chosen", "paper's rule", "best of sweep", "chosen ÷ best", "paper ÷ best")
    for (operation, elements), mine in grouped(rows, lambda r: (r["operation"], r["elements"])).items():
        of = {r["policy"]: r for r in mine}
        best, chosen, paper = min(filter(swept, mine), key=delay_of), of["circulant"], of["circulant:paper"]
        line(operation, elements, f"{delay_of(of['native']):.3f}" if "native" in of else "-",
             *(f"{delay_of(r):.3f} ({r['segments']})" for r in (chosen, paper, best)),
             *(f"{delay_of(r) / delay_of(best):.2f}" for r in (chosen, paper)))


TABLES = {"collectives": collective_tables, "gathers": gather_tables, "predictions": prediction_tables, "blocks": block_tables}


def tables(options):
    """collectives: the library's default, the best of its algorithms (native:*), and circulant; files HOSTSxRANKS….json are named so
gathers: of delays that are known, after Proficz (2021); predictions: of --predict; blocks: of --blocks"""
    files = with_names(options.files) if options.kind == "collectives" else options.files
    rows = read_blocks(files) if options.kind == "blocks" else read(files, ["operation", "last_delay_ms"])
    TABLES[options.kind](rows)


COMMANDS = {f.__name__: f for f in (delays, curves, blocks, study, schedulers, figure2, guidelines, tables)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, function in COMMANDS.items():
        command = commands.add_parser(name, description=function.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        command.add_argument("files", nargs="+", type=pathlib.Path, help="what papcoll-bench wrote")
        if name == "tables":
            command.add_argument("--kind", choices=TABLES, default="collectives")
        else:
            command.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("."), help="a folder")
        if name in ("delays", "curves"):
            command.add_argument("--metric", choices=METRICS, default="last_delay_ms")
        if name == "curves":
            command.add_argument("--over", choices=AXES, default="delay")
    options = parser.parse_args()
    if options.command != "tables":
        use_matplotlib()
        options.output.mkdir(parents=True, exist_ok=True)
    COMMANDS[options.command](options)


if __name__ == "__main__":
    main()
