# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Reads the machine code of kernels.cpp: a function `<instruction>_<name>` must contain that packed instruction,
a function `scalar_<name>` must add, but by scalar instructions alone.

check_vectorised.py OBJDUMP OBJECT
"""
import re
import subprocess
import sys

PACKED = r"v?(?:addp[sd]|padd[bwdq])"
SCALAR = r"v?adds[sd]"


def functions(objdump, path):
    """Name -> the set of its mnemonics."""
    text = subprocess.run([objdump, "--disassemble", "--no-show-raw-insn", path],
                          check=True, capture_output=True, text=True).stdout
    result, current = {}, None
    for line in text.splitlines():
        if start := re.match(r"[0-9a-f]+ <(.+)>:$", line):
            current = result.setdefault(start[1], set())
        elif current is not None and (instruction := re.match(r"\s+[0-9a-f]+:\s+(\w+)", line)):
            current.add(instruction[1])
    return result


def faults(name, mnemonics):
    kind = name.split("_")[0]
    if kind == "scalar":
        packed = sorted(m for m in mnemonics if re.fullmatch(PACKED, m))
        if packed:
            yield f"{name}: {packed} where nothing can be vectorised, so the check finds what is not there"
        if not any(re.fullmatch(SCALAR, m) for m in mnemonics):
            yield f"{name}: no addition at all, so its operator is not inlined"
    elif not any(re.fullmatch("v?" + kind, m) for m in mnemonics):
        yield f"{name}: no {kind}, so the kernel is not vectorised"


def main(objdump, path):
    kernels = {name: found for name, found in functions(objdump, path).items()
               if re.match(r"(addps|addpd|paddd|scalar)_", name)}
    found = [fault for name, mnemonics in kernels.items() for fault in faults(name, mnemonics)]
    if {name.split("_")[0] for name in kernels} != {"addps", "addpd", "paddd", "scalar"}:
        found.append(f"functions of some kind are missing: {sorted(kernels)}")
    print("\n".join(found) or f"{len(kernels)} kernels are as expected")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
