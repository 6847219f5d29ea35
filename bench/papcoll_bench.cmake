# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
# papcoll-bench and its tests: that every subcommand runs and that results are right; times are for quiet machines.
add_executable(papcoll_bench main.cpp support/options.cpp support/program.cpp
               run/run.cpp run/operations.cpp run/watcher.cpp overlap/overlap.cpp beside/beside.cpp beside/calls.cpp
               beside/strings.cpp
               choice/choice.cpp guidelines/guidelines.cpp learning/learning.cpp tools/attach.cpp tools/clock.cpp
               tools/monitor.cpp tools/pattern.cpp
               model/model.cpp model/background.cpp model/circulant.cpp model/clairvoyant.cpp model/figure2.cpp
               model/gathers.cpp model/schedulers.cpp model/speed.cpp model/stragglar.cpp model/trees.cpp)
set_target_properties(papcoll_bench PROPERTIES OUTPUT_NAME papcoll-bench)
# The files of a folder are one translation unit, in which names must differ: most of what each would take is reading the
# headers. What is timed in its own file (`schedule`, see below, and model/speed.cpp) stays one, so that it is inlined as
# before, and so does model/schedulers.cpp, which uses namespace papcoll. -DCMAKE_UNITY_BUILD=OFF: no file is joined.
if(NOT DEFINED CMAKE_UNITY_BUILD)
    set_target_properties(papcoll_bench PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endif()
get_target_property(sources papcoll_bench SOURCES)
list(FILTER sources EXCLUDE REGEX "^main\\.cpp$|^model/(speed|schedulers)\\.cpp$")
foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder})
endforeach()
target_link_libraries(papcoll_bench PRIVATE papcoll::compiled papcoll_warnings CLI11::CLI11
                                            nlohmann_json::nlohmann_json)
target_include_directories(papcoll_bench PRIVATE ${PROJECT_SOURCE_DIR}/test) # support/ of the tests, for the models

# What `schedule` measures depends on the instruction set; for what is installed it is the compiler's default.
option(PAPCOLL_BENCH_NATIVE "Compile papcoll-bench for this machine's processor alone" OFF)
if(PAPCOLL_BENCH_NATIVE)
    target_compile_options(papcoll_bench PRIVATE -march=native)
endif()
find_package(benchmark QUIET)
if(benchmark_FOUND)
    target_sources(papcoll_bench PRIVATE schedule/schedule.cpp schedule/automatic.cpp schedule/circulant.cpp
                                         schedule/clairvoyant.cpp schedule/memory.cpp schedule/table_1.cpp schedule/trees.cpp)
    target_compile_definitions(papcoll_bench PRIVATE PAPCOLL_BENCH_SCHEDULE)
    target_link_libraries(papcoll_bench PRIVATE benchmark::benchmark)
else()
    message(STATUS "papcoll-bench schedule is left out: it needs Google Benchmark")
endif()

if(NOT PAPCOLL_BUILD_TESTS)
    return()
endif()

# papcoll_add_bench_test(<name> <ranks> <argument>...): one run under mpirun.
function(papcoll_add_bench_test name ranks)
    if(NOT PAPCOLL_TEST_MPI)
        return()
    endif()
    papcoll_add_ranks(bench.${name}.np${ranks} papcoll_bench ${ranks} 120 "${ARGN}")
    set_property(TEST bench.${name}.np${ranks} APPEND PROPERTY LABELS bench)
endfunction()
# papcoll_add_bench_unit(<name> <argument>...): one run that needs no mpirun.
function(papcoll_add_bench_unit name)
    add_test(NAME bench.${name} COMMAND papcoll_bench ${ARGN})
    set_tests_properties(bench.${name} PROPERTIES TIMEOUT 60 LABELS bench)
endfunction()

