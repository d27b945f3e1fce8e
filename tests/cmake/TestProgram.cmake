# deltascope_compile_fast(TARGET LIBRARY...): compiles a test program without optimizing, in half the time. What it tests
# keeps its own: the libraries stand in front of the program's files, and a linker that reads archives in any order (mold)
# takes inline functions from where they come first. UBSan and libFuzzer watch the libraries alone: in code of tests they take
# more than half of the time.
function(deltascope_compile_fast target)
    target_compile_options(${target} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O0>
        $<$<BOOL:${DELTASCOPE_LIBFUZZER}>:-fno-sanitize=undefined,fuzzer-no-link>)
    foreach(library IN LISTS ARGN)
        target_link_options(${target} PRIVATE $<TARGET_FILE:${library}>)
    endforeach()
endfunction()
