#include "deltascope/engine/device_module.h"
#include "support/device.h"

#include <gtest/gtest.h>

namespace deltascope {
namespace {

/// Runs no test where the device that they need cannot be opened.
class DeviceEnvironment final : public testing::Environment {
public:
    void SetUp() override
    {
        if (!test::isRealDevice())
            return;
        const auto module = test::deviceModule();
        ASSERT_TRUE(module) << module.error().text;
        DeviceHandle* device = nullptr;
        DeviceFault fault {};
        ASSERT_EQ((*module)->open(0, &device, &fault), 0) << fault.text;
        (*module)->close(device);
    }
};

[[maybe_unused]] const testing::Environment* const device = testing::AddGlobalTestEnvironment(new DeviceEnvironment);

} // namespace
} // namespace deltascope
