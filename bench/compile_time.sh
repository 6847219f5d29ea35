#!/usr/bin/env bash
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#
# How long compiling takes that includes <boost/mpi.hpp>, and how much <papcoll/papcoll.hpp> adds to it: medians of
# compilations without optimisation, in turn, so that a change of the machine's speed meets both.
#
#   bench/compile_time.sh [repetitions]      CXX: the compiler, by default g++; repetitions: by default 5
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
flags=(-std=c++20 -O0 -DOMPI_SKIP_MPICXX -I "$root/include" "${mpi[@]}")

printf '%s\n' '#include <boost/mpi.hpp>' 'int main() {}' >"$work/boost.cpp"
printf '%s\n' '#include <boost/mpi.hpp>' '#include <papcoll/papcoll.hpp>' 'int main() {}' >"$work/papcoll.cpp"

# Sets $elapsed to the microseconds of compiling $1.
compile() {
    local begin=${EPOCHREALTIME/[.,]/}
    "${CXX:-g++}" "${flags[@]}" -w -c "$1" -o "$work/object.o"
    elapsed=$((${EPOCHREALTIME/[.,]/} - begin))
}

compile "$work/papcoll.cpp" # brings the headers into memory
for ((i = 0; i < repetitions; ++i)); do
    for program in boost papcoll; do
        compile "$work/$program.cpp"
        echo "$elapsed" >>"$work/$program.times"
    done
done

median() { sort -n "$1" | sed -n "$(((repetitions + 1) / 2))p"; }
seconds() { printf '%d.%03d s' $(($1 / 1000000)) $(($1 / 1000 % 1000)); }
boost=$(median "$work/boost.times")
papcoll=$(median "$work/papcoll.times")
echo "<boost/mpi.hpp>                          $(seconds "$boost")"
echo "<boost/mpi.hpp> + <papcoll/papcoll.hpp>  $(seconds "$papcoll")"
echo "papcoll adds                             $(seconds $((papcoll - boost)))"
