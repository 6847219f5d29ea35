# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
find_package(CLI11 CONFIG QUIET)
find_package(nlohmann_json QUIET)

if(TARGET papcoll::core AND CLI11_FOUND AND nlohmann_json_FOUND)
    add_executable(bench_all_gather_mini all_gather_mini.cpp)
    set_target_properties(bench_all_gather_mini PROPERTIES OUTPUT_NAME all_gather_mini)
    target_link_libraries(bench_all_gather_mini PRIVATE papcoll::core papcoll_warnings CLI11::CLI11
                          nlohmann_json::nlohmann_json)
    if(PAPCOLL_BUILD_TESTS)
        add_test(NAME bench.all_gather_mini COMMAND ${PAPCOLL_MPIRUN} 3 $<TARGET_FILE:bench_all_gather_mini>
                 --sizes 3 --delays 0,2 --iterations 2 --computation 1)
        set_tests_properties(bench.all_gather_mini PROPERTIES TIMEOUT 60 PROCESSORS 2
                             ENVIRONMENT "${PAPCOLL_MPI_ENVIRONMENT}")
    endif()
else()
    message(STATUS "bench/all_gather_mini is left out: it needs CLI11 and nlohmann-json")
endif()