papcoll_add_bench_test(run 3 run --operations reduce,all_gather --sizes 0,4,20000 --magnitudes 1 --repetitions 2
    --rate 1gbit --root 1 --predict --json ${CMAKE_CURRENT_BINARY_DIR}/run.json)
papcoll_add_bench_test(run.until 2 run --operation broadcast --sizes 64Ki --balanced-only --until 0.5 --seconds 0.5)
papcoll_add_bench_test(run.blocks 3 run --operations broadcast,reduce,all_gatherv_mod3 --sizes 1000f --blocks 1:64
    --balanced-only --repetitions 1 --json ${CMAKE_CURRENT_BINARY_DIR}/blocks.json)
papcoll_add_bench_test(run.check 17 run --check --operations reduce --policies
    reference:binomial,reference:rabenseifner,reference:radix_k,reference:ring)
papcoll_add_bench_test(run.stragglar 4 run --operation all_reduce --sizes 0,4,20000 --base 1 --magnitudes 2
    --patterns last_delayed --repetitions 2 --policies stragglar)
papcoll_add_bench_test(run.predicted 3 run --operation reduce --sizes 3f,5000f --base 1 --magnitudes 0,2 --patterns random
    --anew --noise 0.05 --computation 2 --repetitions 2 --rate 1gbit --root 1 --policies
    native,reference:binomial,circulant,greedy_tree,clairvoyant@monitor,clairvoyant@true,clairvoyant@silent,arrival_tree@monitor)
papcoll_add_bench_test(run.work 3 run --operation all_reduce --sizes 5000f --base 1 --magnitudes 2 --patterns random --anew
    --delayed-ranks 1 --work --computation 2 --repetitions 2 --policies
    native,circulant,arrival_all_reduce@monitor,arrival_all_reduce@true,arrival_all_reduce@reversed)
papcoll_add_bench_test(run.open 3 run --operation all_gather --sizes 3Kif --base block --magnitudes 0,2 --patterns random
    --anew --computation 1 --repetitions 2 --rate 1gbit --policies
    native,neighbor_exchange,linear,ring,circulant,open:sorted_linear,open:background_ring@monitor,open:background_circulant@random,open:background_circulant@silent
    --json ${CMAKE_CURRENT_BINARY_DIR}/open.json)
papcoll_add_bench_test(beside 3 beside --plans --sizes 8:1Mi:128 --touch 64 --repetitions 3 --seconds 0.01)
papcoll_add_bench_test(beside.strings 3 beside --strings --sizes 8:64Ki:128 --repetitions 3 --seconds 0.01)
papcoll_add_bench_test(learning 3 learning --sizes 8,20000 --calls 24 --repetitions 1 --json ${CMAKE_CURRENT_BINARY_DIR}/learning.json)
papcoll_add_bench_test(choice 3 choice --sizes 8,4Ki --operations broadcast,all_reduce,barrier --repetitions 3
    --seconds 0.01 --json ${CMAKE_CURRENT_BINARY_DIR}/choice.json)
papcoll_add_bench_test(overlap 3 overlap --size 16Ki --ratios 0.5 --rate 1gbit --repetitions 1 --warm-up 0)
papcoll_add_bench_test(attach 3 attach --repetitions 5 --cycles 100 --seconds 0.05)
papcoll_add_bench_test(clock 5 clock --rounds 4 --gap 0.2) # fails when a clock is further from the truth than it says
papcoll_add_bench_test(monitor 2 monitor --repetitions 2 --work-ms 10 --soak 50)
# Without optimisation and on a busy machine: finds waiting that does not end, nothing finer.
papcoll_add_bench_test(guidelines 3 guidelines --ranks 2,3 --sizes 64:16Ki:256 --operations broadcast,all_reduce
    --repetitions 9 --seconds 0.5 --tolerance 100 --json ${CMAKE_CURRENT_BINARY_DIR}/guidelines.json)
