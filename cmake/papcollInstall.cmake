# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(papcoll_cmake_dir ${CMAKE_INSTALL_DATADIR}/cmake/papcoll)
set(papcoll_architecture ARCH_INDEPENDENT)
if(PAPCOLL_COMPILED)
    set(papcoll_architecture)
endif()
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# One export per target: a machine without the Boost.MPI library can still use papcoll::core.
install(TARGETS papcoll_core EXPORT papcollCoreTargets)
install(EXPORT papcollCoreTargets NAMESPACE papcoll:: DESTINATION ${papcoll_cmake_dir})
if(PAPCOLL_BOOST_MPI)
    install(TARGETS papcoll_papcoll EXPORT papcollTargets)
    install(EXPORT papcollTargets NAMESPACE papcoll:: DESTINATION ${papcoll_cmake_dir})
endif()
if(PAPCOLL_COMPILED)
    install(TARGETS papcoll_compiled EXPORT papcollCompiledTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(EXPORT papcollCompiledTargets NAMESPACE papcoll:: DESTINATION ${papcoll_cmake_dir})
endif()

configure_package_config_file(cmake/papcollConfig.cmake.in ${PROJECT_BINARY_DIR}/papcollConfig.cmake
                              INSTALL_DESTINATION ${papcoll_cmake_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/papcollConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion ${papcoll_architecture})
install(FILES ${PROJECT_BINARY_DIR}/papcollConfig.cmake ${PROJECT_BINARY_DIR}/papcollConfigVersion.cmake
              cmake/papcollDependencies.cmake
        DESTINATION ${papcoll_cmake_dir})

include(cmake/papcollPkgConfig.cmake)
