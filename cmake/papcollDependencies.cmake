# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
# Used by the source tree and, installed beside papcollConfig.cmake, by the package.

# Debian's xsimd 8.1 names the target xtl in its link interface but does not ship it.
function(papcoll_repair_xsimd target)
    get_target_property(links ${target} INTERFACE_LINK_LIBRARIES)
    if(links AND NOT TARGET xtl)
        list(REMOVE_ITEM links xtl)
        set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${links}")
    endif()
endfunction()

# Finds what papcoll::core needs and, with `boost_mpi` true, what papcoll::papcoll needs.
# Sets PAPCOLL_XSIMD_TARGET: xsimd's target is called xsimd or xsimd::xsimd, depending on who packaged it.
macro(papcoll_find_dependencies boost_mpi)
    include(CMakeFindDependencyMacro)
    set(papcoll_boost_components)
    if(${boost_mpi})
        list(APPEND papcoll_boost_components mpi serialization)
    endif()
    find_package(MPI REQUIRED COMPONENTS CXX)
    find_package(Threads REQUIRED)
    find_package(xsimd REQUIRED CONFIG)
    find_package(Boost 1.74 REQUIRED CONFIG COMPONENTS headers ${papcoll_boost_components})
    unset(papcoll_boost_components)
    set(PAPCOLL_XSIMD_TARGET xsimd)
    if(NOT TARGET xsimd)
        set(PAPCOLL_XSIMD_TARGET xsimd::xsimd)
    endif()
    papcoll_repair_xsimd(${PAPCOLL_XSIMD_TARGET})
endmacro()
