# deltascope_suites(TARGET LABEL SECONDS [ENVIRONMENT NAME=VALUE...]): a CTest test for each suite of a
# GoogleTest program, named LABEL.SUITE. One process runs a whole suite: under sanitizers a process takes 0.3 s to start.
# suites/TARGET.txt in the build folder names all cases and suites/LABEL.SUITE.xml says what became of them, so that
# cases behind a crash can be counted. SECONDS: time limit of a suite in the release build.
find_package(GTest REQUIRED)

function(deltascope_suites target label seconds)
    cmake_parse_arguments(PARSE_ARGV 3 SUITES "" "" "ENVIRONMENT")
    deltascope_limit(${seconds} limit)
    set(tests ${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake)
    add_custom_command(TARGET ${target} POST_BUILD
        BYPRODUCTS ${tests}
        COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${target}> -DTARGET=${target} -DTESTS=${tests}
            -DFOLDER=${CMAKE_BINARY_DIR}/suites -DLABEL=${label} -DLIMIT=${limit}
            "-DENVIRONMENT=${SUITES_ENVIRONMENT}"
            -P ${PROJECT_SOURCE_DIR}/tests/cmake/list_suites.cmake
        VERBATIM)
    set(include ${CMAKE_CURRENT_BINARY_DIR}/${target}_include.cmake)
    file(WRITE ${include} "if(EXISTS \"${tests}\")\n    include(\"${tests}\")\nendif()\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${include})
endfunction()