papcoll_add_bench_unit(pattern pattern --ranks 5 --shape ascending --magnitude 2)
set_property(TEST bench.pattern PROPERTY PASS_REGULAR_EXPRESSION "ranks 5\n0\n500000\n1000000\n1500000\n2000000\n")
papcoll_add_bench_unit(pattern.plain pattern --ranks 3 --shape last_delayed --magnitude 2 --plain)
set_property(TEST bench.pattern.plain PROPERTY PASS_REGULAR_EXPRESSION "^0\n0\n2000000\n$")
# Fails when a schedule cannot proceed or is better than the bound.
papcoll_add_bench_unit(model.schedulers model schedulers --ranks 2,3,7,16,33 --gather-ranks 2,3,7,16,33
    --json ${CMAKE_CURRENT_BINARY_DIR}/schedulers.json)
papcoll_add_bench_unit(model.background model background --ranks 8)
papcoll_add_bench_unit(model.clairvoyant model clairvoyant --ranks 5 --sizes 64Ki --repetitions 3)
papcoll_add_bench_unit(model.trees model trees --ranks 6 --instances 100 --seed 7)
papcoll_add_bench_unit(model.figure2 model figure2 --machines 300 --json ${CMAKE_CURRENT_BINARY_DIR}/figure2.json)
papcoll_add_bench_unit(model.circulant model circulant --first 1 --last 300 --threads 1)
papcoll_add_bench_unit(model.stragglar model stragglar --ranks 2,4,8,16 --sizes 1Mi) # fails where StragglAR is faster
papcoll_add_bench_unit(model.speed model speed --ranks 100 --repetitions 1)
if(benchmark_FOUND)
    papcoll_add_bench_unit(schedule schedule --benchmark_filter=choice --benchmark_min_time=0.01)
    papcoll_add_bench_unit(schedule.table schedule --table --instances 2 --largest 8)
    set_property(TEST bench.schedule.table PROPERTY PASS_REGULAR_EXPRESSION "\n\\| skewed \\| 8 \\| 2 \\|")
    papcoll_add_bench_unit(schedule.memory schedule --memory 16,64)
    set_property(TEST bench.schedule.memory PROPERTY PASS_REGULAR_EXPRESSION "\n\\| 64 \\| pairing heaps \\|")
endif()

# Tables and pictures of what was written above.
# papcoll_add_plot_test(<name> <file without .json> <regex> <argument>...)
function(papcoll_add_plot_test name file expected)
    add_test(NAME bench.plot.${name} COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 ${Python3_EXECUTABLE}
             ${CMAKE_CURRENT_SOURCE_DIR}/plot.py ${ARGN} ${CMAKE_CURRENT_BINARY_DIR}/${file}.json)
    set_tests_properties(bench.plot.${name} PROPERTIES TIMEOUT 60 LABELS bench FIXTURES_REQUIRED bench_${file}
                         PASS_REGULAR_EXPRESSION "${expected}")
