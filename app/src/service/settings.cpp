#include "deltascope/app/service.h"

#include <cstdlib>

namespace deltascope::app {

namespace {

std::string variable(const char* name)
{
    const char* value = std::getenv(name);
    return value ? value : "";
}

std::string xdg(const char* name, const char* fallback)
{
    const std::string set = variable(name);
    return (set.empty() || set[0] != '/' ? variable("HOME") + fallback : set) + "/deltascope";
}

}

Settings Settings::fromEnvironment()
{
    Settings settings;
    settings.diffBackend = variable("DELTASCOPE_DIFF_BACKEND");
    const std::string home = variable("DELTASCOPE_HOME");
    if (home.empty()) {
        settings.cacheFolder = xdg("XDG_CACHE_HOME", "/.cache");
        settings.stateFolder = xdg("XDG_STATE_HOME", "/.local/state");
        settings.configFile = xdg("XDG_CONFIG_HOME", "/.config") + "/config.toml";
    } else {
        settings.cacheFolder = home + "/cache";
        settings.stateFolder = home + "/state";
        settings.configFile = home + "/config.toml";
    }
    return settings;
}

} // namespace deltascope::app
