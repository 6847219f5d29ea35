#!/usr/bin/env bash
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#
# Measures the collectives on the emulated cluster, beside the MPI library's default and each algorithm that Open
# MPI can be told to use. As root:
#
#   bench/collective_tables.sh BUILD_FOLDER [RESULT_FOLDER]
#
# Every part is one run, RESULT_FOLDER/parts/CLUSTER-OPERATION-SIZES-VARIANT.json and .txt. Parts that are there are
# left out, so the script goes on where it was stopped; remove files to measure them again. At the end the
# rows of each cluster are joined in RESULT_FOLDER/collectives-CLUSTER.txt, and summarise.py prints the tables.
#
# Environment, lists separated by blanks:
#   CLUSTERS     HOSTS or HOSTSxRANKS_PER_HOST (8 16 3 5 7 11 13 8x2 4x4)
#   SETS         default: balanced, the library's default and circulant; algorithms: balanced, the library's algorithms;
#                patterns: reduce under the eight patterns; small: as default, few elements (default algorithms patterns small)
#   OPERATIONS   of bench/collectives (all)
#   SIZES        numbers of floats; those joined by commas share a run (16384,131072 1048576)
#   SMALL_SIZES  of the set small (2,32,256)
#   PATTERNS     (the eight), MAGNITUDES as multiples of the link bound (0.5,1.0,1.5)
#   REPETITIONS  (5), SMALL_REPETITIONS (51), ALGORITHM_REPETITIONS (3), PATTERN_REPETITIONS (3)
#   RATE         (100mbit), and those of cluster/cluster.sh
#   RUN_PREFIX   put before every run on the cluster, such as "chrt --fifo 10" or "timeout 300"
# With the defaults it takes hours; CLUSTERS=8 SETS=default takes two minutes.
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
read -ra clusters <<<"${CLUSTERS:-8 16 3 5 7 11 13 8x2 4x4}"
read -ra sets <<<"${SETS:-default algorithms patterns small}"
read -ra operations <<<"${OPERATIONS:-broadcast reduce all_reduce all_gather all_gatherv_one all_gatherv_mod3 reduce_scatter reduce_scatter_mod3}"
read -ra sizes <<<"${SIZES:-16384,131072 1048576}"
read -ra small_sizes <<<"${SMALL_SIZES:-2,32,256}"
read -ra patterns <<<"${PATTERNS:-ascending descending random first_delayed last_delayed bell valley half_delayed}"
read -ra prefix <<<"${RUN_PREFIX:-}"
failed=()

[ -x "$program" ] || {
    echo "$0: $program is not there; build the target bench_collectives first" >&2
    exit 1
}
mkdir -p "$results/parts"

# What Open MPI calls an operation, and its algorithms by number; some need an even number of ranks.
algorithms_of() {
    local operation=$1 ranks=$2 even=""
    ((ranks % 2)) || even=1
    case $operation in
    broadcast) echo bcast 1 2 3 4 5 6 7 8 9 ;;
    reduce) echo reduce 1 2 3 4 5 6 7 ;;
    all_reduce) echo allreduce 1 2 3 4 5 6 ;;
    all_gather) echo allgather 1 2 3 4 ${even:+5} ;;
    all_gatherv_*) echo allgatherv 1 2 3 ${even:+4} ;;
    reduce_scatter*) echo reduce_scatter 1 2 3 4 ;;
    esac
}

# measure CLUSTER OPERATION SIZES VARIANT MPIRUN_OPTIONS BENCHMARK_OPTIONS...
measure() {
    local shape=$1 operation=$2 counts=$3 part=$1-$2-$3-$4 mpirun_options=$5
    local file=$results/parts/$part
    shift 5
    [ ! -f "$file.json" ] || return 0
    echo "== $part"
    if ! PER_HOST=${shape#*x} MPIRUN_ARGS="${MPIRUN_ARGS:-} $mpirun_options" "${prefix[@]}" "$cluster" run \
        "${shape%x*}" "$program" --operation "$operation" --rate "$rate" --sizes "$counts" \
        --json "$file.json" "$@" >"$file.txt"; then
        failed+=("$part")
        rm -f "$file.json"
    fi
    cat "$file.txt"
}

# measure_algorithms CLUSTER OPERATION SIZES
measure_algorithms() {
    local shape=$1 operation=$2 counts=$3 name algorithm
    local algorithms
    read -ra algorithms <<<"$(algorithms_of "$operation" $((${shape%x*} * ${shape#*x})))"
    name=${algorithms[0]}
    for algorithm in "${algorithms[@]:1}"; do
        measure "$shape" "$operation" "$counts" "algorithm-$algorithm" \
            "--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_${name}_algorithm $algorithm" \
            --policies native --balanced-only --repetitions "${ALGORITHM_REPETITIONS:-3}"
    done
}

# measure_set CLUSTER SET OPERATION
measure_set() {
    local shape=$1 operation=$3 some pattern
    case $2 in
    default)
        for some in "${sizes[@]}"; do
            measure "$shape" "$operation" "$some" default "" --policies native,circulant --balanced-only \
                --repetitions "${REPETITIONS:-5}"
        done
        ;;
    small)
        for some in "${small_sizes[@]}"; do
            measure "$shape" "$operation" "$some" small "" --policies native,circulant --balanced-only \
                --repetitions "${SMALL_REPETITIONS:-51}"
        done
        ;;
    algorithms) for some in "${sizes[@]}"; do measure_algorithms "$shape" "$operation" "$some"; done ;;
    patterns)
        [ "$operation" = reduce ] || return 0
        for some in "${sizes[@]}"; do
            for pattern in "${patterns[@]}"; do
                measure "$shape" "$operation" "$some" "pattern-$pattern" "" --policies native,circulant,clairvoyant \
                    --patterns "$pattern" --magnitudes "${MAGNITUDES:-0.5,1.0,1.5}" --base bound \
                    --repetitions "${PATTERN_REPETITIONS:-3}"
            done
        done
        ;;
    *)
        echo "$0: no set '$2'" >&2
        exit 2
        ;;
    esac
}

most=0
for i in "${!clusters[@]}"; do
    [[ ${clusters[i]} == *x* ]] || clusters[i]+=x1
    ((${clusters[i]%x*} <= most)) || most=${clusters[i]%x*}
done
"$cluster" up "$most" "$rate"
trap '"$cluster" down' EXIT
for shape in "${clusters[@]}"; do
    for set in "${sets[@]}"; do
        for operation in "${operations[@]}"; do measure_set "$shape" "$set" "$operation"; done
    done
    for file in "$results/parts/$shape"-*.txt; do
        [ ! -f "${file%.txt}.json" ] || { echo "== $(basename "$file" .txt)" && cat "$file"; }
    done >"$results/collectives-$shape.txt"
done
"$here/summarise.py" "$results/parts"
if ((${#failed[@]})); then
    printf 'failed: %s\n' "${failed[@]}" >&2
    exit 1
fi
