# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
# All collectives beside the MPI library's own.
if(NOT CLI11_FOUND)
    return()
endif()
add_executable(bench_beside_mpi beside_mpi.cpp)
set_target_properties(bench_beside_mpi PROPERTIES OUTPUT_NAME beside_mpi)
target_link_libraries(bench_beside_mpi PRIVATE papcoll::compiled papcoll_warnings CLI11::CLI11)
if(PAPCOLL_BUILD_TESTS AND PAPCOLL_TEST_MPI)
    papcoll_add_ranks(bench.beside_mpi.np3 bench_beside_mpi 3 120 "--seconds=0.01;--factor=128")
    set_property(TEST bench.beside_mpi.np3 APPEND PROPERTY LABELS bench)
endif()
