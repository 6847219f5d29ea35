# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
# The tracer is a shared object for LD_PRELOAD; so it is built where there is such a thing.
if(TARGET papcoll::core AND UNIX AND NOT APPLE)
    add_library(papcoll_tracer SHARED tracer/communicators.cpp tracer/control.cpp tracer/intercept_c.cpp
                tracer/intercept_creation.cpp tracer/intercept_fortran.cpp tracer/intercept_fortran_control.cpp
                tracer/recorder.cpp)
    target_compile_features(papcoll_tracer PRIVATE cxx_std_20)
    target_link_libraries(papcoll_tracer PRIVATE papcoll::core papcoll_warnings ${CMAKE_DL_LIBS} PUBLIC MPI::MPI_CXX)
    set(exports ${CMAKE_CURRENT_SOURCE_DIR}/tracer/exports.map)
    target_link_options(papcoll_tracer PRIVATE LINKER:--version-script=${exports})
    set_target_properties(papcoll_tracer PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
                                                    LINK_DEPENDS ${exports})

    add_executable(bench_tracer_overhead tracer/overhead.cpp)
    set_target_properties(bench_tracer_overhead PROPERTIES OUTPUT_NAME tracer_overhead)
    target_compile_features(bench_tracer_overhead PRIVATE cxx_std_20)
    target_link_libraries(bench_tracer_overhead PRIVATE MPI::MPI_CXX papcoll_warnings)
else()
    message(STATUS "bench/tracer is left out: it needs preloaded shared objects")
endif()

if(TARGET papcoll::core AND CLI11_FOUND)
    add_executable(bench_read_trace tracer/read_trace.cpp)
    set_target_properties(bench_read_trace PROPERTIES OUTPUT_NAME papcoll-read-trace)
    target_link_libraries(bench_read_trace PRIVATE papcoll::core papcoll_warnings CLI11::CLI11)
else()
    message(STATUS "papcoll-read-trace is left out: it needs CLI11")
endif()
