# Writes the CTest tests of a GoogleTest program after it was linked; see Suites.cmake. Variables: PROGRAM, TARGET, TESTS
# (the file to write), FOLDER (of lists and results), LABEL, LIMIT, ENVIRONMENT.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/Schedule.cmake)

execute_process(COMMAND ${CMAKE_COMMAND} -E env ${ENVIRONMENT} ${PROGRAM} --gtest_list_tests
    OUTPUT_VARIABLE listing COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "[ \t]*#[^\n]*" "" listing "${listing}") # values of parameters
string(REPLACE "\n" ";" lines "${listing}")

set(tests "")
set(cases "")
foreach(line IN LISTS lines)
    if(line MATCHES "^  (.+)$")
        string(APPEND cases "${name} ${CMAKE_MATCH_1}\n")
    elseif(line MATCHES "^([^ ]+)\\.$")
        set(suite ${CMAKE_MATCH_1})
        string(REPLACE "/" "-" name "${LABEL}.${suite}")
        deltascope_cost(${name} cost)
        string(APPEND tests "add_test([=[${name}]=] [=[${PROGRAM}]=] [=[--gtest_filter=${suite}.*]=]"
            " [=[--gtest_output=xml:${FOLDER}/${name}.xml]=])\n"
            "set_tests_properties([=[${name}]=] PROPERTIES LABELS ${LABEL} TIMEOUT ${LIMIT} COST \"${cost}\""
            " ENVIRONMENT [=[${ENVIRONMENT}]=])\n")
    endif()
endforeach()
if(NOT cases)
    message(FATAL_ERROR "${PROGRAM} lists no test")
endif()
file(WRITE ${FOLDER}/${TARGET}.txt "${cases}")
file(WRITE ${TESTS} "${tests}")
