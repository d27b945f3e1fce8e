#include "driver/driver.h"

#include <dlfcn.h>
#include <string>
#include <type_traits>

namespace deltascope::cuda {

Result<Driver> systemDriver()
{
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char* const why = dlerror();
        return fail(Code::Unsupported, "the driver of NVIDIA cannot be loaded: " + std::string(why ? why : "no reason"),
                    "libcuda.so.1", "Install the driver of the device.");
    }
    Driver driver;
    std::string missing;
    eachFunction(driver, [&](auto& function, const char* symbol) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
        if (!function && missing.empty())
            missing = symbol;
    });
    if (!missing.empty())
        return fail(Code::Unsupported, "the driver of NVIDIA has no function " + missing, "libcuda.so.1",
                    "Install a driver of the 580 series or a newer one.");
    return driver;
}

} // namespace deltascope::cuda
