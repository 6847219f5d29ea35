#!/usr/bin/env bash
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#
# Lets doxygen read the headers, then docs/reference.py write pages of what it read, or list what lacks documentation.
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
