# Runs `npm ci` in the working folder, unless what is installed is what package-lock.json asks for.
set(wanted ${CMAKE_CURRENT_SOURCE_DIR}/package-lock.json)
set(installed ${CMAKE_CURRENT_SOURCE_DIR}/node_modules/.package-lock.json)
if(EXISTS ${installed} AND NOT ${wanted} IS_NEWER_THAN ${installed})
    return()
endif()
execute_process(COMMAND ${NPM} ci --no-audit --no-fund --loglevel=error RESULT_VARIABLE status)
if(status)
    message(FATAL_ERROR "npm ci failed in ui/web. It needs the npm registry once; "
        "-DDELTASCOPE_WITH_WEB=OFF builds the daemon without its page.")
endif()
