# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0

# unit/scheduler/clairvoyant.cpp -> unit.scheduler.clairvoyant
function(papcoll_test_name source result)
    string(REGEX REPLACE "\\.cpp$" "" name ${source})
    string(REPLACE "/" "." name ${name})
    set(${result} ${name} PARENT_SCOPE)
endfunction()

# The words after `// <key>:` in a source file, one list entry per such line, words separated by blanks.
function(papcoll_source_settings source key result)
    file(STRINGS ${source} lines REGEX "^// ${key}: ")
    list(TRANSFORM lines REPLACE "^// ${key}: *" "")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    set(${result} "${lines}" PARENT_SCOPE)
endfunction()

# papcoll_add_joined_source(<output> <source>...): one translation unit that holds these files, see join_sources.py.
function(papcoll_add_joined_source output)
    set(script ${PROJECT_SOURCE_DIR}/test/support/join_sources.py)
    cmake_path(GET output PARENT_PATH folder)
    cmake_path(GET output FILENAME name)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${output} COMMAND ${Python3_EXECUTABLE} ${script} ${output} ${ARGN}
                       DEPENDS ${script} ${ARGN} COMMENT "Joining test files into ${name}" VERBATIM)
endfunction()

# papcoll_join_sources(<name> <variable> <source>...): a few translation units that hold these test files, which takes
# the compiler a third of the time of one for each. A file stays one where a namespace around it would change it.
option(PAPCOLL_TEST_JOINED "Compile several test files as one translation unit; run those of mpi.collective together" ON)
function(papcoll_join_sources name result)
    set(joined)
    set(single)
    foreach(source IN LISTS ARGN)
        file(STRINGS ${source} outside REGEX "^(# *(define|if|undef|pragma)|template <>|BOOST_|namespace [a-z_:]+ {)")
        if(outside OR NOT PAPCOLL_TEST_JOINED)
            list(APPEND single ${source})
        else()
            list(APPEND joined ${CMAKE_CURRENT_SOURCE_DIR}/${source})
        endif()
    endforeach()
    list(LENGTH joined count)
    if(count EQUAL 1)
        list(APPEND single ${joined})
        set(count 0)
    endif()
    math(EXPR units "(${count} + 11) / 12")
    set(unit 0)
    while(unit LESS units)
        math(EXPR first "${unit} * ${count} / ${units}")
        math(EXPR length "(${unit} + 1) * ${count} / ${units} - ${first}")
        list(SUBLIST joined ${first} ${length} sources)
        math(EXPR unit "${unit} + 1")
        set(output ${CMAKE_CURRENT_BINARY_DIR}/joined/${name}.${unit}.cpp)
        papcoll_add_joined_source(${output} ${sources})
        list(APPEND single ${output})
    endwhile()
    set(${result} ${single} PARENT_SCOPE)
endfunction()

# papcoll_link_first(<target> <library>): links to an optimised static library of ours that comes before the target's own
# objects, which may be compiled without optimisation. Of a function that both have, as those of containers are, the
# linker takes the first, so that the library runs as fast as it was compiled.
function(papcoll_link_first target library)
    target_link_options(${target} PRIVATE "LINKER:--whole-archive,$<TARGET_FILE:${library}>,--no-whole-archive")
    target_link_libraries(${target} PRIVATE ${library})
endfunction()

# An executable with the shared doctest main and our warnings. `// flags: -mavx2` in the (first) source file
# adds compiler flags.
function(papcoll_add_test_executable name main)
    papcoll_join_sources(${name} sources ${ARGN})
    add_executable(${name} ${sources})
    papcoll_link_first(${name} papcoll_compiled)
    target_link_libraries(${name} PRIVATE ${main} doctest::doctest papcoll_warnings)
    target_compile_definitions(${name} PRIVATE PAPCOLL_TEST_DATA="${PROJECT_SOURCE_DIR}/test/data")
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/test)
    list(GET ARGN 0 first)
    papcoll_source_settings(${first} flags flags)
    separate_arguments(flags UNIX_COMMAND "${flags}")
    target_compile_options(${name} PRIVATE ${flags})
endfunction()

# papcoll_register_unit_test(<name> <executable> [<argument>...]): a test that needs no mpirun.
# sanitizer_tests (label: sanitizer) leaves out most tests of single collectives, which run the same code as `mixed` with
# other arguments, most of the policies', whose plans those have, and the analysis; thread_tests (label: threads) are those in
# which threads meet.
set(papcoll_sanitized_collectives "mixed|open_all_gatherv?|gather|arrival_all_reduce|trees")
set(papcoll_sanitized_policies "shared_memory|two_level|tuning_table|misspelt_environment|uneven_parts")
add_custom_target(unit_tests)
add_custom_target(sanitizer_tests)
add_custom_target(thread_tests)
function(papcoll_register_unit_test name executable)
    add_test(NAME ${name} COMMAND ${executable} ${ARGN})
    set(timeout 120)
    if(PAPCOLL_TEST_SANITIZED)
        set(timeout 300) # several times as slow
    endif()
    set(cost 1)
    if(name MATCHES "^unit\\.(collective|policy)\\.|shared_interleavings$")
        set(cost 50)
    endif()
    set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT ${timeout} COST ${cost}) # the long ones first
    add_dependencies(unit_tests ${executable})
    if(NOT name MATCHES "^unit\\.(analysis|collective|policy)\\.|^(bench|operators|tracer)\\." OR
       name MATCHES "^unit\\.collective\\.(${papcoll_sanitized_collectives}|shared_two_level)$" OR
       name MATCHES "^unit\\.policy\\.(${papcoll_sanitized_policies})$")
        set_property(TEST ${name} APPEND PROPERTY LABELS sanitizer)
        add_dependencies(sanitizer_tests ${executable})
    endif()
    if(name MATCHES "^unit\\.(transport\\.|context\\.|monitor\\.arrival|collective\\.(mixed|open|shared))")
        set_property(TEST ${name} APPEND PROPERTY LABELS threads)
        add_dependencies(thread_tests ${executable})
    endif()
