#pragma once

#include "from_device/c_publisher.h"

#include "deltascope/engine/walk.h"
#include "publish_fixture.h"
#include "session.h"
#include "support/device.h"
#include "support/fake_driver.h"

#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

// A trainer whose model lies in the memory of a device, and a publisher over the module of the tests.

namespace deltascope::from_device_test {

using namespace layout_test;

using Bytes = std::vector<std::byte>;
using Model = std::map<std::string, Bytes>;

struct Shape {
    std::string name;
    std::string dtype;
    std::vector<std::uint64_t> sides;
    std::size_t bytes;
};

inline const std::vector<Shape>& shapes()
{
    static const std::vector<Shape> all { { "layers.0.weight", "BF16", { 300, 70 }, 42000 },
                                          { "layers.0.norm", "BF16", { 300 }, 600 },
                                          { "head", "BF16", { 40000 }, 80000 },
                                          { "bias", "BF16", { 20 }, 40 },
                                          { "empty", "BF16", { 0, 4 }, 0 } };
    return all;
}

/// BF16 numbers around 0.01.
inline Model firstModel(std::uint64_t seed)
{
    std::mt19937_64 random(seed);
    Model model;
    for (const Shape& shape : shapes()) {
        Bytes& bytes = model[shape.name];
        for (std::size_t i = 0; i < shape.bytes; i += 2) {
            bytes.push_back(static_cast<std::byte>(random()));
            bytes.push_back(static_cast<std::byte>(0x3c | (random() & 0x80)));
        }
    }
    return model;
}

/// Turns the lowest bit of one element of `oneOf`.
inline Model trained(Model model, std::uint64_t seed, std::uint64_t oneOf = 100)
{
    std::mt19937_64 random(seed);
    for (auto& [name, bytes] : model) {
        for (std::size_t i = 0; i < bytes.size(); i += 2) {
            if (random() % oneOf == 0)
                bytes[i] ^= std::byte { 1 };
        }
    }
    return model;
}

inline std::uint64_t differences(const Model& a, const Model& b)
{
    std::uint64_t count = 0;
    for (const auto& [name, bytes] : a) {
        const Bytes& other = b.at(name);
        for (std::size_t i = 0; i < bytes.size(); i += 2)
            count += bytes[i] != other[i] || bytes[i + 1] != other[i + 1] ? 1 : 0;
    }
    return count;
}

/// What comes down: 2 bytes and an element for each change, a place for each of the 7 blocks of 16384 elements, how
/// many changed, and the sums of a copy that the device keeps.
inline std::uint64_t bytesDownFor(std::uint64_t changed, std::int32_t keep)
{
    return changed * 4 + 7 * 16 + 8 + (keep == DS_KEEP_ON_DEVICE ? 7 * 4 : 0);
}
constexpr std::uint64_t BytesOfModel = 122640;

inline std::string fileOf(const Model& model)
{
    std::vector<FileTensor> tensors;
    for (const Shape& shape : shapes()) {
        TensorShape sides;
        for (const std::uint64_t side : shape.sides)
            sides.push_back(side);
        tensors.push_back({ tensor(shape.name, sides), std::string(asText(model.at(shape.name))) });
    }
    return safetensorsFile(tensors);
}

/// A trainer that holds a model in the memory of a device.
class Trainer {
public:
    Trainer()
        : m_module(*test::deviceModule())
    {
        DeviceFault fault {};
        EXPECT_EQ(m_module->open(0, &m_device, &fault), 0) << fault.text;
        EXPECT_EQ(m_module->openQueue(m_device, &m_queue, &fault), 0) << fault.text;
        for (const Shape& shape : shapes()) {
            std::uint64_t& address = m_addresses[shape.name];
            EXPECT_EQ(m_module->allocate(m_queue, std::max<std::size_t>(shape.bytes, 1), &address, &fault), 0);
        }
    }
    ~Trainer()
    {
        m_module->closeQueue(m_queue);
        m_module->close(m_device);
    }
    Trainer(const Trainer&) = delete;
    Trainer& operator=(const Trainer&) = delete;

