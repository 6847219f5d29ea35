#!/usr/bin/env bash
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#
# Uses papcoll from a project outside, as its users get it.
#
#   test/package/run.sh find_package | core | add_subdirectory | FetchContent | conan
#
# Exit code 77: the route cannot be tried on this machine. CONAN names the Conan 2 client, by default `conan`;
# CMAKE_GENERATOR names CMake's generator, as it always does.
set -euo pipefail

route=${1:?which route}
consumer=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$consumer/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if command -v ccache >/dev/null; then
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$work CCACHE_NOHASHDIR=1
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

build_consumer() {
    cmake -S "$consumer" -B "$work/consumer" -DPAPCOLL_ROUTE="$route" -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror" "$@"
    cmake --build "$work/consumer"
    "$work/consumer/example"
    "$work/consumer/compiled"
}

run_user_compiled() {
    "$work/consumer/mixed"
    if cmake --build "$work/consumer" --target forgotten >"$work/forgotten" 2>&1; then
        echo "a program without the implementation was linked"
        exit 1
    fi
    grep -q "compiled_by_papcoll_impl_hpp" "$work/forgotten"
}

install_library() {
    cmake -S "$source" -B "$work/build" -DPAPCOLL_BUILD_TESTS=OFF -DPAPCOLL_BUILD_EXAMPLES=OFF \
        -DPAPCOLL_BUILD_BENCH=OFF -DPAPCOLL_COMPILED=ON "$@"
    cmake --build "$work/build"
    cmake --install "$work/build" --prefix "$work/prefix"
}

with_conan() {
    local conan=${CONAN:-conan}
    if ! $conan --version 2>/dev/null | grep -q "version 2"; then
        echo "no Conan 2 client here: skipped"
        exit 77
    fi
    export CONAN_HOME=$work/conan
    $conan profile detect
    local create
    read -ra create <<<"$conan"
    create+=(create "$source" -o "papcoll/*:system_dependencies=True")
    [ -z "${CMAKE_GENERATOR-}" ] || create+=(-c "tools.cmake.cmaketoolchain:generator=$CMAKE_GENERATOR")
    # Packages of Boost, Open MPI and xsimd come from a registry; the machine's own are used instead.
    cp -r "$consumer" "$work/test_package" # Conan writes into it
    "${create[@]}" --test-folder "$work/test_package" # with the profile as it is detected
    "${create[@]}" --test-folder "$work/test_package" -s compiler.cppstd=17
    "${create[@]}" --test-folder "$work/test_package" -o "papcoll/*:compiled=True"
    if "${create[@]}" --test-folder= -s compiler=gcc -s compiler.version=10 >"$work/refused" 2>&1; then
        echo "g++ 10 was not refused"
        exit 1
    fi
    grep "gcc 10 is too old" "$work/refused"
}

case $route in
find_package)
    install_library
    build_consumer -DCMAKE_PREFIX_PATH="$work/prefix"
    run_user_compiled
    ;;
core)
    install_library -DPAPCOLL_BOOST_MPI=OFF
    build_consumer -DCMAKE_PREFIX_PATH="$work/prefix"
    ;;
add_subdirectory)
    build_consumer -DPAPCOLL_SOURCE="$source"
    ;;
FetchContent)
    (cd "$source" && tar -czf "$work/papcoll.tar.gz" --transform 's,^,papcoll/,' CMakeLists.txt LICENSE cmake include src)
    build_consumer -DPAPCOLL_SOURCE="$work/papcoll.tar.gz"
    ;;
conan) with_conan ;;
*)
    echo "unknown route: $route" >&2
    exit 2
    ;;
esac
