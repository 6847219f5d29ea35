# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
# cmake -D COMPILER=... -D OPTIONS=a|b -D INCLUDES=a|b [-D PRECOMPILED=folder] -D SOURCE=file.cpp -P expect_error.cmake
# The folder has core.hpp.gch and papcoll.hpp.gch.
string(REPLACE "|" ";" folders "${INCLUDES}")
list(TRANSFORM folders PREPEND "-I")
string(REPLACE "|" ";" options "${OPTIONS}")
set(compile ${COMPILER} ${options} -fsyntax-only ${folders})
file(STRINGS ${SOURCE} included REGEX "^#include <papcoll/(core|papcoll).hpp>")
if(PRECOMPILED AND included MATCHES "papcoll/(core|papcoll)\\.hpp")
    list(APPEND compile -include ${PRECOMPILED}/${CMAKE_MATCH_1}.hpp)
endif()
list(APPEND compile ${SOURCE})

file(STRINGS ${SOURCE} expected REGEX "^// expect: ")
list(LENGTH expected count)
if(NOT count EQUAL 1)
    message(FATAL_ERROR "${SOURCE} needs exactly one line '// expect: <regular expression>'")
endif()
string(REGEX REPLACE "^// expect: " "" expected "${expected}")

execute_process(COMMAND ${compile} -DPAPCOLL_MISTAKE RESULT_VARIABLE failed ERROR_VARIABLE messages)
if(failed EQUAL 0)
    message(FATAL_ERROR "it compiles")
endif()
# What to do is said first: behind pages of candidates and instantiations nobody finds it.
file(STRINGS ${SOURCE} anywhere REGEX "^// anywhere$")
set(where " all of")
if(NOT anywhere)
    set(where " the first five lines of")
    string(REGEX MATCH "^([^\n]*\n)?([^\n]*\n)?([^\n]*\n)?([^\n]*\n)?([^\n]*\n)?" messages "${messages}")
endif()
# Only the compiler's words count, not the source lines it quotes ("  12 | code").
string(REGEX REPLACE "\n *[0-9]* \\|[^\n]*" "" messages "${messages}")
if(NOT messages MATCHES "${expected}")
    message(FATAL_ERROR "no message matches '${expected}' in${where}\n${messages}")
endif()
