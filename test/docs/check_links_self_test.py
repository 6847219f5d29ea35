#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""check_links.py must find what is broken: check_links_self_test.py <docs folder>"""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, sys.argv[1])
import check_links  # noqa: E402


class Links(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        (self.root / "other.md").write_text("# A `word` & more\n\n```\n# no heading\n```\n")

    def tearDown(self):
        self.folder.cleanup()

    def found(self, text, name="page.md"):
        page = self.root / name
        page.write_text(text)
        read = check_links.HtmlFile if name.endswith("html") else check_links.MarkdownFile
        return check_links.check(self.root, [page], read)

    def test_good_ones(self):
        self.assertEqual(self.found("# T\n[a](other.md) [b](other.md#a-word--more) [c](#t) [d](https://example.org/x)\n"
                                    "```\n[no](link)\n```\n`[no](link)`"), [])

    def test_missing_file_heading_and_host(self):
        for text in ("[a](nothing.md)", "[a](other.md#no-heading)", "# T\n[a](#u)", "[a](https:///x)", "[a](../../x.md)"):
            self.assertEqual(len(self.found(text)), 1, text)

    def test_html(self):
        self.assertEqual(self.found('<p id="x"><a href="#x">a</a><img src="page.html">', "page.html"), [])
        self.assertEqual(len(self.found('<a href="#y">a</a><img src="no.png">', "page.html")), 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
