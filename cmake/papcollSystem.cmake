# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
# Part of the Conan package with system_dependencies=True: gives its targets the machine's MPI, Boost and xsimd.
include("${CMAKE_CURRENT_LIST_DIR}/papcollDependencies.cmake")

set(papcoll_want_boost_mpi OFF)
if(TARGET papcoll::boost_mpi)
    set(papcoll_want_boost_mpi ON)
    set_property(TARGET papcoll::boost_mpi APPEND PROPERTY INTERFACE_LINK_LIBRARIES Boost::mpi Boost::serialization)
endif()
papcoll_find_dependencies(${papcoll_want_boost_mpi})
set_property(TARGET papcoll::core APPEND PROPERTY
             INTERFACE_LINK_LIBRARIES MPI::MPI_CXX Threads::Threads Boost::headers ${PAPCOLL_XSIMD_TARGET})
unset(papcoll_want_boost_mpi)
