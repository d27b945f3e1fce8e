#include "deltascope/engine/device_backend.h"

#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>

namespace deltascope {

Result<const DeviceModule*> loadDeviceModule(const std::string& file)
{
    std::error_code error;
    // A name alone would be looked for in the folders of libraries.
    const std::string path = file.empty() ? file : std::filesystem::absolute(file, error).string();
    const auto refused = [&](std::string text) {
        return fail(Code::Unsupported, std::move(text), path,
                    "Build the module with this program (DELTASCOPE_WITH_CUDA).");
    };
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status))
        return refused("the module for CUDA devices is not installed");
    if (!std::filesystem::is_regular_file(status)) // opening a pipe would wait for its writer
        return refused("the module for CUDA devices is no file");
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char* const why = dlerror();
        return refused(
            fmt::format("the module for CUDA devices cannot be loaded: {}", why ? why : "no reason is given"));
    }
    const auto entry = reinterpret_cast<DeviceModuleEntry>(dlsym(library, DeviceModuleSymbol));
    const DeviceModule* const module = entry ? entry() : nullptr;
    if (!module)
        return refused("the file is no module for CUDA devices");
    if (module->bytes != sizeof(DeviceModule) || std::string_view(module->build) != DELTASCOPE_DEVICE_BUILD)
        return refused("the module for CUDA devices belongs to another build of this program");
    return module;
}

} // namespace deltascope
