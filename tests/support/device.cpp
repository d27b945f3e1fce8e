#include "support/device.h"

#include "module/module.h"
#include "support/fake_driver.h"

#include <cstdlib>

namespace deltascope::test {

bool isRealDevice() { return std::getenv("DELTASCOPE_CUDA_MODULE") != nullptr; }

Result<const DeviceModule*> deviceModule()
{
    if (isRealDevice())
        return loadDeviceModule(std::getenv("DELTASCOPE_CUDA_MODULE"));
    return cuda::moduleOver(fakeDriver, fakeImage(), "a build of the tests");
}

std::shared_ptr<const DeviceBackend> deviceBackend(std::optional<std::uint64_t> memory)
{
    return DeviceBackend::make(deviceModule, Backends::builtin().all().front(), memory);
}

Backends allBackends()
{
    static const Backends all = Backends::builtin().with(moduleBackend());
    return all;
}

} // namespace deltascope::test
