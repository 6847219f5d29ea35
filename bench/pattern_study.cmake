# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
# That the study runs, chooses and prints, even if it leaves out all but the fastest algorithm (--slow 1), and that the
# library takes its table.
find_package(Python3 QUIET COMPONENTS Interpreter)
if(TARGET bench_collectives AND Python3_FOUND AND PAPCOLL_BUILD_TESTS AND PAPCOLL_TEST_MPI)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/pattern_study)
    set(arguments --quick --slow 1 --no-pictures --operations reduce)
    if(NOT papcoll_mpirun_version MATCHES "Open MPI|OpenRTE")
        list(APPEND arguments --no-open-mpi)
    endif()
    add_test(NAME bench.pattern_study.np4
             COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/pattern_study.py
                     $<TARGET_FILE:bench_collectives> ${folder} --fresh ${arguments} -- ${PAPCOLL_MPIRUN} 4)
    add_test(NAME bench.pattern_study.table.np4
             COMMAND ${PAPCOLL_MPIRUN} 4 $<TARGET_FILE:bench_collectives> --operation reduce --sizes 4096 --balanced-only
                     --repetitions 1 --policies automatic)
    set_tests_properties(bench.pattern_study.np4 PROPERTIES
        TIMEOUT 120 PROCESSORS 2 ENVIRONMENT "${PAPCOLL_MPI_ENVIRONMENT}" FIXTURES_SETUP pattern_study
        PASS_REGULAR_EXPRESSION "\n\\| reduce \\| 4096 \\| [a-z_]+ \\|[^\n]*\n" FAIL_REGULAR_EXPRESSION "failed:;Traceback")
    set_tests_properties(bench.pattern_study.table.np4 PROPERTIES
        TIMEOUT 60 PROCESSORS 2 FIXTURES_REQUIRED pattern_study
        ENVIRONMENT "${PAPCOLL_MPI_ENVIRONMENT};PAPCOLL_TUNING_FILE=${folder}/tuning.json;PAPCOLL_REPORT=1"
        PASS_REGULAR_EXPRESSION "papcoll: reduce of 16384 bytes on 4 ranks: [a-z_]+[^\n]* \\(tuned at 4 ranks, 16384 bytes\\)")
endif()
