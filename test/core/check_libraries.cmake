# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
# cmake -D PROGRAM=... -D OBJDUMP=... -P check_libraries.cmake: the program needs an MPI library and none of Boost.
execute_process(COMMAND ${OBJDUMP} -p ${PROGRAM} OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "NEEDED +[^\n]+" needed "${headers}")
if(NOT needed MATCHES "libmpi")
    message(FATAL_ERROR "no MPI library among: ${needed}")
endif()
if(needed MATCHES "libboost")
    message(FATAL_ERROR "a Boost library among: ${needed}")
endif()