endfunction()
if(Python3_FOUND AND PAPCOLL_TEST_MPI)
    set_tests_properties(bench.run.np3 PROPERTIES FIXTURES_SETUP bench_run)
    set_tests_properties(bench.run.blocks.np3 PROPERTIES FIXTURES_SETUP bench_blocks)
    set_tests_properties(bench.run.open.np3 PROPERTIES FIXTURES_SETUP bench_open)
    set_tests_properties(bench.guidelines.np3 PROPERTIES FIXTURES_SETUP bench_guidelines)
    set_tests_properties(bench.model.schedulers PROPERTIES FIXTURES_SETUP bench_schedulers)
    set_tests_properties(bench.model.figure2 PROPERTIES FIXTURES_SETUP bench_figure2)
    papcoll_add_plot_test(tables run "\n\\| 3 \\| all_gather \\| 5000 \\|" tables)
    papcoll_add_plot_test(tables.predictions run "\n\\| reduce, circulant \\| [0-9]+ \\|" tables --kind predictions)
    papcoll_add_plot_test(tables.blocks blocks "\n\\| broadcast \\| 1000 \\| [0-9.]+ \\| [0-9.]+ \\([0-9]+\\)" tables --kind blocks)
    papcoll_add_plot_test(tables.gathers open "\n\\| 2 \\| [a-z_:]+" tables --kind gathers)
    execute_process(COMMAND ${Python3_EXECUTABLE} -c "import matplotlib" RESULT_VARIABLE without OUTPUT_QUIET ERROR_QUIET)
    if(without EQUAL 0)
        set(into -o ${CMAKE_CURRENT_BINARY_DIR}/figures)
        papcoll_add_plot_test(delays run "run-reduce-5000.png" delays ${into})
        papcoll_add_plot_test(curves run "size-all_gather-3" curves --over size ${into})
        papcoll_add_plot_test(blocks blocks "blocks.png" blocks ${into})
        papcoll_add_plot_test(study run "winners-reduce-3-ranks.png" study ${into})
        papcoll_add_plot_test(guidelines guidelines "guidelines-papcoll.png" guidelines ${into})
        papcoll_add_plot_test(schedulers schedulers "schedulers-reduce.png" schedulers ${into})
        papcoll_add_plot_test(figure2 figure2 "figure2.png" figure2 ${into})
    endif()
endif()

# That what is installed runs.
if(PAPCOLL_INSTALL)
    set(prefix ${CMAKE_CURRENT_BINARY_DIR}/installed)
    add_test(NAME bench.install COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --component papcoll-tools --prefix ${prefix})
    add_test(NAME bench.install.pattern COMMAND ${prefix}/bin/papcoll-bench pattern --ranks 3 --shape last_delayed)
    set_tests_properties(bench.install PROPERTIES TIMEOUT 60 LABELS bench FIXTURES_SETUP bench_install)
    set_tests_properties(bench.install.pattern PROPERTIES TIMEOUT 60 LABELS bench FIXTURES_REQUIRED bench_install
                         PASS_REGULAR_EXPRESSION "ranks 3\n0\n0\n1000000\n")
endif()

# That the study runs, chooses and prints, even if it leaves out all but the fastest algorithm (--slow 1), and that the
# library takes its table.
if(Python3_FOUND AND PAPCOLL_TEST_MPI)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/pattern_study)
    set(arguments --quick --slow 1 --no-pictures --operations reduce)
    if(NOT papcoll_mpirun_version MATCHES "Open MPI|OpenRTE")
        list(APPEND arguments --no-open-mpi)
    endif()
    add_test(NAME bench.pattern_study.np4
             COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/pattern_study.py
                     $<TARGET_FILE:papcoll_bench> ${folder} --fresh ${arguments} -- ${PAPCOLL_MPIRUN} 4)
    papcoll_add_bench_test(pattern_study.table 4 run --operation reduce --sizes 4096f --balanced-only --repetitions 1
                           --policies automatic)
    set_tests_properties(bench.pattern_study.np4 PROPERTIES
        TIMEOUT 120 PROCESSORS 2 ENVIRONMENT "${PAPCOLL_MPI_ENVIRONMENT}" FIXTURES_SETUP pattern_study
        PASS_REGULAR_EXPRESSION "\n\\| reduce \\| 4096 \\| [a-z_]+ \\|[^\n]*\n" FAIL_REGULAR_EXPRESSION "failed:;Traceback")
    set_tests_properties(bench.pattern_study.table.np4 PROPERTIES FIXTURES_REQUIRED pattern_study
        ENVIRONMENT "${PAPCOLL_MPI_ENVIRONMENT};PAPCOLL_TUNING_FILE=${folder}/tuning.json;PAPCOLL_REPORT=1"
        PASS_REGULAR_EXPRESSION "papcoll: reduce of 16384 bytes on 4 ranks: [a-z_]+[^\n]* \\(tuned at 4 ranks, 16384 bytes\\)")
endif()
