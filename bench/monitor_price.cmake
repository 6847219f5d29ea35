# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
if(TARGET papcoll::core)
    add_executable(bench_monitor_price monitor_price.cpp)
    set_target_properties(bench_monitor_price PROPERTIES OUTPUT_NAME monitor_price)
    target_link_libraries(bench_monitor_price PRIVATE papcoll::core papcoll_warnings)
    if(PAPCOLL_BUILD_TESTS AND PAPCOLL_TEST_MPI)
        # That it still runs; prices want idle cores.
        add_test(NAME bench.monitor_price.np2
                 COMMAND ${PAPCOLL_MPIRUN} 2 $<TARGET_FILE:bench_monitor_price> 2 10 50)
        set_tests_properties(bench.monitor_price.np2 PROPERTIES TIMEOUT 60 PROCESSORS 2
                                                                ENVIRONMENT "${PAPCOLL_MPI_ENVIRONMENT}")
    endif()
endif()
