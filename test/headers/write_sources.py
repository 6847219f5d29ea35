#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Writes files that include every header of include/ as it is included alone, and two that include all of them.

    write_sources.py <include folder> <output folder>

Prints the files, these two first. What a header includes before all else is known to it also where it is alone. So one file can hold a
header, then one that includes it, then one that includes this one: each of them finds there what it finds alone, and
the compiler reads what they have in common once. The files are as few as they can be, which is a matching between
headers and those that come behind them in a file.

Where nothing is compiled separately, headers end with those of their implementation, which lead back to headers that
are still open. What is open then must be through with its own text: no header may need one that it finds half read,
whichever of all headers is included first. That is checked here, so that one order of them is enough to compile.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r"\s*#\s*include\s*<(papcoll/[^>]+)>")
WITHOUT = {"papcoll/impl.hpp"}  # for programs that are compiled otherwise: src/papcoll.cpp


def includes_of(path):
    """The headers of papcoll that one includes: those before all else, and all, each with whether its own text is over."""
    first, every, before_all_else = [], [], True
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not re.match(r"\s*(//|$)", line)]
    if not lines or lines[0] != "#pragma once":
        sys.exit(f"{path} must begin with #pragma once")
    end_of_text = max((i for i, line in enumerate(lines) if not line.startswith("#")), default=0)
    for i, line in enumerate(lines[1:], start=1):
        found = INCLUDE.match(line)
        before_all_else = before_all_else and line.startswith("#include")
        if found:
            every.append((found[1], i > end_of_text))
            if before_all_else:
                first.append(found[1])
    return first, every


def check_order(start, every):
    """Ends the program where a header would find one half read that it needs, with `start` included first."""
    through, text_is_over = set(), {}

    def read(header):
        text_is_over[header] = False
        for other, behind_text in every.get(header, []):
            text_is_over[header] = behind_text
            if other not in text_is_over:
                if other not in through:
                    read(other)
            elif not behind_text and not text_is_over[other]:
                sys.exit(f"{header} needs {other}, which is half read there when {start} is included first")
        del text_is_over[header]
        through.add(header)

    read(start)


def reached(start, edges):
    """All that can be reached from there."""
    seen, left = set(), list(edges[start])
    while left:
        header = left.pop()
        if header not in seen:
            seen.add(header)
            left += edges.get(header, [])
    return seen


def successors(may_precede):
    """For as many headers as possible the one that comes behind it in its file, each behind one header only."""
    behind = {}

    def place(header, tried):
        for before in may_precede[header]:
            if before in tried:
                continue
            tried.add(before)
            if before not in behind or place(behind[before], tried):
                behind[before] = header
                return True
        return False

    for header in may_precede:
        place(header, set())
    return behind


def chains(root):
    """Lists of headers: each includes all before it first of all, and none of these leads to it."""
    headers = [path.relative_to(root).as_posix() for path in sorted(root.rglob("*.hpp"))]
    first, every = {}, {}
    for header in headers:
        first[header], every[header] = includes_of(root / header)
    for header in headers:
        check_order(header, every)
    edges = {header: [other for other, _ in every[header]] for header in headers}
    all_of = {header: reached(header, edges) for header in headers}
    headers = sorted(set(headers) - WITHOUT, key=lambda header: (len(all_of[header]), header))
    behind = successors({header: sorted((before for before in reached(header, first)
                                         if before in every and header not in all_of[before]),
                                        key=lambda before: (-len(all_of[before]), before)) for header in headers})
    for header in headers:
        if header in behind.values():
            continue
        chain = [header]
        while chain[-1] in behind:
            chain.append(behind[chain[-1]])
        yield chain


def write(path, content):
    """Leaves a file as it is that has this content."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != content:
        path.write_text(content, encoding="utf-8")
    print(path)


def main(root, output):
    files = list(chains(root))
    every = "".join(f"#include <{header}>\n" for header in sorted(sum(files, [])))
    write(output / "main.cpp", every + "int main() {}\n")
    write(output / "again.cpp", every)
    for chain in files:
        write(output / (chain[-1].removesuffix(".hpp") + ".cpp"),
              "".join(f"#include <{header}>\n" * 2 for header in chain)) # twice in a row


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
