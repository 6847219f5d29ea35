#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Lists what the documentation of public names lacks where it is due: parameters, units, errors, examples.

    due.py <doxygen's xml folder> <the project's folder>

What counts as due, beyond that every name has a comment (reference.py --undocumented):

- a *parameter* of a public function, where its type does not say what it is: of a number, bool, ticks, string, pointer, range of
  these or function. A class of papcoll's says it, and so does a name that is one of the project's few words for what every page speaks
  of (KNOWN). The text of the function, of an overload, of its class, of its header, or of the concept that asks for the member must
  have the words of the name, in any grammatical form.
- a *unit* of a public number, be it a member, a constant or a result: the name, the type or the text must say what is counted
  or measured. ticks are nanoseconds, and say so themselves.
- an *error* of a public function: what its own body throws, or the body of a function of the same file that it calls, must be named, or
  the text says "throw", and where; that of its class counts, and of members that concepts ask for that of the concept. What is a
  std::logic_error by a fault of papcoll's own (an unreachable place) is none of the user's.
- an *example* of every collective, policy and concept, and of every option: a member that users set of a policy or of a struct of options.
  Code of the pages, of examples/ or of a comment must have the name, of an option as `.name`.

The program fails where there are such names.
"""
import pathlib
import re
import sys

import reference

KNOWN = {"rank", "ranks", "root", "comm", "op", "policy", "size", "n", "in", "out", "to", "from", "begin", "end", "path", "p", "i"}
PLAIN = re.compile(r"^(const |constexpr |static )*(std::)?(size_t|int|u?int\d+_t|double|float|bool|ticks|string(_view)?|"
                   r"optional< (ticks|int|double)|span< (ticks|int|double|std::size_t)|vector< (ticks|int|double|bool|std::size_t)|"
                   r"function<|chrono::)")
NUMBER = re.compile(r"^(const |constexpr |static |auto )*(std::)?(size_t|int|unsigned|long|u?int\d+_t|double|float)( const)?$")
UNITS = """byte element rank block round step segment nanosecond microsecond millisecond second ns us ms part ratio factor share
percent number count index position place root tag time transfer message node level radix bit word value times many
slot fragment credit piece line epoch call ping instruction probability skip dimension peer child children area limit
length seed key sequence region edge vertex degree color colour weight version major minor patch phase core processor""".split()


def stem(word):
    return re.sub(r"(ies|es|s|ed|ing|e|y)$", "", word.lower())


def stems(text):
    return {stem(word) for word in re.findall(r"[A-Za-z]+", text)}


def says(name, text):
    """All words of the name stand in the text, or the name itself."""
    if re.search(rf"\b{re.escape(name)}\b", text):
        return True
    words = [word for word in re.findall(r"[a-z]+", name.lower())]
    return bool(words) and {stem(word) for word in words} <= stems(text)


class Documented:
    """A public function or variable, and all texts that speak of it."""

    def __init__(self, entry, owner, texts):
        self.entry, self.owner, self.text = entry, owner, "\n".join(texts)

    def title(self):
        name = f"{self.owner.name}::{self.entry.name}" if self.owner else self.entry.name
        return f"{self.entry.header()}:{self.entry.line()}: {name}"


def documented(entries, root):
    """What is public, but for what a comment says to be for papcoll itself."""
    asked = reference.asked_for(entries)
    found = []
    for owner, members in [(None, entries)] + [(entry, entry.members) for entry in entries]:
        for entry in members:
            if entry.kind not in ("function", "variable") or entry.name.startswith(("operator", "~", "@")):
                continue
            same = [other.text() for other in members if other.name == entry.name or other.line() == entry.line()]
            if any(re.match(r"For \S+[^.]*\.$", text) for text in same):
                continue  # "For the functions that make plans."
            texts = same + ([owner.text()] if owner else []) + [reference.header_text(root, entry.header())]
            if entry.name in asked:
                texts.append(asked[entry.name].text())
            found.append(Documented(entry, owner, texts))
    return found


def parameters(all_documented):
    for each in all_documented:
        for parameter in each.entry.node.findall("param") if each.entry.kind == "function" else []:
            type_name, name = (reference.words_of(parameter.find(part)) for part in ("type", "declname"))
            is_pointer = type_name.endswith("*")
            if not name or name in KNOWN or not (PLAIN.match(type_name) or is_pointer) or says(name, each.text):
                continue
            yield f"{each.title()}: parameter {name}"


def units(all_documented):
    for each in all_documented:
        node = each.entry.node
        type_name = reference.words_of(node.find("type"))
        if type_name == "auto":
            type_name = (re.findall(r"->\s*(.*)", reference.words_of(node.find("argsstring"))) or [""])[0]
        if NUMBER.match(type_name) and not stems(each.entry.name.replace("_", " ") + " " + each.text) & {stem(u) for u in UNITS}:
            yield f"{each.title()}: unit of {type_name}"


def functions_of(lines):
    """(name, what it throws, what it calls) of all functions of a file, by the layout of clang-format."""
    for first, line in enumerate(lines):
        if not line.endswith("{") or re.match(r"^ *(namespace|struct|class|enum|if|for|while|else|switch|do|try|//|\})", line):
            continue
        start = first
        while start > 0 and lines[start - 1].strip() and not re.search(r"([;{}:]|^ *//.*|^#.*)$", lines[start - 1]):
            start -= 1
        indent = re.match(" *", lines[start])[0]
        last = next((i for i in range(first + 1, len(lines)) if re.match(rf"{indent}\}}", lines[i])), first)
        name = re.search(r"(\w+)\(", re.sub(r"requires\([^)]*\)", "", " ".join(lines[start:first + 1])))
        body = "\n".join(lines[first:last])
        errors = set(re.findall(r"\bthrow ([\w:]+)", body))
        if "detail::require(" in body:
            errors.add("std::invalid_argument")
        if name:
            yield name[1], errors, set(re.findall(r"(\w+)\(", body))


def thrown(root):
    """Of each (room/file, function): the exceptions that its body throws, or one that it calls in that file."""
    found = {}
    for path in (root / "include/papcoll").rglob("*.hpp"):
        if "detail" in path.parts:
            continue
        functions = list(functions_of(path.read_text().splitlines()))
        direct = {}
        for name, errors, _ in functions:
            direct.setdefault(name, set()).update(errors)
        for name, errors, calls in functions:
            for called in calls & direct.keys():
                errors = errors | direct[called]
            if errors:
                found.setdefault((path.stem, name), set()).update(errors)
    return found


def errors(all_documented, root):
    all_thrown = thrown(root)
    for each in all_documented:
        if each.entry.kind != "function":
            continue
        file = pathlib.Path(each.entry.location).stem
        missing = [error for error in sorted(all_thrown.get((file, each.entry.name), ()))
                   if error != "std::logic_error" and error not in each.text and not re.search(r"\b[Tt]hrow", each.text)]
        if missing:
            yield f"{each.title()}: throws {', '.join(missing)}"


def code_of(root):
    """What the pages, examples and comments show as code."""
    parts = []
    for page in [root / "README.md", *(root / "docs").glob("*.md")]:
        text = page.read_text()
        parts += re.findall(r"(?s)```cpp\n(.*?)```", text)
    parts += [path.read_text() for path in (root / "examples").rglob("*.cpp")]
    for header in (root / "include/papcoll").rglob("*.hpp"):
        parts += re.findall(r"(?m)^ *///<? {5,}(.*)$", header.read_text())
    return "\n".join(re.sub(r"(?m)^ *///? ?$", "", part) for part in parts)


def is_policy(entry):
    return entry.room() == "policy" and any(member.name == "provides" for member in entry.members)


def examples(entries, root):
    code = code_of(root)
    for entry in entries:
        is_collective = entry.kind == "variable" and entry.room() == "collective"
        if (is_collective or entry.kind == "concept" or is_policy(entry)) and not has(code, entry.name):
            yield f"{entry.header()}: example of {entry.kind} {entry.name}"
        if is_policy(entry) or re.search(r"(options|settings)$", entry.name):
            for member in entry.members:
                if member.kind == "variable" and "static" not in member.node.get("static", "") and \
                        member.node.get("static") != "yes" and f".{member.name}" not in code:
                    yield f"{entry.header()}:{member.line()}: example of option {entry.name}::{member.name}"


def has(code, name):
    """By itself, or by a name made of it: basic_x is used as x."""
    return any(re.search(rf"\b{re.escape(part)}\b", code) for part in {name, name.removeprefix("basic_")})


def main():
    xml, root = map(pathlib.Path, sys.argv[1:])
    entries = reference.load(xml)
    everything = documented(entries, root)
    missing = sorted({*parameters(everything), *units(everything), *errors(everything, root), *examples(entries, root)})
    print("\n".join(missing))
    print(f"{len(missing)} parameters, units, errors and examples that are due, of {len(everything)} functions and values")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
