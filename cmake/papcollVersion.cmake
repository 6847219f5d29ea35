# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
# Sets papcoll_version to what include/papcoll/version.hpp says.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/../include/papcoll/version.hpp papcoll_version
     REGEX "^#define PAPCOLL_VERSION_(MAJOR|MINOR|PATCH) ")
list(TRANSFORM papcoll_version REPLACE "^#define [A-Z_]+ ([0-9]+).*" "\\1")
list(JOIN papcoll_version "." papcoll_version)
