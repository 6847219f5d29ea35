#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""The pictures of a pattern study, from results of bench/collectives: selection_plots.py RESULT.json ... -o FOLDER

For every operation and number of ranks, after the selection study in paper 5 (figure numbers are the paper's):

    winners-…      pattern × size: the policy with the least last delay, and how much longer the winner of no_delay takes there
                   (figure 4)
    times-…        per size, pattern × policy: the last delay in ms; framed what is within 5 % of the best of its row (figure 5)
    robustness-…   per size, pattern × policy: last delay ÷ that at no_delay − 1; better than −25 % absorbs, worse than +25 %
                   suffers (figure 6)
    normalised-…   per size, pattern × policy: last delay ÷ the best of its row, a recorded pattern as a row of its own, and
                   the mean without that, by which the robust choice is made (figure 8)
"""
import argparse
import json
import pathlib
import statistics
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

TIE = 1.05
ABSORBS, SUFFERS = -0.25, 0.25


def fail(message):
    sys.exit(f"selection_plots.py: {message}")


def read(paths):
    """{(operation, ranks): {bytes: {(pattern, factor): {policy: ms}}}}"""
    studies = {}
    for path in paths:
        try:
            document = json.loads(pathlib.Path(path).read_text())
            for row in document["rows"]:
                sizes = studies.setdefault((row["operation"], document["ranks"]), {})
                patterns = sizes.setdefault(row["bytes"], {})
                delays = patterns.setdefault((row["pattern"], row["factor"]), {})
                delay = float(row["last_delay_ms"]["median"])
                delays[row["policy"]] = min(delay, delays.get(row["policy"], delay))
        except (OSError, ValueError, KeyError, TypeError) as error:
            fail(f"{path}: no result of bench/collectives ({error!r})")
    return studies


def label(pattern):
    name, factor = pattern
    if name == "no_delay":
        return name
    return "recorded" if name == "file" else f"{name} × {factor:g}"


def order(pattern):
    name, factor = pattern
    return (name != "no_delay", name == "file", factor, name)


def size_name(size):
    for unit, scale in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= scale:
            return f"{size / scale:g} {unit}"
    return f"{size} B"


def grid(axes, values, rows, columns, texts, colours, least, most, title, frames=()):
    image = axes.imshow(values, cmap=colours, vmin=least, vmax=most, aspect="auto")
    axes.set_xticks(range(len(columns)), columns, rotation=30, ha="right")
    axes.set_yticks(range(len(rows)), rows)
    axes.set_title(title, fontsize=10)
    for i, line in enumerate(texts):
        for j, text in enumerate(line):
            red, green, blue, _ = image.cmap(image.norm(values[i][j]))
            dark = 0.3 * red + 0.6 * green + 0.1 * blue < 0.5
            axes.text(j, i, text, ha="center", va="center", fontsize=7, color="white" if dark else "black")
    for i, j in frames:
        axes.add_patch(plt.Rectangle((j - 0.47, i - 0.47), 0.94, 0.94, fill=False, lw=2, edgecolor="tab:orange"))
    return image


def winners(name, sizes, folder):
    patterns = sorted(set().union(*sizes.values()), key=order)
    columns = sorted(sizes)
    values, texts = [], []
    for pattern in patterns:
        value_line, text_line = [], []
        for size in columns:
            delays = sizes[size].get(pattern, {})
            together = sizes[size].get(("no_delay", 0), {})
            known = {p: d for p, d in together.items() if p in delays}
            if not known:
                value_line.append(float("nan"))
                text_line.append("")
                continue
            best = min(delays, key=delays.get)
            ratio = delays[min(known, key=known.get)] / delays[best] if delays[best] > 0 else 1.0
            value_line.append(ratio)
            text_line.append(f"{best}\n{ratio:.2f}")
        values.append(value_line)
        texts.append(text_line)
    figure, axes = plt.subplots(figsize=(2.0 + 1.6 * len(columns), 1.5 + 0.38 * len(patterns)))
    image = grid(axes, values, [label(p) for p in patterns], [size_name(s) for s in columns], texts, "YlOrRd", 1.0, 3.0,
                 f"{name}: best policy;\nwinner of no_delay ÷ best")
    figure.colorbar(image, ax=axes)
    save(figure, folder / f"winners-{file_name(name)}.png")


def per_size(kind, title, name, sizes, folder, cell):
    """cell(delays, delay, together) -> (value, text, framed)"""
    columns = sorted(sizes)
    # Not those that were left out of some rows, as too slow without delays.
    policies = {s: sorted(set.intersection(*(set(d) for d in sizes[s].values()))) for s in columns}
    rows = {s: sorted(sizes[s], key=order) for s in columns}
    width = sum(2.2 + 0.75 * len(policies[s]) for s in columns)
    height = 1.8 + 0.3 * max(len(r) for r in rows.values())
    figure, all_axes = plt.subplots(1, len(columns), figsize=(width, height), squeeze=False)
    for axes, size in zip(all_axes[0], columns):
        values, texts, frames = [], [], []
        for i, pattern in enumerate(rows[size]):
            delays = sizes[size][pattern]
            cells = [cell(delays, delays.get(p), sizes[size].get(("no_delay", 0), {}).get(p)) for p in policies[size]]
            values.append([c[0] for c in cells])
            texts.append([c[1] for c in cells])
            frames += [(i, j) for j, c in enumerate(cells) if c[2]]
        names = [label(p) for p in rows[size]]
        if kind == "normalised":
            artificial = [line for line, (pattern, _) in zip(values, rows[size]) if pattern != "file"]
            values.append([statistics.mean(line[j] for line in artificial) for j in range(len(policies[size]))])
            texts.append([f"{v:.2f}" for v in values[-1]])
            frames.append((len(values) - 1, values[-1].index(min(values[-1]))))
            names.append("mean")
        scale = {"times": ("Greys", 0, None), "robustness": ("RdYlGn_r", -1, 1), "normalised": ("YlOrRd", 1, 3)}[kind]
        grid(axes, values, names, policies[size], texts, *scale, f"{name}, {size_name(size)}", frames)
    figure.suptitle(title, fontsize=10)
    save(figure, folder / f"{kind}-{file_name(name)}.png")


def time_cell(delays, delay, _):
    if delay is None:
        return float("nan"), "", False
    return delay, f"{delay:.3g}", delay <= TIE * min(delays.values())


def robustness_cell(_, delay, together):
    if delay is None or not together:
        return float("nan"), "", False
    change = delay / together - 1
    return change, f"{change * 100:+.0f} %", change < ABSORBS or change > SUFFERS


def normalised_cell(delays, delay, _):
    if delay is None:
        return float("nan"), "", False
    quotient = delay / min(delays.values()) if min(delays.values()) > 0 else 1.0
    return quotient, f"{quotient:.2f}", False


def file_name(name):
    return name.replace(", ", "-").replace(" ", "-")


def save(figure, path):
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
    print(path)


def main():
    parser = argparse.ArgumentParser(description="Pictures of a pattern study")
    parser.add_argument("results", nargs="+")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("."))
    options = parser.parse_args()
    studies = read(options.results)
    options.output.mkdir(parents=True, exist_ok=True)
    for (operation, ranks), sizes in sorted(studies.items()):
        name = f"{operation}, {ranks} ranks"
        winners(name, sizes, options.output)
        per_size("times", "last delay in ms; framed: within 5 % of the best of the row", name, sizes, options.output, time_cell)
        per_size("robustness", "last delay ÷ that at no_delay − 1; framed: absorbs or suffers", name, sizes, options.output,
                 robustness_cell)
        per_size("normalised", "last delay ÷ the best of its row; framed: the least mean", name, sizes, options.output,
                 normalised_cell)


if __name__ == "__main__":
    main()
