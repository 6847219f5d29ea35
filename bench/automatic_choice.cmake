# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
find_package(benchmark QUIET)

if(TARGET papcoll::core AND benchmark_FOUND)
    add_executable(bench_automatic_choice automatic_choice.cpp)
    set_target_properties(bench_automatic_choice PROPERTIES OUTPUT_NAME automatic_choice)
    target_link_libraries(bench_automatic_choice PRIVATE papcoll::core papcoll_warnings benchmark::benchmark)
    if(PAPCOLL_BUILD_TESTS)
        add_test(NAME bench.automatic_choice COMMAND bench_automatic_choice --benchmark_min_time=0.01)
        set_tests_properties(bench.automatic_choice PROPERTIES TIMEOUT 60)
    endif()
else()
    message(STATUS "bench/automatic_choice is left out: it needs Google Benchmark")
endif()
