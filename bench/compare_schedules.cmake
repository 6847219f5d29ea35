# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
find_package(CLI11 QUIET)

if(TARGET papcoll::core AND CLI11_FOUND)
    add_executable(bench_compare_schedules compare_schedules.cpp)
    set_target_properties(bench_compare_schedules PROPERTIES OUTPUT_NAME compare_schedules)
    target_link_libraries(bench_compare_schedules PRIVATE papcoll::core papcoll_warnings CLI11::CLI11)
    if(PAPCOLL_BUILD_TESTS)
        # Fails when a schedule cannot proceed or is better than the bound.
        add_test(NAME bench.compare_schedules COMMAND bench_compare_schedules --ranks 2,3,7,16,33 --gather-ranks 2,3,7,16,33)
        set_tests_properties(bench.compare_schedules PROPERTIES TIMEOUT 60)
    endif()
else()
    message(STATUS "bench/compare_schedules is left out: it needs CLI11")
endif()
