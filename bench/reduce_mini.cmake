# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
find_package(CLI11 CONFIG QUIET)
find_package(nlohmann_json QUIET)

if(TARGET papcoll::core AND CLI11_FOUND AND nlohmann_json_FOUND)
    add_executable(bench_reduce_mini reduce_mini.cpp)
    set_target_properties(bench_reduce_mini PROPERTIES OUTPUT_NAME reduce_mini)
    target_link_libraries(bench_reduce_mini PRIVATE papcoll::core papcoll_warnings CLI11::CLI11
                          nlohmann_json::nlohmann_json)
    if(PAPCOLL_BUILD_TESTS)
        add_test(NAME bench.reduce_mini.check
                 COMMAND ${PAPCOLL_MPIRUN} 17 $<TARGET_FILE:bench_reduce_mini> --check)
        add_test(NAME bench.reduce_mini.reduce COMMAND ${PAPCOLL_MPIRUN} 3 $<TARGET_FILE:bench_reduce_mini>
                 --sizes 3,5000 --delays 0,2 --iterations 2 --computation 2 --rate 1gbit --root 1 --algorithms
                 MPI,BNOM,RAB,RXK,RING,circulant,greedy_tree,CLV,CLV:true,CLV:silent,arrival_tree
                 --json ${CMAKE_CURRENT_BINARY_DIR}/reduce_mini.json)
        add_test(NAME bench.reduce_mini.all_reduce COMMAND ${PAPCOLL_MPIRUN} 3 $<TARGET_FILE:bench_reduce_mini>
                 --operation all_reduce --sizes 5000 --delays 2 --delayed-ranks 1 --work --iterations 2
                 --computation 2 --algorithms MPI,circulant,aware,aware:true,aware:reversed)
        set_tests_properties(bench.reduce_mini.check bench.reduce_mini.reduce bench.reduce_mini.all_reduce PROPERTIES
                             TIMEOUT 120 PROCESSORS 2 ENVIRONMENT "${PAPCOLL_MPI_ENVIRONMENT}")
    endif()
else()
    message(STATUS "bench/reduce_mini is left out: it needs CLI11 and nlohmann-json")
endif()
