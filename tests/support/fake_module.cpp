#include "support/fake_driver.h"

#include "module/module.h"

#include <cstdlib>
#include <string>

// A module for CUDA devices over the driver of the tests, for the program as users run it: DELTASCOPE_CUDA_MODULE names
// it. FAKE_DRIVER_VERSION, _DEVICES, _FREE_BYTES, _FAILS_AT and _FAILS_WITH are of FakeDriverPlan. It is also the
// driver of a program that has tensors on the device.

namespace {

std::uint64_t number(const char* variable, std::uint64_t otherwise)
{
    const char* const text = std::getenv(variable);
    return text ? std::stoull(text) : otherwise;
}

const deltascope::cuda::Driver& driver()
{
    static const deltascope::cuda::Driver functions = *deltascope::test::fakeDriver();
    return functions;
}

} // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int cuInit(unsigned flags) { return driver().init(flags); }
EXPORTED int cuDeviceGet(int* device, int ordinal) { return driver().deviceGet(device, ordinal); }
EXPORTED int cuDevicePrimaryCtxRetain(void** context, int device)
{
    return driver().devicePrimaryCtxRetain(context, device);
}
EXPORTED int cuCtxPushCurrent_v2(void* context) { return driver().ctxPushCurrent(context); }
EXPORTED int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) { return driver().memAlloc(address, bytes); }
EXPORTED int cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes)
{
    deltascope::cuda::Handle stream = nullptr;
    int status = driver().streamCreateWithPriority(&stream, 0, 0);
    if (status != 0)
        return status;
    status = driver().memcpyHtoDAsync(to, from, bytes, stream);
    const int done = driver().streamSynchronize(stream);
    driver().streamDestroy(stream);
    return status != 0 ? status : done;
}

EXPORTED const deltascope::DeviceModule* deltascope_device_module()
{
    using namespace deltascope;
    test::FakeDriverPlan plan;
    plan.version = static_cast<int>(number("FAKE_DRIVER_VERSION", 13000));
    plan.devices = static_cast<int>(number("FAKE_DRIVER_DEVICES", 1));
    plan.freeBytes = number("FAKE_DRIVER_FREE_BYTES", plan.freeBytes);
    plan.failAtCall = number("FAKE_DRIVER_FAILS_AT", 0);
    plan.failWith = static_cast<int>(number("FAKE_DRIVER_FAILS_WITH", 700));
    test::plan(plan);
    return cuda::moduleOver(test::fakeDriver, test::fakeImage(), DELTASCOPE_DEVICE_BUILD);
}
