#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Writes the reference pages from what doxygen reads in the headers, or lists public names without documentation.

    reference.py <doxygen's xml folder> <folder for the pages>
    reference.py <doxygen's xml folder> --undocumented

A public name is one in namespace papcoll or a public member of a class there, not in a namespace `detail`. With
--undocumented the program fails where there are such names. What counts as documented: a comment of its own, of an
overload, of the line, or of the enumeration around it; members that a concept asks for, which the concept documents; members that are
defaulted or deleted, operators of comparison, constructors from the members, and destructors.
"""
import html
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

ROOMS = {
    "collective": "Collectives",
    "policy": "Policies",
    "operators": "Operators",
    "context": "Attaching, settings and progress",
    "executor": "Requests, elements and failures",
    "arrival": "Arrival patterns and predictors",
    "monitor": "Arrival monitor and clocks",
    "schedule": "Schedules",
    "scheduler": "Schedulers",
    "program": "Programs",
    "analysis": "Verification, simulation and drawing",
    "transport": "Transports",
    "": "Version",
}
ORDER = {"concept": 0, "struct": 2, "class": 2, "enum": 1, "typedef": 3, "variable": 4, "function": 5}


def words_of(node):
    return re.sub(r"\s+", " ", "".join(node.itertext())).strip() if node is not None else ""


class Markdown:
    """A description of doxygen's as Markdown."""

    def inline(self, node):
        text = self.escaped(node.text)
        for child in node:
            text += self.element(child) + self.escaped(child.tail)
        return text

    @staticmethod
    def escaped(text):
        return re.sub(r"([<*_|])", r"\\\1", text or "")

    def element(self, node):
        tag = node.tag
        if tag == "computeroutput":
            return "`" + "".join(node.itertext()) + "`"
        if tag == "ref":
            return self.escaped("".join(node.itertext()))
        if tag in ("bold", "emphasis"):
            mark = "**" if tag == "bold" else "*"
            return mark + self.inline(node).strip() + mark
        if tag == "linebreak":
            return "\n"
        if tag == "sp":
            return " "
        if tag in ("verbatim", "preformatted", "programlisting", "itemizedlist", "orderedlist", "simplesect", "table"):
            return "\n\n" + self.block(node) + "\n\n"
        characters = {"ndash": "–", "mdash": "—", "nonbreakablespace": " ", "zwj": "", "hellip": "..."}
        return characters.get(tag, self.inline(node))

    def block(self, node):
        if node.tag in ("verbatim", "preformatted", "programlisting"):
            return "```cpp\n" + self.code(node).strip("\n") + "\n```"
        if node.tag in ("itemizedlist", "orderedlist"):
            items = []
            for number, item in enumerate(node.findall("listitem"), 1):
                mark = f"{number}. " if node.tag == "orderedlist" else "- "
                items.append(mark + self.paragraphs(item).replace("\n", "\n    "))
            return "\n".join(items)
        if node.tag == "table":
            rows = [[words_of(entry) for entry in row] for row in node.findall("row")]
            lines = ["| " + " | ".join(row) + " |" for row in rows]
            return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])
        return self.paragraphs(node)

    @staticmethod
    def code(node):
        lines = node.findall("codeline")
        if not lines:
            return "".join(node.itertext())
        for space in node.iter("sp"):
            space.text = " "
        return "\n".join("".join(line.itertext()) for line in lines)

    def paragraphs(self, node):
        parts = []
        for child in node:
            if child.tag == "para":
                parts.append(self.inline(child).strip())
            elif child.tag not in ("title",):
                parts.append(self.block(child))
        return re.sub(r"\n{3,}", "\n\n", "\n\n".join(part for part in parts if part))