    void hold(const Model& model)
    {
        DeviceFault fault {};
        for (const auto& [name, bytes] : model)
            EXPECT_EQ(m_module->upload(m_queue, m_addresses[name], bytes.data(), bytes.size(), &fault), 0);
        EXPECT_EQ(m_module->wait(m_queue, &fault), 0) << fault.text;
    }
    std::vector<DsDeviceTensor> tensors() const
    {
        std::vector<DsDeviceTensor> all;
        for (const Shape& shape : shapes())
            all.push_back({ shape.name.c_str(), shape.dtype.c_str(), shape.sides.data(),
                            static_cast<std::uint32_t>(shape.sides.size()), m_addresses.at(shape.name) });
        return all;
    }
    std::uint64_t addressOf(const std::string& name) const { return m_addresses.at(name); }

private:
    const DeviceModule* m_module;
    DeviceHandle* m_device = nullptr;
    DeviceQueueHandle* m_queue = nullptr;
    std::map<std::string, std::uint64_t> m_addresses;
};

inline DsDeviceOptions optionsFor(const std::string& into, const char* layout = "trl-v2")
{
    DsDeviceOptions options {};
    options.size = sizeof options;
    options.into = into.c_str();
    options.layout = layout;
    options.threads = 2;
    options.anchor_every = 100;
    return options;
}

/// A publisher over the module of the tests.
class Open {
public:
    explicit Open(const DsDeviceOptions& options)
    {
        auto opened = openDevicePublisher(**test::deviceModule(), options);
        if (opened)
            m_publisher = *opened;
        else
            error = opened.error();
    }
    ~Open() { ds_device_close(m_publisher); }
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;

    /// "" where the step was put; else the code and text of what went wrong.
    std::string publish(const std::vector<DsDeviceTensor>& tensors, const std::string& origin, void* stream = nullptr)
    {
        const std::string refusal = take(tensors, origin, stream);
        return refusal.empty() ? wait() : refusal;
    }
    std::string take(const std::vector<DsDeviceTensor>& tensors, const std::string& origin, void* stream = nullptr)
    {
        const int status =
            ds_device_publish(m_publisher, tensors.data(), tensors.size(), stream, origin.c_str(), &failure);
        return outcomeOf(status);
    }
    std::string wait()
    {
        step.size = sizeof step;
        return outcomeOf(ds_device_wait(m_publisher, &step, &failure));
    }
    DsDevicePublisher* get() const { return m_publisher; }

    DsDeviceStep step {};
    DsError failure {}; ///< of the last call
    std::optional<Error> error;

private:
    std::string outcomeOf(int status) const
    {
        EXPECT_EQ(status == 0, std::string(failure.code).empty());
        return status == 0 ? std::string() : fmt::format("{}: {}", failure.code, failure.text);
    }

    DsDevicePublisher* m_publisher = nullptr;
};

/// What the run in a folder holds at a step, by replay.
inline Model stateOf(const std::string& folder, std::int64_t step, const std::string& base = {})
{
    Session session;
    Model model;
    const auto run = session.open(localStore(folder), base.empty() ? nullptr : localStore(base));
    EXPECT_TRUE(run) << run.error().text;
    const Version* const version = run ? run->find(step) : nullptr;
    if (!version)
        return model;
    const auto plan = planFor(*run, *version);
    EXPECT_TRUE(plan) << plan.error().text;
    const auto path = plan ? openPath(*run, *plan, { 1 }, session.task) : fail(plan.error());
    EXPECT_TRUE(path) << path.error().text;
    if (!path)
        return model;
    const auto means = session.bench.means();
    const auto walk = (*path)->walk(allTensors(**path), { *means });
    EXPECT_TRUE(walk);
    const auto read = walkTensors(**walk, 1, session.task, [&](std::size_t slice, SliceReader& reader) {
        Bytes& bytes = model[(*walk)->tensor(slice).name];
        return forEachBlock(reader, session.task,
                            [&](ByteSpan block) { bytes.insert(bytes.end(), block.begin(), block.end()); });
    });
    EXPECT_TRUE(read) << read.error().text;
    return model;
}

class FromDevice : public testing::Test {
protected:
    void SetUp() override
    {
        test::plan({});
        m_before = test::counts();
    }
    void TearDown() override
    {
        test::plan({});
        const test::FakeDriverCounts now = test::counts();
        EXPECT_EQ(now.buffers, m_before.buffers) << "no publisher leaves anything";
        EXPECT_EQ(now.streams, m_before.streams);
        EXPECT_EQ(now.events, m_before.events);
        EXPECT_EQ(now.contexts, m_before.contexts);
        EXPECT_EQ(now.modules, m_before.modules);
    }

    /// The checkpoint that a run of slime-v2 starts from.
    std::string makeBase(const Model& model)
    {
        EXPECT_TRUE(putText(*localStore(folder.path()), "base/model.safetensors", fileOf(model)));
        return folder.path("base");
    }

    test::TempDir folder;
    Trainer trainer;

private:
    test::FakeDriverCounts m_before; ///< with what the trainer has
};

} // namespace deltascope::from_device_test
