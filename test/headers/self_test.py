#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Tries write_sources.py out: what it puts behind each other, and what it must not."""
import pathlib
import subprocess
import sys
import tempfile

SCRIPT = pathlib.Path(__file__).with_name("write_sources.py")


def run(headers):
    """What the script says of headers with these texts, and the files that it writes, as lists of headers."""
    with tempfile.TemporaryDirectory() as folder:
        root, output = pathlib.Path(folder, "include"), pathlib.Path(folder, "output")
        (root / "papcoll").mkdir(parents=True)
        for name, text in headers.items():
            (root / "papcoll" / f"{name}.hpp").write_text(text)
        done = subprocess.run([sys.executable, SCRIPT, root, output], capture_output=True, text=True, check=False)
        files = {}
        for path in done.stdout.splitlines():
            lines = pathlib.Path(path).read_text().replace("#include <papcoll/", "").replace(".hpp>", "").splitlines()
            files[pathlib.Path(path).stem] = lines
    return done, files


def header(*includes, end=()):
    """The text of a header that includes these, and some behind its own text."""
    lines = ["// comment", "#pragma once", "", "#include <vector>"]
    lines += [f"#include <papcoll/{name}.hpp>" for name in includes]
    lines += ["namespace papcoll {}"] + [f"#include <papcoll/{name}.hpp>" for name in end]
    return "\n".join(lines) + "\n"


_, written = run({"a": header(), "b": header("a"), "c": header("b"), "lacks_a": header()})
assert written["c"] == ["a", "a", "b", "b", "c", "c"], written
assert written["lacks_a"] == ["lacks_a"] * 2, written
assert written["main"] == ["a", "b", "c", "lacks_a", "int main() {}"], written
assert written["again"] == written["main"][:-1], written
assert set(written) == {"c", "lacks_a", "main", "again"}, written

# What comes behind a header's own text is not known to it where it is alone.
_, written = run({"front": header(end=["rest"]), "rest": header("front"), "user": header("front")})
assert written["rest"] == ["rest"] * 2, written
assert written["user"] == ["front", "front", "user", "user"], written

# An implementation may lead back to headers whose text is over, and to no others.
chain = {"front": header("middle", end=["rest"]), "middle": header(end=["implementation"])}
done, written = run(chain | {"rest": header("front"), "implementation": header("middle")})
assert done.returncode == 0 and "rest" in written, done
done, _ = run(chain | {"rest": header("front"), "implementation": header("front")})
assert done.returncode != 0 and "implementation.hpp needs papcoll/front.hpp, which is half read" in done.stderr, done

done, _ = run({"twice": "int f();\n"})
assert done.returncode != 0 and "must begin with #pragma once" in done.stderr, done
