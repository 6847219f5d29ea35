#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""due.py must find what is missing, and nothing else: due_self_test.py <docs folder>"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, sys.argv[1])
import due  # noqa: E402
import reference  # noqa: E402

HEADER = """#pragma once
namespace papcoll {{
/// Something.
struct link_options {{
    /// How long it takes{unit}.
    double delay = 0;
    /// Waits for others.
    {word}auto wait(int patience) -> int {{
        if (patience < 0)
            throw std::invalid_argument("patience");
        return 0;
    }}
}};
}}
"""


class Due(unittest.TestCase):
    def found(self, unit="", word="", page=""):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            header = root / "include/papcoll/context/link_options.hpp"
            header.parent.mkdir(parents=True)
            (root / "docs").mkdir()
            (root / "docs/page.md").write_text(page)
            (root / "README.md").write_text("")
            header.write_text(HEADER.format(unit=unit, word=word))
            subprocess.run(["doxygen", sys.argv[1] + "/Doxyfile"], check=True, stdout=subprocess.DEVNULL,
                           env=os.environ | {"PAPCOLL_ROOT": folder, "PAPCOLL_XML": folder})
            entries = reference.load(root / "xml")
            everything = due.documented(entries, root)
            return {"parameters": list(due.parameters(everything)), "units": list(due.units(everything)),
                    "errors": list(due.errors(everything, root)), "examples": list(due.examples(entries, root))}

    def test_all_is_missing(self):
        found = self.found()
        self.assertIn("parameter patience", found["parameters"][0])
        self.assertIn("link_options::delay: unit of double", found["units"][0])
        self.assertIn("throws std::invalid_argument", found["errors"][0])
        self.assertIn("example of option link_options::delay", found["examples"][0])

    def test_nothing_is_missing(self):
        found = self.found(", in nanoseconds", "/// At most `patience` seconds; throws std::invalid_argument below 0.\n    ",
                           "```cpp\nlink_options{.delay = 3};\n```\n")
        self.assertEqual([line for lines in found.values() for line in lines], [])

    def test_prose_is_no_example(self):
        self.assertEqual(len(self.found(page="Say `.delay = 3`.")["examples"]), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
