// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// calls <n> <what>: n repeated calls with 8 bytes of each rank in make_calls, for instructions.py; `observed`
// is `all_reduce` with an observer, `in_turn` are n rounds of eight calls, of which each is another one than
// the one before, `with_vector` the same behind one that fills a new vector, and `many_in_turn` n rounds of
// 19 broadcasts.
#include <papcoll/collective/all_gather.hpp>
#include <papcoll/collective/all_reduce.hpp>
#include <papcoll/collective/barrier.hpp>
#include <papcoll/collective/broadcast.hpp>
#include <papcoll/context/attach.hpp>

#include <mpi.h>

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <vector>

namespace {

double in = 1;
double out[64];

void fill_new_vector() {
    std::vector<double> all;
    papcoll::all_gather(MPI_COMM_WORLD, in, all);
}
void eight_in_turn() {
    papcoll::all_reduce(MPI_COMM_WORLD, &in, 1, out, std::plus<>());
    papcoll::barrier(MPI_COMM_WORLD);
    papcoll::all_gather(MPI_COMM_WORLD, &in, 1, out);
    papcoll::barrier(MPI_COMM_WORLD); // now another call comes behind it
    papcoll::all_reduce(MPI_COMM_WORLD, &in, 1, out + 1, std::multiplies<>());
    papcoll::broadcast(MPI_COMM_WORLD, out + 2, 1, 0);
    papcoll::barrier(MPI_COMM_WORLD);
    papcoll::all_reduce(MPI_COMM_WORLD, &in, 1, out, std::plus<>());
}

template <class Call>
[[gnu::noinline]] void make_calls(long n, Call call) {
    for (; n > 0; --n) call();
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc != 3) return EXIT_FAILURE;
    papcoll::attach(MPI_COMM_WORLD, {.link = papcoll::link_model{papcoll::ticks(1000), 0.1}});
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    out[0] = 1;
    auto const run = [&](auto call) {
        for (int i = 0; i < 100; ++i) call(); // the first calls make plans
        make_calls(std::strtol(argv[1], nullptr, 10), call);
    };
    std::string_view const what(argv[2]);
    if (what == "mpi")
        run([]() __attribute__((always_inline)) {
            MPI_Allreduce(&in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        });
    else if (what == "all_reduce")
        run([]() __attribute__((always_inline)) {
            papcoll::all_reduce(MPI_COMM_WORLD, &in, 1, out, std::plus<>());
        });
    else if (what == "observed") {
        papcoll::observe(MPI_COMM_WORLD, [](papcoll::collective_record const& seen) {
            out[1] += static_cast<double>(seen.bytes);
        });
        run([]() __attribute__((always_inline)) {
            papcoll::all_reduce(MPI_COMM_WORLD, &in, 1, out, std::plus<>());
        });
    } else if (what == "all_gather")
        run([]() __attribute__((always_inline)) { papcoll::all_gather(MPI_COMM_WORLD, &in, 1, out); });
    else if (what == "barrier")
        run([]() __attribute__((always_inline)) { papcoll::barrier(MPI_COMM_WORLD); });
    else if (what == "new_vector")
        run(fill_new_vector);
    else if (what == "in_turn")
        run(eight_in_turn);
    else if (what == "with_vector")
        run([] {
            fill_new_vector();
            eight_in_turn();
        });
    else if (what == "many_in_turn")
        run([] {
            for (std::size_t n = 1; n < 20; ++n) papcoll::broadcast(MPI_COMM_WORLD, out + 2, n, 0);
        });
    MPI_Finalize();
    return out[0] == 1 || out[0] == ranks ? EXIT_SUCCESS : EXIT_FAILURE;
}
