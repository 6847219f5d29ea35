# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
# What only our own tests, examples and benchmarks use; users of the library never see it.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
    find_program(PAPCOLL_CCACHE ccache)
    mark_as_advanced(PAPCOLL_CCACHE)
    if(PAPCOLL_CCACHE)
        set(CMAKE_CXX_COMPILER_LAUNCHER ${PAPCOLL_CCACHE})
    endif()
endif()

add_library(papcoll_warnings INTERFACE)
target_compile_options(papcoll_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)

# g++ collects its garbage from 128 MB on, which takes a tenth of the time of files that instantiate much; a little more
# memory saves most of it.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(--param=ggc-min-heapsize=700000 --param=ggc-min-expand=60)
endif()

# The command that runs a program on n ranks of this machine: ${PAPCOLL_MPIRUN} <n> <program>
set(PAPCOLL_MPIRUN ${MPIEXEC_EXECUTABLE})
set(PAPCOLL_MPI_ENVIRONMENT)
execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE papcoll_mpirun_version ERROR_QUIET)
if(papcoll_mpirun_version MATCHES "Open MPI|OpenRTE")
    # More ranks than cores, inside containers, as root.
    list(APPEND PAPCOLL_MPIRUN --oversubscribe)
    set(PAPCOLL_MPI_ENVIRONMENT
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
        OMPI_MCA_btl_vader_single_copy_mechanism=none
        OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_rmaps_base_oversubscribe=1)
endif()
list(APPEND PAPCOLL_MPIRUN ${MPIEXEC_NUMPROC_FLAG})
