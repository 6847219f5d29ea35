# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
if(TARGET papcoll::core)
    add_executable(bench_clock_sync clock_sync.cpp)
    set_target_properties(bench_clock_sync PROPERTIES OUTPUT_NAME clock_sync)
    target_link_libraries(bench_clock_sync PRIVATE papcoll::core papcoll_warnings)
    if(PAPCOLL_BUILD_TESTS AND PAPCOLL_TEST_MPI)
        # Fails when a clock is further from the truth than it says.
        add_test(NAME bench.clock_sync.np5
                 COMMAND ${PAPCOLL_MPIRUN} 5 $<TARGET_FILE:bench_clock_sync> 4 0.2)
        set_tests_properties(bench.clock_sync.np5 PROPERTIES TIMEOUT 60 PROCESSORS 2
                                                             ENVIRONMENT "${PAPCOLL_MPI_ENVIRONMENT}")
    endif()
endif()
