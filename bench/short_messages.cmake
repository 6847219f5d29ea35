# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
# Short messages beside the MPI library's.
if(NOT CLI11_FOUND)
    return()
endif()
add_executable(bench_short_messages short_messages.cpp)
set_target_properties(bench_short_messages PROPERTIES OUTPUT_NAME short_messages)
target_link_libraries(bench_short_messages PRIVATE papcoll::compiled papcoll_warnings CLI11::CLI11)
if(PAPCOLL_BUILD_TESTS AND PAPCOLL_TEST_MPI)
    papcoll_add_ranks(bench.short_messages.np3 bench_short_messages 3 "--calls=20;--repetitions=2")
    set_property(TEST bench.short_messages.np3 APPEND PROPERTY LABELS bench)
endif()
