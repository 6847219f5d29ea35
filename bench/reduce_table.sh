#!/usr/bin/env bash
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#
# Measures reduce on the emulated cluster: MPI_Reduce (default, and each of its seven algorithms) against
# Clairvoyant with and without known arrivals, balanced and under the eight patterns. As root:
#
#   bench/reduce_table.sh BUILD_FOLDER [RESULT_FOLDER]
#
# Environment: HOSTS (default "8 16"), RATE (100mbit), SIZES (131072,1048576), REPETITIONS (5), PATTERNS (all),
# MAGNITUDES (0.5,1.0,1.5), ALGORITHMS (1 … 7; empty: none), OPTIONS for the benchmark, and those of
# cluster/cluster.sh. With the defaults it takes about half an hour.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    echo "usage: $0 BUILD_FOLDER [RESULT_FOLDER]" >&2
    exit 2
fi
program=$(realpath "$1")/bench/collectives
results=${2:-$here/results}
cluster=$here/cluster/cluster.sh
rate=${RATE:-100mbit}
sizes=${SIZES:-131072,1048576}
repetitions=${REPETITIONS:-5}
read -ra all_hosts <<<"${HOSTS:-8 16}"
read -ra algorithms <<<"${ALGORITHMS-1 2 3 4 5 6 7}"
read -ra options <<<"${OPTIONS:-}"

[ -x "$program" ] || {
    echo "$0: $program is not there; build the target bench_collectives first" >&2
    exit 1
}
mkdir -p "$results"

# measure NAME HOSTS MPIRUN_OPTIONS BENCHMARK_OPTIONS...: rows to NAME.txt as they come, and to NAME.json.
measure() {
    local name=$1 hosts=$2 mpirun_options=$3
    shift 3
    echo "== $name"
    MPIRUN_ARGS="${MPIRUN_ARGS:-} $mpirun_options" "$cluster" run "$hosts" "$program" --operation reduce \
        --rate "$rate" --sizes "$sizes" --repetitions "$repetitions" --json "$results/$name.json" \
        "${options[@]}" "$@" | tee "$results/$name.txt"
}

trap '"$cluster" down' EXIT
for hosts in "${all_hosts[@]}"; do
    "$cluster" up "$hosts" "$rate"
    measure "reduce-$hosts" "$hosts" "" --magnitudes "${MAGNITUDES:-0.5,1.0,1.5}" \
        ${PATTERNS:+--patterns "$PATTERNS"}
    # The balanced row alone: what a user who tunes the library would find.
    for algorithm in "${algorithms[@]}"; do
        measure "reduce-$hosts-algorithm-$algorithm" "$hosts" \
            "--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_reduce_algorithm $algorithm" \
            --policies native --balanced-only
    done
done
