#!/usr/bin/env bash
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#
# Runs the main example, from a bare Debian 12: installs what is missing, builds, and paints a Buddhabrot whose
# images are summed by MPI_Reduce and by papcoll.
usage() {
    cat <<'USAGE'
demo.sh              on local ranks
demo.sh --cluster    on an emulated cluster with a network of its own (as root; see bench/cluster/)

Environment:
  DEMO_QUICK=1   few frames: less than 20 seconds once it is built
  DEMO_RANKS     ranks, or hosts of the cluster (default 8)
  DEMO_RATE      what a link of the cluster carries (default 100mbit)
  DEMO_BUILD     build folder (default build/demo in the source tree)
  DEMO_OUTPUT    folder for the picture and the timeline (default: picture in the build folder)
USAGE
}
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
ranks=${DEMO_RANKS:-8}
build=$(realpath -m "${DEMO_BUILD:-$root/build/demo}")
output=$(realpath -m "${DEMO_OUTPUT:-$build/picture}")

fail() {
    echo "demo.sh: $*" >&2
    exit 1
}

build_example() {
    local log=$build/build.log
    mkdir -p "$build"
    echo "Building in $build ..."
    {
        cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DPAPCOLL_BUILD_TESTS=OFF \
            -DPAPCOLL_BUILD_BENCH=OFF -DPAPCOLL_BUILD_EXAMPLES=ON &&
            cmake --build "$build" --target buddhabrot
    } >"$log" 2>&1 || {
        tail -n 40 "$log" >&2
        fail "the build failed; all of its output is in $log"
    }
}

run_locally() {
    # More ranks than cores, inside containers, as root.
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
    export OMPI_MCA_btl_vader_single_copy_mechanism=none
    mpirun --oversubscribe -n "$ranks" "$@"
    if ((ranks > $(nproc))); then
        echo
        echo "Note: $ranks ranks share $(nproc) cores and no network is involved, so these times say more about the"
        echo "operating system than about MPI_Reduce or papcoll. As root, demo.sh --cluster measures over real links."
    fi
}

run_on_cluster() { "$root/bench/cluster/cluster.sh" with "$ranks" "${DEMO_RATE:-100mbit}" "$@"; }

where=run_locally
packages=()
case $#:${1-} in
0:) ;;
1:--cluster)
    [ "$(id -u)" -eq 0 ] || fail "--cluster must run as root: it creates network namespaces (try sudo $0 --cluster)"
    where=run_on_cluster
    packages=(iproute2 util-linux)
    ;;
1:-h | 1:--help)
    usage
    exit
    ;;
*)
    usage >&2
    exit 2
    ;;
esac

[[ $ranks =~ ^[1-9][0-9]*$ ]] || fail "DEMO_RANKS must be a positive number, but is '$ranks'"
"$root/tools/install_dependencies.sh" "${packages[@]}"
build_example
arguments=(--output "$output")
[ "${DEMO_QUICK:-0}" = 0 ] || arguments+=(--quick)
"$where" "$build/examples/buddhabrot" "${arguments[@]}"
