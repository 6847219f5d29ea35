#!/usr/bin/env bash
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#
# Installs what docs/build.sh needs on Debian 12; see install_dependencies.sh.
exec "$(dirname "$0")/install_dependencies.sh" doxygen mkdocs mkdocs-material python3-pymdownx
