#!/usr/bin/env bash
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#
# What papcoll costs a compiler: processor time, memory and bytes of object code of small files that include
# <boost/mpi.hpp>, and what papcoll adds; medians of compilations in turn, so that a change of the machine's speed meets
# all of them.
#
#   bench/compile_time.sh [repetitions]      CXX: the compiler, by default g++; CXXFLAGS: by default -O2;
#                                            repetitions: by default 5
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
repetitions=${1:-5}
[[ $repetitions =~ ^[1-9][0-9]*$ ]] || {
    echo "compile_time: the number of repetitions must be positive, but is '$repetitions'" >&2
    exit 2
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# With CMake no user sees MPI's own C++ bindings; neither do we.
read -ra mpi <<<"$(mpicxx --showme:compile)"
read -ra flags <<<"${CXXFLAGS:--O2}"
flags+=(-std=c++20 -DOMPI_SKIP_MPICXX -I "$root/include" "${mpi[@]}")

# source <name> <header> <statement>
source_file() {
    printf '%s\n' '#include <boost/mpi.hpp>' ${2:+"#include <$2>"} '#include <functional>' \
        'void f(boost::mpi::communicator const&, float*, double*, int*);' \
        'void f([[maybe_unused]] boost::mpi::communicator const& c, [[maybe_unused]] float* x,' \
        '       [[maybe_unused]] double* y, [[maybe_unused]] int* z) {' "${3-}" '}' >"$work/$1.cpp"
}
one='papcoll::all_reduce(c, x, 9, x + 9, std::plus<>());'
three="$one papcoll::all_reduce(c, y, 9, y + 9, std::multiplies<>()); papcoll::all_reduce(c, z, 9, z + 9, std::bit_or<>());"
source_file boost "" ""
source_file umbrella papcoll/papcoll.hpp ""
source_file one papcoll/papcoll.hpp "$one"
source_file three papcoll/papcoll.hpp "$three"
source_file one_header papcoll/collective/all_reduce.hpp "$one"
source_file three_header papcoll/collective/all_reduce.hpp "$three"

declare -A what=([boost]="<boost/mpi.hpp> alone" [umbrella]="the umbrella" [one]="the umbrella, one all_reduce"
    [three]="the umbrella, three all_reduces of other types" [umbrella_compiled]="compiled once: the umbrella"
    [one_compiled]="compiled once: the umbrella, one all_reduce" [one_header_compiled]="compiled once: collective/all_reduce.hpp, one"
    [three_header_compiled]="compiled once: collective/all_reduce.hpp, three")
order=(boost umbrella one three umbrella_compiled one_compiled one_header_compiled three_header_compiled)

compile() { # appends "<seconds> <kB> <bytes>" of one compilation
    local options=()
    [[ $1 != *_compiled ]] || options=(-DPAPCOLL_SEPARATE_COMPILATION)
    /usr/bin/env time -f '%U %M' -o "$work/cost" "${CXX:-g++}" "${flags[@]}" "${options[@]}" -w -c "$work/${1%_compiled}.cpp" \
        -o "$work/object.o"
    echo "$(cat "$work/cost") $(stat -c %s "$work/object.o")" >>"$work/$1.costs"
}
for ((i = 0; i < repetitions; ++i)); do
    for name in "${order[@]}"; do compile "$name"; done
done

median() { sort -n -k1,1 "$work/$1.costs" | sed -n "$(((repetitions + 1) / 2))p"; }
read -r base _ _ <<<"$(median boost)"
printf '%-50s %8s %8s %8s %10s\n' "" "s" "adds s" "MB" "object B"
for name in "${order[@]}"; do
    read -r seconds kilobytes bytes <<<"$(median "$name")"
    printf '%-50s %8.2f %8.2f %8d %10d\n' "${what[$name]}" "$seconds" "$(awk "BEGIN { print $seconds - $base }")" \
        $((kilobytes / 1000)) "$bytes"
done