endfunction()

# papcoll_add_unit_test(<name> <sources>...): an executable that is one test.
function(papcoll_add_unit_test name)
    papcoll_add_test_executable(${name} papcoll_doctest_main ${ARGN})
    papcoll_link_first(${name} papcoll_test_threads)
    papcoll_register_unit_test(${name} ${name})
endfunction()

# papcoll_split_rooms(<folder> <variable>): the test files of a folder, room by room: sets <variable> to the rooms,
# <variable>_<room> to their files, and <variable>_alone to those with a line `// alone`, which get executables of their own.
function(papcoll_split_rooms folder variable)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${folder}/*.cpp)
    set(rooms)
    set(alone)
    foreach(source IN LISTS sources)
        file(STRINGS ${source} marked REGEX "^// alone")
        if(marked)
            list(APPEND alone ${source})
            continue()
        endif()
        cmake_path(GET source PARENT_PATH path)
        cmake_path(GET path FILENAME room)
        list(APPEND rooms ${room})
        list(APPEND files_${room} ${source})
    endforeach()
    list(REMOVE_DUPLICATES rooms)
    foreach(room IN LISTS rooms)
        set(${variable}_${room} ${files_${room}} PARENT_SCOPE)
    endforeach()
    set(${variable} ${rooms} PARENT_SCOPE)
    set(${variable}_alone ${alone} PARENT_SCOPE)
endfunction()

# papcoll_set_mpi_properties(<test> <timeout> <processors> [VAR=value]...): what a test under mpirun needs.
function(papcoll_set_mpi_properties test timeout processors)
    set_tests_properties(${test} PROPERTIES LABELS mpi TIMEOUT ${timeout} PROCESSORS ${processors}
                         ENVIRONMENT "${PAPCOLL_MPI_ENVIRONMENT};LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/test/support/lsan.supp;${ARGN}")
endfunction()

# papcoll_add_ranks(<test> <program> <ranks> <timeout> "<arguments>" [VAR=value]...): one run of a program under mpirun.
function(papcoll_add_ranks test program ranks timeout arguments)
    add_test(NAME ${test} COMMAND ${PAPCOLL_MPIRUN} ${ranks} $<TARGET_FILE:${program}> ${arguments})
    # Ranks keep the cores busy, and wait longer for each other where another test runs beside them.
    set(processors 2)
    if(ranks EQUAL 1)
        set(processors 1)
    endif()
    papcoll_set_mpi_properties(${test} ${timeout} ${processors} ${ARGN})
endfunction()

# papcoll_register_mpi_test(<name> <executable> <source>...): the tests of these files, in one mpirun for each rank
# count of PAPCOLL_TEST_RANKS. In a file
#     // ranks: 2 3 8                                       replaces the rank counts
#     // env: OMPI_MCA_btl_vader_eager_limit=256            runs it in <name>.eager.np<k>, too, with this environment,
#                                                           at 3 and 8 ranks, or at all where neither is among them
#     // env.other: VAR=value                               the same under another name, <name>.other.np<k>
function(papcoll_register_mpi_test name executable)
    set(runs)
    foreach(source IN LISTS ARGN)
        papcoll_source_settings(${source} ranks counts)
        separate_arguments(counts UNIX_COMMAND "${counts}")
        if(NOT counts)
            set(counts ${PAPCOLL_TEST_RANKS})
        endif()
        set(variant_counts ${counts})
        list(FILTER variant_counts INCLUDE REGEX "^[38]$")
        if(NOT variant_counts)
            set(variant_counts ${counts})
        endif()
        foreach(ranks IN LISTS counts)
            list(APPEND runs np${ranks})
            list(APPEND files_np${ranks} ${source})
        endforeach()
        file(STRINGS ${source} variants REGEX "^// env[^ ]*: ")
        foreach(variant IN LISTS variants)
            if(NOT variant MATCHES "^// env(\\.([a-z_]+))?: *(.*)$")
                message(FATAL_ERROR "${source}: '${variant}' must read '// env.<variant>: VAR=value ...'")
            endif()
            set(label eager)
            if(CMAKE_MATCH_2)
                set(label ${CMAKE_MATCH_2})
            endif()
            separate_arguments(environment UNIX_COMMAND "${CMAKE_MATCH_3}")
            foreach(ranks IN LISTS variant_counts)
                set(run ${label}.np${ranks})
                if(run IN_LIST runs AND NOT environment STREQUAL "${environment_${run}}")
                    message(FATAL_ERROR "${source}: in other files of ${name} '${label}' is another environment")
                endif()
                list(APPEND runs ${run})
                list(APPEND files_${run} ${source})
                set(environment_${run} ${environment})
            endforeach()
        endforeach()
    endforeach()
    list(REMOVE_DUPLICATES runs)
    foreach(run IN LISTS runs)
        string(REGEX REPLACE ".*np" "" ranks ${run})
        list(LENGTH files_${run} count)
        math(EXPR timeout "120 + 20 * (${count} - 1)")
        list(TRANSFORM files_${run} PREPEND "*/")
        list(JOIN files_${run} "," files)
        papcoll_add_ranks(${name}.${run} ${executable} ${ranks} ${timeout} --source-file=${files} ${environment_${run}})
        math(EXPR cost "${count} * ${ranks}") # the long ones first
        set_tests_properties(${name}.${run} PROPERTIES COST ${cost})
    endforeach()
endfunction()
