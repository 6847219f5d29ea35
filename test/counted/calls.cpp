// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// calls <n> papcoll|mpi: n repeated all-reduces of 8 bytes, for instructions.py.
#include <papcoll/collective/all_reduce.hpp>
#include <papcoll/context/attach.hpp>

#include <mpi.h>

#include <cstdlib>
#include <functional>
#include <string_view>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc != 3) return EXIT_FAILURE;
    papcoll::attach(MPI_COMM_WORLD, {.link = papcoll::link_model{papcoll::ticks(1000), 0.1}});
    bool const ours = std::string_view(argv[2]) == "papcoll";
    double in = 1;
    double out = 0;
    for (long i = std::strtol(argv[1], nullptr, 10); i > 0; --i)
        if (ours)
            papcoll::all_reduce(MPI_COMM_WORLD, &in, 1, &out, std::plus<>());
        else
            MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return out == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
