#pragma once

#include "deltascope/engine/backend.h"
#include "deltascope/engine/device_module.h"
#include "support/device.h"
#include "support/fake_driver.h"

#include "deltascope/base/bytes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <iterator>
#include <memory>
#include <random>
#include <vector>

// The functions of a module for CUDA devices, and tensors in the memory of a device.

namespace deltascope::device_module_test {

using Bytes = std::vector<std::byte>;

inline Bytes randomBytes(std::size_t size, std::mt19937_64& random)
{
    Bytes bytes(size);
    std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(random()); });
    return bytes;
}

/// The backends of the processor that this machine has.
inline std::vector<std::shared_ptr<const Backend>> processors()
{
    std::vector<std::shared_ptr<const Backend>> all = Backends::builtin().all();
    std::erase_if(all, [](const auto& backend) { return !backend->isSupportedHere(); });
    return all;
}

/// The functions of the module, with one device and queue.
class OpenModule {
public:
    OpenModule()
        : m_module(*test::deviceModule())
    {
        DeviceFault fault {};
        EXPECT_EQ(m_module->open(0, &m_device, &fault), 0) << fault.text;
        EXPECT_EQ(m_module->openQueue(m_device, &m_queue, &fault), 0) << fault.text;
    }
    ~OpenModule()
    {
        m_module->closeQueue(m_queue);
        m_module->close(m_device);
    }
    OpenModule(const OpenModule&) = delete;
    OpenModule& operator=(const OpenModule&) = delete;

    template <class Function, class... Arguments> void call(Function function, Arguments... arguments)
    {
        DeviceFault fault {};
        ASSERT_EQ(function(m_queue, arguments..., &fault), 0) << fault.text;
    }
    const DeviceModule* operator->() const { return m_module; }
    DeviceQueueHandle* queue() const { return m_queue; }

    std::uint64_t upload(ByteSpan bytes)
    {
        std::uint64_t address = 0;
        call(m_module->allocate, std::uint64_t { std::max<std::size_t>(bytes.size(), 1) }, &address);
        call(m_module->upload, address, static_cast<const void*>(bytes.data()), std::uint64_t { bytes.size() });
        call(m_module->wait);
        return address;
    }

private:
    const DeviceModule* m_module;
    DeviceHandle* m_device = nullptr;
    DeviceQueueHandle* m_queue = nullptr;
};

class DeviceModuleTest : public testing::Test {
protected:
    void SetUp() override { test::plan({}); }
};

/// Many tensors of one width, each with a density of its own.
struct Tensors {
    Bytes before;
    Bytes after;
    std::vector<std::size_t> begins; ///< and the end, in elements

    Tensors(std::size_t count, unsigned width, std::mt19937_64& random)
    {
        constexpr std::size_t Sizes[] = { 0, 1, 31, 32, 33, 300, 16383, 16384, 16385, 40000 };
        begins.push_back(0);
        for (std::size_t i = 0; i < count; ++i)
            begins.push_back(begins.back()
                             + (random() % 50 == 0 ? Sizes[random() % std::size(Sizes)] : random() % 200));
        before = randomBytes(begins.back() * width, random);
        after = before;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t oneOf = std::uint64_t { 1 } << random() % 12;
            for (std::size_t element = begins[i]; element < begins[i + 1]; ++element) {
                if (random() % oneOf == 0)
                    after[element * width + random() % width] ^= std::byte { 0x40 };
            }
        }
    }
};

} // namespace deltascope::device_module_test
