#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Writes files that include every header of include/ as it is included alone, and one that includes all of them.

    write_sources.py <include folder> <output folder>

Prints the files. What a header includes before all else is known to it also where it is alone. So one file can hold a
header, then one that includes it, then one that includes this one: each of them finds there what it finds alone, and
the compiler reads what they have in common once. The files are as few as they can be, which is a matching between
headers and those that come behind them in a file.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r"\s*#\s*include\s*<(papcoll/[^>]+)>")
WITHOUT = {"papcoll/impl.hpp"}  # for programs that are compiled otherwise: src/papcoll.cpp


def includes_of(path):
    """The headers of papcoll that one includes: those before all else, and all of them."""
    first, every, before_all_else = [], [], True
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not re.match(r"\s*(//|$)", line)]
    if not lines or lines[0] != "#pragma once":
        sys.exit(f"{path} must begin with #pragma once")
    for line in lines[1:]:
        found = INCLUDE.match(line)
        before_all_else = before_all_else and line.startswith("#include")
        if found:
            every.append(found[1])
            if before_all_else:
                first.append(found[1])
    return first, every


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
    all_of = {header: reached(header, every) for header in headers}
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
    every = []
    for chain in chains(root):
        every += chain
        write(output / (chain[-1].removesuffix(".hpp") + ".cpp"),
              "".join(f"#include <{header}>\n" * 2 for header in chain)) # twice in a row
    write(output / "main.cpp", "".join(f"#include <{header}>\n" for header in sorted(every)) + "int main() {}\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
