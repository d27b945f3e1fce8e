#include "support/fake_driver.h"

#include "module/module.h"

#include <cstdlib>
#include <string>

// A module for CUDA devices over the driver of the tests, for the program as users run it: DELTASCOPE_CUDA_MODULE names
// it. FAKE_DRIVER_VERSION, FAKE_DRIVER_FAILS_AT and FAKE_DRIVER_FAILS_WITH are of FakeDriverPlan.

namespace {

std::uint64_t number(const char* variable, std::uint64_t otherwise)
{
    const char* const text = std::getenv(variable);
    return text ? std::stoull(text) : otherwise;
}

} // namespace

extern "C" __attribute__((visibility("default"))) const deltascope::DeviceModule* deltascope_device_module()
{
    using namespace deltascope;
    test::FakeDriverPlan plan;
    plan.version = static_cast<int>(number("FAKE_DRIVER_VERSION", 13000));
    plan.failAtCall = number("FAKE_DRIVER_FAILS_AT", 0);
    plan.failWith = static_cast<int>(number("FAKE_DRIVER_FAILS_WITH", 700));
    test::plan(plan);
    return cuda::moduleOver(test::fakeDriver, test::fakeImage(), DELTASCOPE_DEVICE_BUILD);
}
