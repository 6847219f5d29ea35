#!/usr/bin/env bash
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#
# Uses papcoll from a project outside, as its users get it.
#
#   test/package/run.sh find_package | core | add_subdirectory | FetchContent | pkg_config | conan
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

# The build type None has no flags: it compiles fast. The library is compiled with those of the program on every route, so that
# ccache finds what another route has compiled.
common_options=(-DCMAKE_BUILD_TYPE=None "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror")
build_consumer() {
    cmake -S "$consumer" -B "$work/consumer" -DPAPCOLL_ROUTE="$route" "${common_options[@]}" "$@"
    cmake --build "$work/consumer"
    local program
    for program in example compiled; do
        [ ! -e "$work/consumer/$program" ] || "$work/consumer/$program"
    done
}

run_user_compiled() {
    "$work/consumer/mixed"
    if cmake --build "$work/consumer" --target forgotten >"$work/forgotten" 2>&1; then
        echo "a program without the implementation was linked"
        exit 1
    fi
    grep -q "compiled_by_papcoll_impl_hpp" "$work/forgotten"
}

configure_library() {
    local folder=$1
    shift
    cmake -S "$source" -B "$folder" -DPAPCOLL_BUILD_TESTS=OFF -DPAPCOLL_BUILD_EXAMPLES=OFF -DPAPCOLL_BUILD_BENCH=OFF \
        -DPAPCOLL_COMPILED=ON "$@"
}

# Without a build type, as many users call CMake.
expect_optimised_by_default() {
    configure_library "$work/default"
    grep -q "^CMAKE_BUILD_TYPE:.*=Release$" "$work/default/CMakeCache.txt" || {
        echo "papcoll::compiled is not optimised by default"
        exit 1
    }
}

expect_reason_without_compiled() {
    configure_library "$work/headers" -DPAPCOLL_COMPILED=OFF
    cmake --install "$work/headers" --prefix "$work/headers_prefix" >/dev/null
    mkdir "$work/asks"
    printf '%s\n' "cmake_minimum_required(VERSION 3.21)" "project(asks LANGUAGES CXX)" \
        "find_package(papcoll REQUIRED COMPONENTS compiled)" >"$work/asks/CMakeLists.txt"
    if cmake -S "$work/asks" -B "$work/asks/build" -DCMAKE_PREFIX_PATH="$work/headers_prefix" >"$work/asked" 2>&1; then
        echo "papcoll::compiled was found where it is not installed"
        exit 1
    fi
    grep -q "installed without -DPAPCOLL_COMPILED=ON" "$work/asked" || { cat "$work/asked"; exit 1; }
}

install_library() {
    configure_library "$work/build" "${common_options[@]}" "$@"
    cmake --build "$work/build"
    cmake --install "$work/build" --prefix "$work/prefix"
}

# A program built by the MPI library's wrapper and what pkg-config says, no CMake.
build_with_modules() {
    local program=$1 source=$2
    shift 2
    local flags
    read -ra flags <<<"$(pkg-config --cflags --libs "$@")"
    mpicxx -std=c++20 "$consumer/$source" "${flags[@]}" -o "$work/$program"
    "$work/$program"
}
with_pkg_config() {
    if ! command -v pkg-config >/dev/null || ! command -v mpicxx >/dev/null; then
        echo "no pkg-config or no mpicxx here: skipped"
        exit 77
    fi
    install_library
    mv "$work/prefix" "$work/elsewhere" # they find their prefix by themselves
    local folders
    folders=$(find "$work/elsewhere" -name pkgconfig -printf '%p:')
    export PKG_CONFIG_PATH=$folders
    build_with_modules core core_example.cpp papcoll-core
    build_with_modules compiled example.cpp papcoll-compiled # also with what `papcoll` says
    local header_version
    header_version=$(awk '/^#define PAPCOLL_VERSION_/ { printf "%s%s", dot, $3; dot = "." }' \
        "$source/include/papcoll/version.hpp")
    local module
    for module in papcoll-core papcoll papcoll-compiled; do
        [ "$(pkg-config --modversion $module)" = "$header_version" ] || { echo "$module has another version"; exit 1; }
    done
    if pkg-config --cflags --libs papcoll-compiled | grep -F "$work/prefix"; then
        echo "the modules name the prefix of the installation"
        exit 1
    fi
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
    expect_optimised_by_default
    expect_reason_without_compiled
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
pkg_config) with_pkg_config ;;
conan) with_conan ;;
*)
    echo "unknown route: $route" >&2
    exit 2
    ;;
esac
