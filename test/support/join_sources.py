#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Writes one translation unit that holds several test files: join_sources.py <output> <source>...

The headers of all of them come first; what else is in a file is in a namespace of its own, so that files may use
the same names. The compiler reads each header and makes each instance of a template once for all of them, and
reports the lines of the files themselves.
"""
import os
import re
import sys


def split(source):
    """The headers of a file, and its other lines with blank ones in the place of the headers."""
    headers, others = [], []
    with open(source, encoding="utf-8") as file:
        for line in file.read().splitlines():
            found = re.match(r'#include ([<"])(.+)[>"]', line)
            if not found:
                others.append(line)
                continue
            beside = os.path.join(os.path.dirname(source), found[2])
            if found[1] == '"' and os.path.exists(beside):
                line = f'#include "{os.path.normpath(beside)}"'
            headers.append(line)
            others.append("")
    return headers, others


def join(sources):
    headers, bodies = {}, []
    for source in sources:
        its_headers, lines = split(source)
        headers.update(dict.fromkeys(its_headers))
        name = re.sub(r"\W", "_", "_".join(os.path.splitext(source)[0].split(os.sep)[-3:]))
        bodies += [f"namespace {name} {{", f'#line 1 "{source}"', *lines, f"}} // namespace {name}"]
    return "\n".join([*headers, *bodies]) + "\n"


if __name__ == "__main__":
    output, *inputs = sys.argv[1:]
    with open(output, "w", encoding="utf-8") as file:
        file.write(join([os.path.abspath(source) for source in inputs]))
