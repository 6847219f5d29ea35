# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
find_package(CLI11 QUIET)
find_package(nlohmann_json QUIET)

if(TARGET papcoll::papcoll AND CLI11_FOUND AND nlohmann_json_FOUND)
    add_executable(bench_validate_model validate_model.cpp)
    set_target_properties(bench_validate_model PROPERTIES OUTPUT_NAME validate_model)
    target_link_libraries(bench_validate_model PRIVATE papcoll::compiled papcoll_warnings CLI11::CLI11
        nlohmann_json::nlohmann_json)
else()
    message(STATUS "bench/validate_model is left out: it needs MPI, CLI11 and nlohmann-json")
endif()