class Entry:
    """A public name with its documentation and, of a class, its members."""

    def __init__(self, node, name, kind):
        self.name, self.kind = name, kind
        self.location = node.find("location").get("file") if node.find("location") is not None else ""
        self.brief, self.detailed = node.find("briefdescription"), node.find("detaileddescription")
        self.members, self.node = [], node

    def text(self):
        parts = [Markdown().paragraphs(part) for part in (self.brief, self.detailed) if part is not None]
        return "\n\n".join(part for part in parts if part)

    def line(self):
        """One comment is enough for several members that are declared on one line."""
        return int(self.node.find("location").get("line"))

    def room(self):
        match = re.search(r"papcoll/([^/]+)/", self.location)
        return match.group(1) if match else ""

    def header(self):
        match = re.search(r"papcoll/.*", self.location)
        return match.group(0) if match else self.location

    def declaration(self):
        node = self.node
        if self.kind == "concept":
            return ""
        template = [words_of(p.find("type")) + (" " + words_of(p.find("declname")) if p.find("declname") is not None else "")
                    for p in node.findall("templateparamlist/param")]
        head = f"template <{', '.join(template)}>\n" if template else ""
        if self.kind in ("struct", "class"):
            return f"{head}{self.kind} {self.name}"
        if self.kind == "enum":
            values = ", ".join(value.findtext("name") for value in node.findall("enumvalue"))
            return f"enum class {self.name} {{ {values} }}"
        if self.kind == "typedef":
            return f"{head}using {self.name} = {words_of(node.find('type'))}"
        initial = words_of(node.find("initializer")) if self.kind == "variable" else ""
        initial = f" {initial}" if initial and len(initial) < 60 else ""
        if self.kind == "variable":
            return f"{head}{words_of(node.find('type'))} {self.name}{initial}"
        return f"{head}{words_of(node.find('type'))} {self.name}{words_of(node.find('argsstring'))}".strip()


def load(folder):
    """All public names: entries of namespace papcoll, classes with their members."""
    entries = []
    index = ElementTree.parse(folder / "index.xml").getroot()
    for compound in index:
        name, kind = compound.findtext("name"), compound.get("kind")
        if kind not in ("struct", "class", "concept", "namespace") or "detail" in name.split("::"):
            continue
        if kind == "namespace" and name not in ("papcoll", "papcoll::threads"):
            continue
        if kind != "namespace" and not name.startswith("papcoll::"):
            continue
        root = ElementTree.parse(folder / f"{compound.get('refid')}.xml").getroot()[0]
        prefix = "" if name == "papcoll" else name.removeprefix("papcoll::")
        if kind == "namespace":
            entries += members_of(root, (prefix + "::") if prefix else "")
        elif "@" not in name and root.get("prot") in (None, "public"):
            entry = Entry(root, prefix, kind)
            if kind != "concept":
                entry.members = members_of(root, "")
            entries.append(entry)
    specialised = [e for e in entries if "<" in e.name]
    return [e for e in entries if e not in specialised]


def members_of(root, prefix):
    found = []
    for section in root.findall("sectiondef"):
        if section.get("kind").startswith(("private", "protected")) or section.get("kind") in ("friend", "related"):
            continue
        for member in section.findall("memberdef"):
            if member.get("prot") != "public" or member.get("kind") not in ("function", "variable", "typedef", "enum"):
                continue
            found.append(Entry(member, prefix + member.findtext("name"), member.get("kind")))
    return found


def asked_for(entries):
    """The names that concepts ask of their models, and the first concept that does."""
    names = {}
    most_telling = {"block_policy": 0, "scheduler": 1, "transport": 2, "state_bitset": 3}
    for entry in sorted(entries, key=lambda e: most_telling.get(e.name, 4)):
        if entry.kind == "concept":
            for name in re.findall(r"(?:\.|::)\s*(\w+)", words_of(entry.node.find("initializer"))):
                names.setdefault(name, entry)
    return names


def needs_no_words(member, owner, asked):
    name, arguments = member.name, words_of(member.node.find("argsstring"))
    short = owner.name.split("::")[-1]
    return (name in asked or "=default" in arguments.replace(" ", "") or "=delete" in arguments.replace(" ", "") or
            name.startswith("~") or name == short or re.match(r"operator(==|<=>|<|!=)", name) is not None or
            name == "type" or name == "value" and owner.kind != "class" or "override" in arguments)


