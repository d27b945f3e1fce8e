# The page (ui/web) and resources/openapi.json become part of the program. Building the page needs npm once; without it a
# page that says so takes its place.
option(DELTASCOPE_WITH_WEB "Build the web page with npm" ON)

set(WEB_SOURCE ${PROJECT_SOURCE_DIR}/ui/web)
set(WEB_DIST ${CMAKE_CURRENT_BINARY_DIR}/web)
set(WEB_BUNDLE ${CMAKE_CURRENT_BINARY_DIR}/web-bundle/index.html)
set(WEB_EMBEDDED ${CMAKE_CURRENT_BINARY_DIR}/embedded)
set(WEB_SCRIPTS ${CMAKE_CURRENT_LIST_DIR})
find_program(GZIP_PROGRAM gzip REQUIRED)
find_program(NPM_PROGRAM npm)

if(DELTASCOPE_WITH_WEB AND NPM_PROGRAM AND EXISTS ${WEB_SOURCE}/package-lock.json)
    # Packages are installed in the source folder, once for all build folders.
    add_custom_command(
        OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/web-modules.stamp
        COMMAND ${CMAKE_COMMAND} -DNPM=${NPM_PROGRAM} -P ${WEB_SCRIPTS}/install_packages.cmake
        COMMAND ${CMAKE_COMMAND} -E touch ${CMAKE_CURRENT_BINARY_DIR}/web-modules.stamp
        DEPENDS ${WEB_SOURCE}/package.json ${WEB_SOURCE}/package-lock.json ${WEB_SCRIPTS}/install_packages.cmake
        WORKING_DIRECTORY ${WEB_SOURCE}
        COMMENT "Installing the packages of the web page"
        VERBATIM)
    file(GLOB_RECURSE WEB_INPUTS CONFIGURE_DEPENDS ${WEB_SOURCE}/src/* ${WEB_SOURCE}/public/*)
    add_custom_command(
        OUTPUT ${WEB_DIST}/index.html
        COMMAND ${NPM_PROGRAM} run --silent build -- --outDir ${WEB_DIST} --emptyOutDir --logLevel warn
        DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/web-modules.stamp ${WEB_INPUTS} ${WEB_SOURCE}/index.html
            ${WEB_SOURCE}/vite.config.ts ${WEB_SOURCE}/tsconfig.json
        WORKING_DIRECTORY ${WEB_SOURCE}
        COMMENT "Building the web page"
        VERBATIM)
    add_custom_command(
        OUTPUT ${WEB_BUNDLE}
        COMMAND ${NPM_PROGRAM} run --silent bundle -- --outDir ${CMAKE_CURRENT_BINARY_DIR}/web-bundle --emptyOutDir
            --logLevel warn
        DEPENDS ${WEB_DIST}/index.html ${WEB_SOURCE}/vite.bundle.config.ts # the page was checked before
        WORKING_DIRECTORY ${WEB_SOURCE}
        COMMENT "Building the page of bundles"
        VERBATIM)
else()
    message(WARNING "The web page will not be built: it needs npm (Debian: apt-get install nodejs npm) and "
        "DELTASCOPE_WITH_WEB=ON. deltascope serve will show a page that says so.")
    add_custom_command(
        OUTPUT ${WEB_DIST}/index.html
        COMMAND ${CMAKE_COMMAND} -E rm -rf ${WEB_DIST}
        COMMAND ${CMAKE_COMMAND} -E copy_directory ${CMAKE_CURRENT_SOURCE_DIR}/src/server/fallback ${WEB_DIST}
        DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/server/fallback/index.html
        VERBATIM)
    set(WEB_BUNDLE ${CMAKE_CURRENT_SOURCE_DIR}/src/server/fallback/index.html)
endif()

add_custom_command(
    OUTPUT ${WEB_EMBEDDED}/assets.cpp ${WEB_EMBEDDED}/assets.S
    COMMAND ${CMAKE_COMMAND} -DDIST=${WEB_DIST} -DOPENAPI=${PROJECT_SOURCE_DIR}/resources/openapi.json
        -DBUNDLE=${WEB_BUNDLE}
        -DGZIP=${GZIP_PROGRAM} -DOUT=${WEB_EMBEDDED} -P ${WEB_SCRIPTS}/embed_assets.cmake
    DEPENDS ${WEB_DIST}/index.html ${WEB_BUNDLE} ${PROJECT_SOURCE_DIR}/resources/openapi.json ${WEB_SCRIPTS}/embed_assets.cmake
    COMMENT "Embedding the web page"
    VERBATIM)
set(WEB_ASSET_SOURCES ${WEB_EMBEDDED}/assets.cpp ${WEB_EMBEDDED}/assets.S)
