#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Checks that includes between the rooms of include/papcoll point in one direction.

    check_includes.py <include folder>

Prints every include that does not, and every include that names no header; fails if there is one.
"""
import pathlib
import re
import sys

ROOMS = ["schedule", "scheduler", "program", "analysis", "arrival", "operators", "transport", "context",
         "executor", "monitor", "policy", "collective"]
# Exceptions to "a room includes the rooms above it in the list": rooms that know fewer.
ALLOWED = {room: set(ROOMS[:index]) for index, room in enumerate(ROOMS)}
ALLOWED["scheduler"] = {"schedule"}
ALLOWED["program"] = {"schedule"}
for strangers in ("analysis", "arrival", "operators"):
    ALLOWED[strangers] -= {"analysis", "arrival", "operators"}
ALLOWED["executor"] -= {"scheduler"}
ALLOWED["detail"] = set()

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def room_of(path):
    """The first folder below papcoll/, or None for an umbrella."""
    return path.parts[1] if len(path.parts) > 2 else None


def violations_in(root, header):
    """Yields the violations of one header, a path relative to root."""
    room = room_of(header)
    if room is not None and room not in ALLOWED:
        yield f"{header}: '{room}' is no room of the architecture"
        return
    for number, line in enumerate((root / header).read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if match is None:
            continue
        place, name = f"{header}:{number}", match.group(2)
        if match.group(1) == '"' or name.startswith("."):
            yield f'{place}: "{name}" must be included as <papcoll/...>'
        if not name.startswith("papcoll/"):
            continue
        if not (root / name).is_file():
            yield f"{place}: <{name}> does not exist"
        target = room_of(pathlib.PurePath(name))
        if room is None or target == room or target == "detail":
            continue
        if target is None:
            yield f"{place}: {room}/ includes the umbrella <{name}>"
        elif target not in ALLOWED[room]:
            yield f"{place}: {room}/ must not include {target}/ (<{name}>)"


def violations(root):
    headers = sorted(path.relative_to(root) for path in root.rglob("*.hpp"))
    if not headers:
        return [f"{root}: no headers here"]
    return [text for header in headers for text in violations_in(root, header)]


def main():
    found = violations(pathlib.Path(sys.argv[1]))
    print("\n".join(found) if found else "include directions hold")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
