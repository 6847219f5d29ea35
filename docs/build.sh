#!/usr/bin/env bash
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#
# Builds the documentation's site: docs/build.sh [folder], by default build/site. Installs what is missing on Debian 12, lets
# doxygen read the headers, and fails on warnings, on public names without documentation and on links that lead nowhere.
# Needs no network where the packages are installed.
set -euo pipefail

docs=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$docs")
site=$(realpath -m "${1:-$root/build/site}")
"$root/tools/install_documentation_tools.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pages=$work/pages
mkdir -p "$pages/pictures"

"$docs/read_headers.sh" "$work/doxygen" --undocumented
cp "$docs"/*.md "$docs"/*.svg "$docs"/*.css "$pages"
cp "$root"/bench/results/*.png "$pages/pictures" 2>/dev/null || true
cp "$root/CHANGELOG.md" "$pages/changes.md"
python3 "$docs/reference.py" "$work/doxygen/xml" "$pages/reference"

# The reference's pages in the navigation, and the configuration where mkdocs finds the pages.
python3 - "$docs/mkdocs.yml" "$pages/reference" "$work/mkdocs.yml" <<'END'
import pathlib
import sys

configuration, reference, result = map(pathlib.Path, sys.argv[1:])
titles = {page.name: page.read_text().splitlines()[0].lstrip("# ") for page in sorted(reference.glob("*.md"))}
entries = ["reference/index.md"] + [f"{title}: reference/{name}" for name, title in titles.items() if name != "index.md"]
result.write_text(configuration.read_text().replace("REFERENCE", "".join(f"\n      - {entry}" for entry in entries)))
END
export PAPCOLL_PAGES=$pages PAPCOLL_SITE=$site PAPCOLL_ROOT=$root
PYTHONPATH= /usr/bin/python3 -m mkdocs build --quiet --strict --clean --config-file "$work/mkdocs.yml"
python3 "$docs/check_links.py" "$site"
echo "the site is in $site"
