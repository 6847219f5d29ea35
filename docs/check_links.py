#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Checks the links of Markdown files, or of the HTML files in a folder, without a network.

    check_links.py <root> <file.md> ...
    check_links.py <folder of HTML files>

A link within the root must name a file, and an anchor in it if it names one; in Markdown it must also stay in the root.
Pages that docs/build.sh generates, reference/, are looked at in HTML alone. Addresses of other machines are not asked
for, but must be whole.
"""
import html.parser
import pathlib
import re
import sys
import urllib.parse

GENERATED = ("reference/", "changes.md", "pictures/")


def anchor_of(heading):
    text = re.sub(r"`|\*|\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-")


def without_code(text):
    text = re.sub(r"(?ms)^ *```.*?^ *```", "", text)
    return re.sub(r"`[^`\n]*`", "", text)


class MarkdownFile:
    def __init__(self, path):
        text = path.read_text()
        body = without_code(text)
        self.links = re.findall(r"\]\(([^)\s]+)\)", body) + re.findall(r"(?m)^\[[^]]+\]: *(\S+)", body)
        headings = re.findall(r"(?m)^#+ +(.*?)(?: *\{ *#([\w-]+) *\})?$", re.sub(r"(?ms)^ *```.*?^ *```", "", text))
        self.anchors = {anchor or anchor_of(heading) for heading, anchor in headings}


class HtmlFile(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], {""}
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name in ("id", "name"):
                self.anchors.add(value)


def broken(path, root, known):
    """Yields what is wrong with the links of one file."""
    for link in known(path).links:
        parts = urllib.parse.urlsplit(link)
        if parts.scheme in ("http", "https"):
            if not re.fullmatch(r"[\w.-]+\.[a-z]+", parts.netloc):
                yield f"{path}: {link} has no host"
            continue
        if parts.scheme:
            continue
        if path.suffix == ".md" and path.resolve().parent.name == "docs" and parts.path.startswith(GENERATED):
            continue
        target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path.resolve()
        if target.is_dir() and path.suffix == ".html":
            target /= "index.html"
        if not target.exists() or not target.is_relative_to(root):
            yield f"{path}: {link} leads nowhere"
        elif parts.fragment and target.suffix == path.suffix and parts.fragment not in known(target).anchors:
            yield f"{path}: {link}: there is no such heading"


def check(root, files, read):
    cache = {}

    def known(path):
        path = path.resolve()
        if path not in cache:
            cache[path] = read(path)
        return cache[path]

    return [text for path in files for text in broken(path, root.resolve(), known)]


def main():
    root = pathlib.Path(sys.argv[1])
    if len(sys.argv) > 2:
        files, found = sys.argv[2:], check(root, [pathlib.Path(name) for name in sys.argv[2:]], MarkdownFile)
    else:
        files = [page for page in sorted(root.rglob("*.html")) if page.name != "404.html"]
        found = check(root, files, HtmlFile)
    print("\n".join(found) if found else f"the links of {len(files)} files lead somewhere")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
