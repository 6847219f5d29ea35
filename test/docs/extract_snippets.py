#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Writes the C++ blocks of the documentation's pages to files, and prints these, separated by semicolons.

    extract_snippets.py <folder> <page.md> ...

A block that has a main is a program, program_<page>_<number>.cpp. The others of a page are together in
snippets_<page>.cpp: includes first, then each block in a namespace of its own, as a function behind the names that
snippets.hpp declares, or, where its first line declares a type, a template or an operator, as it is. Blocks that include a
file of ours by `--8<--` are compiled there.
"""
import pathlib
import re
import sys

DECLARES = re.compile(r"^(struct|class|template|enum|namespace|BOOST_|inline|static_assert|using namespace)\b|^BOOST_")


def blocks_of(text):
    return [match.group(2) for match in re.finditer(r"(?ms)^( *)```cpp\n(.*?)^\1```$", text)]


def snippet(number, block):
    lines = [line for line in block.splitlines() if not line.startswith("#include")]
    while lines and not lines[0].strip():
        lines.pop(0)
    body = "\n".join(lines)
    if not lines or not DECLARES.match(lines[0]):
        body = f"void show() {{\n    using namespace docs;\n{body}\n}}"
    return f"namespace block_{number} {{\n{body}\n}}\n"


def write(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
    return str(path)


def main():
    folder, written = pathlib.Path(sys.argv[1]), []
    for page in map(pathlib.Path, sys.argv[2:]):
        snippets, includes = [], ['#include "snippets.hpp"']
        for number, block in enumerate(blocks_of(page.read_text()), 1):
            if "--8<--" in block:
                continue
            if "int main(" in block:
                written.append(write(folder / f"program_{page.stem}_{number}.cpp", block))
                continue
            includes += re.findall(r"(?m)^#include.*$", block)
            snippets.append(snippet(number, block))
        if snippets:
            here = pathlib.Path(__file__).parent
            includes[0] = f'#include "{here / "snippets.hpp"}"'
            written.append(write(folder / f"snippets_{page.stem}.cpp", "\n".join([*dict.fromkeys(includes), "", *snippets])))
    print(";".join(written))


if __name__ == "__main__":
    main()
