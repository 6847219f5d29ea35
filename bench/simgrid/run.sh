#!/usr/bin/env bash
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#
# Measures papcoll's collectives and SMPI's algorithms on a simulated cluster, and prints the comparison.
#
#   bench/simgrid/run.sh [flat-64|flat-1024|nodes-32x32|ethernet-48|shared-48]
#
# Environment (defaults in brackets; flat-1024 and nodes-32x32 take a sample unless told otherwise):
#   OPERATIONS  [broadcast reduce all_gather all_reduce]
#   BYTES       [1024 32768 1048576; in total for all_gather, which needs 4 for each rank]
#   POLICIES    [papcoll's: circulant, two_level where hosts have several ranks, those that know arrivals, and those of
#               few rounds]
#   PATTERNS    [all eight, comma-separated]          MAGNITUDES  [0.5,1,1.5]
#   BASE        [papcoll: the balanced time that magnitudes are multiples of; or in ms]
#   RANKS       [one for each place of the platform, or its first so many hosts]
#   ALGORITHMS  [all | best: the ones that can win on large platforms | none]
#   OPTIONS     [more of papcoll-bench run's]
#   REPETITIONS [2; the lower counts, since some of SMPI's algorithms make communicators in their first call]
#   LIMIT       [3600 seconds for each operation and size; those that take longer are named and left out]
#   ORDER       [block | cyclic: how ranks are laid on hosts of several]
#   PROGRAM     [papcoll-bench run, built for simulated ranks]
#   RESULTS     [a folder below $TMPDIR]              SMPICXX     [smpicxx]
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
platform=${1:-flat-64}
[ -f "$here/platforms/$platform.xml" ] || { echo "no platform $platform" >&2; exit 2; }
command -v "${SMPICXX:-smpicxx}" >/dev/null || { echo "smpicxx is missing: install libsimgrid-dev" >&2; exit 2; }

results=${RESULTS:-${TMPDIR:-/tmp}/papcoll-simgrid}/$platform
mkdir -p "$results"

case $platform in
flat-64) ranks=64 hosts=64 sample=no rate=10gbit ;;
flat-1024) ranks=1024 hosts=1024 sample=yes rate=10gbit ;;
nodes-32x32) ranks=1024 hosts=32 sample=yes rate=10gbit ;;
*-48) ranks=48 hosts=48 sample=no rate=1gbit ;;
esac
if [ -n "${RANKS:-}" ]; then
    [ "$ranks" = "$hosts" ] || { echo "RANKS is for platforms of one rank per host" >&2; exit 2; }
    ranks=$RANKS hosts=$RANKS
fi
if [ $sample = yes ]; then
    patterns=${PATTERNS:-random,ascending,last_delayed} magnitudes=${MAGNITUDES:-1} algorithms=${ALGORITHMS:-best}
else
    patterns=${PATTERNS:-} magnitudes=${MAGNITUDES:-0.5,1,1.5} algorithms=${ALGORITHMS:-all}
fi

# What each collective of SMPI can be told, without those that fail on these platforms: README.md says why.
all_of() {
    case $1 in
    broadcast) echo mvapich2 ompi impi mpich NTSB NTSL binomial_tree scatter_LR_allgather scatter_rdb_allgather \
        ompi_pipeline SMP_binary flattree_pipeline ;;
    reduce) echo binomial flat_tree scatter_gather ompi_chain ompi_pipeline ompi_in_order_binary ompi_binary \
        ompi_binomial ompi mpich mvapich2 mvapich2_knomial impi rab ;;
    all_gather) echo 2dmesh 3dmesh bruck GB loosely_lr NTSLR pair rdb rhv ring spreading_simple ompi mvapich2 \
        mpich impi ;;
    all_reduce) echo lr rab1 rab2 rab_rdb rdb redbcast ompi ompi_ring_segmented mpich mvapich2 mvapich2_rs impi rab ;;
    esac
}
none_of() { :; }
best_of() {
    case $1 in
    broadcast) echo NTSB impi scatter_rdb_allgather SMP_binary ;;
    reduce) echo mvapich2_knomial scatter_gather rab ;;
    all_gather) echo 2dmesh 3dmesh bruck ;;
    all_reduce) echo rab1 rab_rdb rdb ;;
    esac
}

# The first of papcoll's policies is the one whose balanced run time magnitudes are multiples of.
policies_of() {
    local names=circulant
    [ "$hosts" = "$ranks" ] || names=two_level,circulant
    case $1 in
    broadcast) names+=,knomial_tree:4 ;;
    reduce) names+=,clairvoyant,arrival_tree,knomial_tree:4 ;;
    all_gather)
        names+=,dissemination:4,dissemination:12
        [ "$sample" = yes ] || names+=,dissemination:$ranks # all messages at once are too many to simulate
        ;;
    all_reduce) names+=,arrival_all_reduce,dissemination:4 ;;
    esac
    echo "${POLICIES:-$names}"
}

# GNU's unique symbols would be one for all ranks, although each rank has its own copy of the program.
program=${PROGRAM:-$results/../papcoll-bench}
[ -n "${PROGRAM:-}" ] || "${SMPICXX:-smpicxx}" -std=c++20 -O2 -s -fno-gnu-unique -I"$root/include" \
    "$root"/bench/simgrid/main.cpp "$root"/bench/support/{options,program}.cpp "$root"/bench/run/{run,operations}.cpp -o "$program"

hostfile=$results/hostfile-$ranks # runs of other numbers of ranks may be under way
per_host=$((ranks / hosts))
for ((r = 0; r < ranks; ++r)); do
    if [ "${ORDER:-block}" = cyclic ]; then echo "host-$((r % hosts))"; else echo "host-$((r / per_host))"; fi
done >"$hostfile"

# Results that are there are left out, so that the script goes on where it was stopped.
for operation in ${OPERATIONS:-broadcast reduce all_gather all_reduce}; do
    policies=$(policies_of "$operation")
    for name in $("${algorithms}_of" "$operation"); do policies+=,native:$name; done
    for bytes in ${BYTES:-1024 32768 1048576}; do
        part=$results/$operation-$bytes${RANKS:+-$RANKS}
        if [ -f "$part.json" ] || { [ "$operation" = all_gather ] && ((bytes < 4 * ranks)); }; then continue; fi
        echo "$platform, $ranks ranks: $operation of $bytes" >&2
        timeout "${LIMIT:-3600}" smpirun -np "$ranks" -platform "$here/platforms/$platform.xml" \
            -hostfile "$hostfile" --cfg=smpi/host-speed:10Gf --cfg=smpi/simulate-computation:no \
            --cfg=smpi/test:1e-6 --log=root.thres:warning "$program" run --operation "$operation" --policies "$policies" \
            --sizes "$bytes" --repetitions "${REPETITIONS:-2}" --magnitudes "$magnitudes" \
            --base "${BASE:-papcoll}" ${patterns:+--patterns "$patterns"} --rate "$rate" ${OPTIONS:-} \
            --json "$part.json" >"$part.txt" || echo "left out: $platform $operation $bytes" >&2
    done
done
[ "$algorithms" = none ] || python3 "$here/compare.py" "$results"
