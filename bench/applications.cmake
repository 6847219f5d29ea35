# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
# Whole programs whose ranks are late by themselves, for the choice of algorithms.
find_path(PAPCOLL_FFTW_INCLUDE fftw3.h)
find_library(PAPCOLL_FFTW_LIBRARY fftw3)
mark_as_advanced(PAPCOLL_FFTW_INCLUDE PAPCOLL_FFTW_LIBRARY)

if(TARGET papcoll::core AND CLI11_FOUND AND PAPCOLL_FFTW_INCLUDE AND PAPCOLL_FFTW_LIBRARY)
    add_executable(bench_fft applications/fft.cpp)
    set_target_properties(bench_fft PROPERTIES OUTPUT_NAME fft)
    target_include_directories(bench_fft SYSTEM PRIVATE ${PAPCOLL_FFTW_INCLUDE})
    target_link_libraries(bench_fft PRIVATE papcoll::compiled papcoll_warnings CLI11::CLI11 ${PAPCOLL_FFTW_LIBRARY})
    if(PAPCOLL_BUILD_TESTS AND PAPCOLL_TEST_MPI)
        add_test(NAME bench.fft.np3
                 COMMAND ${PAPCOLL_MPIRUN} 3 $<TARGET_FILE:bench_fft> --grid 10,12,15 --iterations 3 --verify
                         --all-to-all native,linear,pairwise,bruck,linear_sync,linear_sync:1
                         --imbalance ascending,random --magnitude-ms 1)
        add_test(NAME bench.fft.np1 COMMAND ${PAPCOLL_MPIRUN} 1 $<TARGET_FILE:bench_fft> --grid 8,9,10 --iterations 2
                                            --verify --all-to-all native,bruck)
        set_tests_properties(bench.fft.np3 bench.fft.np1 PROPERTIES TIMEOUT 60 PROCESSORS 2
                                                                    ENVIRONMENT "${PAPCOLL_MPI_ENVIRONMENT}")
    endif()
else()
    message(STATUS "bench/applications/fft is left out: it needs FFTW and CLI11")
endif()
