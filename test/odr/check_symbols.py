#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Checks that two objects, compiled for different instruction sets, share no papcoll definition that depends on it.

    check_symbols.py <objdump> <nm> <first.o> <second.o>

Of a definition in both objects the linker keeps either. So it must refer to the same symbols in both, have the same
size if it is data, and use no register that only one of the instruction sets has.
"""
import re
import subprocess
import sys

WIDE_REGISTER = re.compile(r"%[yz]mm\d")
RELOCATION = re.compile(r"\bR_X86_64_\S+\s+([^\s+-]+)")
FUNCTION = re.compile(r"^[0-9a-f]+ <(\S+)>:$")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def shared_kind_symbols(nm, path):
    """name -> (nm's type, size) of the papcoll definitions that the linker merges with others."""
    found = {}
    for line in run(nm, "-S", "--defined-only", path).splitlines():
        fields = line.split()
        if len(fields) == 4 and fields[2] in "WVu" and "papcoll" in fields[3]:
            found[fields[3]] = (fields[2], fields[1])
    return found


def bodies(objdump, path):
    """function -> (symbols it refers to, whether it uses wide registers)"""
    found, name = {}, None
    for line in run(objdump, "-dr", "--no-show-raw-insn", path).splitlines():
        start = FUNCTION.match(line)
        if start:
            name = start.group(1)
            found[name] = (set(), False)
        elif name:
            references, wide = found[name]
            target = RELOCATION.search(line)
            if target and not target.group(1).startswith("."):
                references.add(target.group(1))
            found[name] = (references, wide or bool(WIDE_REGISTER.search(line)))
    return found


def demangled(name):
    return run("c++filt", name).strip()


def violations(objdump, nm, first, second):
    symbols = [shared_kind_symbols(nm, path) for path in (first, second)]
    code = [bodies(objdump, path) for path in (first, second)]
    shared = sorted(symbols[0].keys() & symbols[1].keys())
    print(f"{len(symbols[0])} and {len(symbols[1])} papcoll definitions, {len(shared)} of them in both")
    if not shared:
        yield "no definition is in both objects: nothing is tested"
    for name in shared:
        (kind, size), (_, other_size) = symbols[0][name], symbols[1][name]
        if kind in "Vu" and size != other_size:
            yield f"{demangled(name)}: {size} bytes in one, {other_size} in the other"
        references, wide = code[0].get(name, (set(), False))
        other_references, other_wide = code[1].get(name, (set(), False))
        if references != other_references:
            only = ", ".join(demangled(symbol) for symbol in sorted(references ^ other_references))
            yield f"{demangled(name)}: only one of its definitions refers to {only}"
        if wide or other_wide:
            yield f"{demangled(name)}: wide registers"


def main():
    found = sorted(violations(*sys.argv[1:]), reverse=True)
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