def undocumented(entries):
    asked = asked_for(entries)
    missing = []
    told = {entry.name for entry in entries if entry.text()}
    for entry in entries:
        if not entry.name or entry.name.startswith("@") or entry.name.startswith("operator"):
            continue
        if entry.name not in told:
            missing.append(f"{entry.header()}: {entry.kind} {entry.name}")
        documented = {key for member in entry.members if member.text() for key in (member.name, member.line())}
        for member in entry.members:
            if member.name in documented or member.line() in documented or needs_no_words(member, entry, asked):
                continue
            missing.append(f"{entry.header()}: {entry.name}::{member.name}")
    return sorted(set(missing))


def write_entry(entry, out, asked):
    out.append(f"## {entry.name} {{ #{anchor(entry.name)} }}\n")
    out.append(f"<small>{entry.kind}, `<{entry.header()}>`</small>\n")
    if entry.kind == "concept":
        source = re.sub(r"(?s)^.*?(template)", r"\1", "".join(entry.node.find("initializer").itertext()))
        out.append("```cpp\n" + source.strip() + "\n```\n")
    else:
        out.append("```cpp\n" + entry.declaration() + "\n```\n")
    out.append(entry.text() + "\n")
    if entry.kind == "enum":
        for value in entry.node.findall("enumvalue"):
            text = " ".join(words_of(value.find(part)) for part in ("briefdescription", "detaileddescription")).strip()
            out.append(f"- `{value.findtext('name')}`{': ' + Markdown.escaped(text) if text else ''}")
        out.append("")
    write_members(entry, out, asked)


def write_members(entry, out, asked):
    shown = [m for m in entry.members if m.text() or not needs_no_words(m, entry, {})]
    if not shown:
        return
    out.append("| member | |\n| --- | --- |")
    for member in shown:
        text = member.text().replace("\n```cpp\n", " `").replace("\n```", "` ").replace("\n", " ").replace("|", "\\|")
        if not text and member.name in asked:
            concept = asked[member.name]
            text = f"See [`{concept.name}`]({concept.room() or 'version'}.md#{anchor(concept.name)})."
        code = html.escape(member.declaration().replace("\n", " ")).replace("|", "&#124;").replace("[", "&#91;")
        out.append(f"| <code>{code}</code> | {re.sub(r' +', ' ', text)} |")
    out.append("")


def header_text(root, header):
    """What a header says of all its names, before its namespace."""
    text = (root / "include" / header).read_text() if (root / "include" / header).is_file() else ""
    comment = re.search(r"((?:^///.*\n)+)namespace papcoll", text, re.M)
    return re.sub(r"(?m)^/// ?", "", comment[1]) if comment else ""


def anchor(name):
    return re.sub(r"\W+", "-", name).strip("-")


def write_pages(entries, folder):
    folder.mkdir(parents=True, exist_ok=True)
    asked = asked_for(entries)
    index = ["# Reference\n", "Every public name, from the comments in the headers. Everything is in namespace `papcoll`.\n"]
    for room, title in ROOMS.items():
        of_room = sorted((e for e in entries if e.room() == room and e.name and (e.text() or e.kind != "function")),
                         key=lambda e: (ORDER[e.kind], e.name))
        of_room = [e for e in of_room if not e.name.startswith(("operator", "@"))]
        if not of_room:
            continue
        page = f"{room or 'version'}.md"
        out, seen = [f"# {title}\n"], {}
        for header in sorted({entry.header() for entry in of_room}):
            if text := header_text(pathlib.Path(__file__).parents[1], header):
                out.append(f"`<{header}>`: {text}\n")
        for entry in of_room:
            if entry.name in seen and entry.kind == "function":
                out.append("```cpp\n" + entry.declaration() + "\n```\n\n" + entry.text() + "\n")
                continue
            seen[entry.name] = entry
            write_entry(entry, out, asked)
        (folder / page).write_text("\n".join(out))
        index.append(f"## [{title}]({page})\n")
        index.append(", ".join(f"[`{name}`]({page}#{anchor(name)})" for name in seen) + "\n")
    (folder / "index.md").write_text("\n".join(index))


def main():
    entries = load(pathlib.Path(sys.argv[1]))
    if sys.argv[2] != "--undocumented":
        return write_pages(entries, pathlib.Path(sys.argv[2]))
    missing = undocumented(entries)
    print("\n".join(missing))
    print(f"{len(missing)} public names without documentation, of {sum(1 + len(e.members) for e in entries)}")
    return 1 if missing or len(entries) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
