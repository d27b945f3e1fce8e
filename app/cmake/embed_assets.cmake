# Writes assets.S, which holds each file of DIST and the file OPENAPI as they are and compressed, and the file BUNDLE as it
# is, and assets.cpp, which lists them. Variables: DIST, OPENAPI, BUNDLE, GZIP, OUT.
file(MAKE_DIRECTORY ${OUT})
set(symbols "")
set(table "")
set(assembly "    .section .rodata\n")
set(blobs 0)

function(embed_blob file)
    set(name "ds_asset_${blobs}")
    string(APPEND assembly "    .balign 16\n    .global ${name}\n${name}:\n    .incbin \"${file}\"\n"
        "    .global ${name}_end\n${name}_end:\n    .byte 0\n")
    string(APPEND symbols "extern \"C\" const char ${name}[];\nextern \"C\" const char ${name}_end[];\n")
    math(EXPR next "${blobs} + 1")
    set(assembly "${assembly}" PARENT_SCOPE)
    set(symbols "${symbols}" PARENT_SCOPE)
    set(blobs ${next} PARENT_SCOPE)
    set(view "view(${name}, ${name}_end)" PARENT_SCOPE)
endfunction()

macro(embed_file path file)
    file(SHA256 ${file} hash)
    string(SUBSTRING ${hash} 0 16 etag)
    embed_blob(${file})
    set(plain "${view}")
    execute_process(COMMAND ${GZIP} -9 -n -c ${file} OUTPUT_FILE ${OUT}/${hash}.gz COMMAND_ERROR_IS_FATAL ANY)
    embed_blob(${OUT}/${hash}.gz)
    string(APPEND table "        { \"${path}\", \"${etag}\", ${plain}, ${view} },\n")
endmacro()

file(GLOB old ${OUT}/*.gz)
if(old)
    file(REMOVE ${old})
endif()
file(GLOB_RECURSE files RELATIVE ${DIST} ${DIST}/*)
list(SORT files)
foreach(path IN LISTS files)
    embed_file("/${path}" ${DIST}/${path})
endforeach()
embed_file("/openapi.json" ${OPENAPI})
embed_blob(${BUNDLE})
set(bundle "${view}")

file(WRITE ${OUT}/assets.S "${assembly}    .section .note.GNU-stack,\"\",@progbits\n")
file(WRITE ${OUT}/assets.cpp "// Made by embed_assets.cmake.
#include \"server/assets.h\"

${symbols}
namespace deltascope::server {

namespace {

std::string_view view(const char* begin, const char* end) { return { begin, std::size_t(end - begin) }; }

}

const std::vector<Asset>& embeddedAssets()
{
    static const std::vector<Asset> assets {
${table}    };
    return assets;
}

std::string_view bundlePage() { return ${bundle}; }

} // namespace deltascope::server
")
