# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
find_package(CLI11 QUIET)

if(TARGET papcoll::papcoll AND CLI11_FOUND)
    add_executable(bench_block_size block_size.cpp)
    set_target_properties(bench_block_size PROPERTIES OUTPUT_NAME block_size)
    target_link_libraries(bench_block_size PRIVATE papcoll::compiled papcoll_warnings CLI11::CLI11)
    if(PAPCOLL_BUILD_TESTS AND PAPCOLL_TEST_MPI)
        # That it still runs and that its results are right.
        add_test(NAME bench.block_size.np3 COMMAND ${PAPCOLL_MPIRUN} 3 $<TARGET_FILE:bench_block_size> --most 1000
                                                   --most-blocks 64 --repetitions 1)
        set_tests_properties(bench.block_size.np3 PROPERTIES TIMEOUT 120 PROCESSORS 2
                                                             ENVIRONMENT "${PAPCOLL_MPI_ENVIRONMENT}")
    endif()
else()
    message(STATUS "bench/block_size is left out: it needs Boost.MPI and CLI11")
endif()
