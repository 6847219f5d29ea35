#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Writes the C++ programs of a Markdown file to files.

    extract_programs.py <file.md> <folder>

Prints the files, separated by semicolons. A program is a ```cpp block that has a main; the first must be on the first
screen and short, since it is what a newcomer sees.
"""
import pathlib
import re
import sys

FIRST_SCREEN = 45  # lines
SHORT = 20  # lines, blank ones not counted


def main():
    text, folder = pathlib.Path(sys.argv[1]).read_text(), pathlib.Path(sys.argv[2])
    blocks = [block for block in re.finditer(r"^```cpp\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
              if "int main(" in block.group(1)]
    if not blocks:
        sys.exit(f"{sys.argv[1]} has no program")
    first = blocks[0]
    if text.count("\n", 0, first.end()) > FIRST_SCREEN:
        sys.exit(f"the first program ends below line {FIRST_SCREEN}")
    if len([line for line in first.group(1).splitlines() if line.strip()]) > SHORT:
        sys.exit(f"the first program is longer than {SHORT} lines")
    names = []
    for number, block in enumerate(blocks, 1):
        path = folder / f"program_{number}.cpp"
        if not path.exists() or path.read_text() != block.group(1):
            path.write_text(block.group(1))
        names.append(str(path))
    print(";".join(names))


if __name__ == "__main__":
    main()
