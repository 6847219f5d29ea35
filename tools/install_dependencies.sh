#!/usr/bin/env bash
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#
# Installs what building papcoll, its tests, benchmarks and examples needs on Debian 12.
# Packages that are there are left alone; when all are there, neither root nor a network is needed.
#
#   tools/install_dependencies.sh [extra package ...]
set -euo pipefail

packages=(
    g++ binutils cmake ninja-build ccache pkg-config python3
    libopenmpi-dev openmpi-bin
    libboost-dev libboost-mpi-dev libboost-serialization-dev libboost-container-dev
    libxsimd-dev doctest-dev libbenchmark-dev libcli11-dev nlohmann-json3-dev libpng-dev
    "$@"
)

fail() {
    echo "install_dependencies: $*" >&2
    exit 1
}

is_installed() {
    [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        fail "these packages are missing: ${missing[*]}
Installing them needs root or sudo, and this is neither. As root:
    apt-get update && apt-get install ${missing[*]}"
    fi
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    fail "no dpkg or apt-get here; install what corresponds to: ${packages[*]}"
fi

missing=()
for package in "${packages[@]}"; do
    is_installed "$package" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

echo "install_dependencies: installing ${missing[*]}" >&2
as_root apt-get update -qq || fail "apt-get update failed; still missing: ${missing[*]}"
as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2 ||
    fail "apt-get could not install: ${missing[*]}"
