#!/usr/bin/env bash
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#
# Lets doxygen read the headers, then docs/reference.py write pages of what it read, or, with
# --undocumented, list the public names that lack documentation, and what due.py counts as due.
#
#   docs/read_headers.sh <folder for doxygen's files> <argument of reference.py>
set -euo pipefail

docs=$(cd "$(dirname "$0")" && pwd)
PAPCOLL_ROOT=$(dirname "$docs")
PAPCOLL_XML=$1
export PAPCOLL_ROOT PAPCOLL_XML
mkdir -p "$PAPCOLL_XML"
rm -rf "$PAPCOLL_XML/xml"
doxygen "$docs/Doxyfile"
python3 "$docs/reference.py" "$PAPCOLL_XML/xml" "$2"
if [ "$2" = --undocumented ]; then python3 "$docs/due.py" "$PAPCOLL_XML/xml" "$PAPCOLL_ROOT"; fi
