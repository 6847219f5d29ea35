# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
# What it costs to enter papcoll from MPI.
if(NOT CLI11_FOUND)
    return()
endif()
add_executable(bench_attach attach.cpp)
set_target_properties(bench_attach PROPERTIES OUTPUT_NAME attach)
target_link_libraries(bench_attach PRIVATE papcoll::core papcoll_warnings CLI11::CLI11)
if(PAPCOLL_BUILD_TESTS AND PAPCOLL_TEST_MPI)
    papcoll_add_ranks(bench.attach.np3 bench_attach 3 120 "")
    set_property(TEST bench.attach.np3 APPEND PROPERTY LABELS bench)
endif()
