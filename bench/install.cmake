# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
# cmake --install <build folder> --component papcoll-tools: what was built of the program, the tracer and its reader.
include(GNUInstallDirs)
foreach(target IN ITEMS papcoll_bench bench_read_trace papcoll_tracer)
    if(TARGET ${target})
        install(TARGETS ${target}
                RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT papcoll-tools OPTIONAL
                LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT papcoll-tools OPTIONAL)
    endif()
endforeach()
install(PROGRAMS plot.py RENAME papcoll-plot DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT papcoll-tools)
install(PROGRAMS tune.py RENAME papcoll-tune DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT papcoll-tools)
