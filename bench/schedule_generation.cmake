# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
# The only target that is compiled for the building machine: it measures what wider instructions give.
find_package(benchmark QUIET)

if(TARGET papcoll::core AND benchmark_FOUND)
    include(CheckCXXCompilerFlag)
    check_cxx_compiler_flag(-march=native PAPCOLL_HAVE_MARCH_NATIVE)
    add_executable(bench_schedule_generation schedule_generation.cpp)
    set_target_properties(bench_schedule_generation PROPERTIES OUTPUT_NAME schedule_generation)
    target_link_libraries(bench_schedule_generation PRIVATE papcoll::core papcoll_warnings benchmark::benchmark)
    target_compile_options(bench_schedule_generation
                           PRIVATE -O3 $<$<BOOL:${PAPCOLL_HAVE_MARCH_NATIVE}>:-march=native>)
else()
    message(STATUS "bench/schedule_generation is left out: it needs Google Benchmark")
endif()
