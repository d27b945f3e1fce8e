#include "deltascope/app/service.h"

#include <cstdlib>
#include <filesystem>

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

/// Where the module is installed and built: beside the folder of the program, and nowhere else.
std::string installedModule()
{
    std::error_code unknown;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", unknown);
    return (self.parent_path().parent_path() / "lib" / "deltascope" / "libdeltascope_cuda.so").string();
}

}

Settings Settings::fromEnvironment()
{
    Settings settings;
    settings.backend = variable("DELTASCOPE_DIFF_BACKEND");
    settings.cudaModule = variable("DELTASCOPE_CUDA_MODULE");
    settings.cudaModuleNamed = !settings.cudaModule.empty();
    std::error_code error;
    settings.cudaModule =
        settings.cudaModuleNamed ? std::filesystem::absolute(settings.cudaModule, error).string() : installedModule();
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
