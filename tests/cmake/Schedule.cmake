# When a test starts, and when it is given up.
option(DELTASCOPE_LONG "Time limits of the long tier, where sweeps run whole" OFF)

# deltascope_limit(SECONDS OUT): the time limit of a test that needs less than SECONDS in the release build.
function(deltascope_limit seconds out)
    if(DELTASCOPE_SANITIZE)
        math(EXPR seconds "5*${seconds}")
    endif()
    if(DELTASCOPE_LONG)
        math(EXPR seconds "20*${seconds}")
    endif()
    set(${out} ${seconds} PARENT_SCOPE)
endfunction()

# deltascope_cost(TEST OUT): what a long test takes in the release build, from tests/costs.txt; empty for a short one.
# Tests with a cost start first, so that none of them is left over at the end.
function(deltascope_cost test out)
    string(REGEX REPLACE "([.+])" "\\\\\\1" pattern "${test}")
    file(STRINGS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../costs.txt line REGEX "^${pattern} ")
    string(REGEX REPLACE "^[^ ]+ " "" cost "${line}")
    set(${out} "${cost}" PARENT_SCOPE)
endfunction()

# deltascope_schedule(TEST SECONDS): gives an added test its time limit and its cost.
function(deltascope_schedule test seconds)
    deltascope_limit(${seconds} limit)
    deltascope_cost(${test} cost)
    set_tests_properties(${test} PROPERTIES TIMEOUT ${limit} COST "${cost}")
endfunction()
