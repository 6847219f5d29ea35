// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <mpi.h>

#include <cstdio>

#include "objects.hpp"

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    auto const first = object_first();
    auto const second = object_second();
    bool const one_engine = first.registry == second.registry && first.driver == second.driver;
    bool const one_type =
        first.catches(second.throw_missing_value) && second.catches(first.throw_missing_value);
    if (!one_engine) std::puts("each shared object has an engine of its own");
    if (!one_type) std::puts("an exception of one shared object is not known in the other");
    MPI_Finalize();
    return one_engine && one_type ? 0 : 1;
}
