#!/usr/bin/env bash
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#
# Installs what is missing (Debian 12, root or sudo), builds the tests and runs them. Safe to call again.
#
#   test/run.sh [ctest options]        PAPCOLL_BUILD_DIR: where to build, by default build/test
#                                      PAPCOLL_JOBS: compilers and tests at the same time, by default one per core
set -euo pipefail

source=$(cd "$(dirname "$0")/.." && pwd)
build=${PAPCOLL_BUILD_DIR:-$source/build/test}
jobs=${PAPCOLL_JOBS:-$(nproc)}

"$source/tools/install_dependencies.sh"

cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 \
    -DPAPCOLL_BUILD_TESTS=ON -DPAPCOLL_BUILD_EXAMPLES=OFF -DPAPCOLL_BUILD_BENCH=OFF
cmake --build "$build" --parallel "$jobs"
ctest --test-dir "$build" --parallel "$jobs" --output-on-failure --no-tests=error "$@"
