# DELTASCOPE_DEVICE_BUILD: what program and module for CUDA devices are built from. They work together only if it is equal.
file(GLOB_RECURSE DEVICE_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cuda/src/*)
list(APPEND DEVICE_SOURCES
    ${PROJECT_SOURCE_DIR}/engine/include/deltascope/engine/device_module.h
    ${PROJECT_SOURCE_DIR}/engine/include/deltascope/engine/diff_backend.h
    ${PROJECT_SOURCE_DIR}/engine/include/deltascope/engine/element_difference.h
    ${PROJECT_SOURCE_DIR}/engine/include/deltascope/engine/number_format.h)
list(SORT DEVICE_SOURCES)
set(digests ${PROJECT_VERSION})
foreach(source IN LISTS DEVICE_SOURCES)
    file(SHA256 ${source} digest)
    string(APPEND digests ${digest})
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${DEVICE_SOURCES})
string(SHA256 digest "${digests}")
string(SUBSTRING ${digest} 0 16 digest)
set(DELTASCOPE_DEVICE_BUILD "${PROJECT_VERSION}-${digest}")
