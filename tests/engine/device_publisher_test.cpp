#include "from_device/c_publisher.h"

#include "deltascope/engine/walk.h"
#include "publish_fixture.h"
#include "session.h"
#include "support/device.h"
#include "support/fake_driver.h"
#include "support/sanitizer.h"

#include <cstring>
#include <fmt/format.h>
#include <map>
#include <random>

// Steps that are published from the memory of a device, by the functions of deltascope/device.h: what a run holds then
// is what the tensors held.

namespace deltascope {
namespace {

using namespace layout_test;

using Bytes = std::vector<std::byte>;
using Model = std::map<std::string, Bytes>;

struct Shape {
    std::string name;
    std::string dtype;
    std::vector<std::uint64_t> sides;
    std::size_t bytes;
};

const std::vector<Shape>& shapes()
{
    static const std::vector<Shape> all { { "layers.0.weight", "BF16", { 300, 70 }, 42000 },
                                          { "layers.0.norm", "BF16", { 300 }, 600 },
                                          { "head", "BF16", { 40000 }, 80000 },
                                          { "bias", "BF16", { 20 }, 40 },
                                          { "empty", "BF16", { 0, 4 }, 0 } };
    return all;
}

/// BF16 numbers around 0.01.
Model firstModel(std::uint64_t seed)
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
Model trained(Model model, std::uint64_t seed, std::uint64_t oneOf = 100)
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

std::uint64_t differences(const Model& a, const Model& b)
{
    std::uint64_t count = 0;
    for (const auto& [name, bytes] : a) {
        const Bytes& other = b.at(name);
        for (std::size_t i = 0; i < bytes.size(); i += 2)
            count += bytes[i] != other[i] || bytes[i + 1] != other[i + 1] ? 1 : 0;
    }
    return count;
}

std::string fileOf(const Model& model)
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

DsDeviceOptions optionsFor(const std::string& into, const char* layout = "trl-v2")
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
        DsError failure {};
        if (ds_device_publish(m_publisher, tensors.data(), tensors.size(), stream, origin.c_str(), &failure) != 0)
            return fmt::format("{}: {}", failure.code, failure.text);
        step = {};
        step.size = sizeof step;
        if (ds_device_wait(m_publisher, &step, &failure) != 0)
            return fmt::format("{}: {}", failure.code, failure.text);
        return {};
    }
    DsDevicePublisher* get() const { return m_publisher; }

    DsDeviceStep step {};
    std::optional<Error> error;

private:
    DsDevicePublisher* m_publisher = nullptr;
};

/// What the run in a folder holds at a step, by replay.
Model stateOf(const std::string& folder, std::int64_t step, const std::string& base = {})
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

TEST_F(FromDevice, EveryStepOfARunIsWhatTheTensorsHeld)
{
    for (const char* const layout : { "trl-v2", "slime-v2" }) {
        for (const std::int32_t keep : { DS_KEEP_ON_DEVICE, DS_KEEP_ON_HOST }) {
            const std::string into = folder.path(fmt::format("{}-{}", layout, keep));
            const bool hasBase = std::string(layout) == "slime-v2";
            const std::string base = hasBase ? makeBase(firstModel(1)) : std::string();
            DsDeviceOptions options = optionsFor(into, layout);
            options.keep = keep;
            options.base = hasBase ? base.c_str() : nullptr;
            std::vector<Model> models { hasBase ? trained(firstModel(1), 9) : firstModel(1) };
            {
                Open publisher(options);
                ASSERT_FALSE(publisher.error) << publisher.error->text;
                for (std::uint64_t i = 0; i < 4; ++i) {
                    if (i > 0)
                        models.push_back(trained(models.back(), i));
                    trainer.hold(models.back());
                    ASSERT_EQ(publisher.publish(trainer.tensors(), fmt::format("step-{}", i)), "");
                    EXPECT_EQ(publisher.step.step, static_cast<std::int64_t>(i) + 1);
                    EXPECT_EQ(publisher.step.anchor, i == 0 && !hasBase ? 1 : 0);
                    EXPECT_EQ(publisher.step.put, 1);
                    EXPECT_EQ(publisher.step.total_elements, 61320U);
                    EXPECT_EQ(publisher.step.proven, keep == DS_KEEP_ON_DEVICE ? 1 : 0);
                    EXPECT_STREQ(publisher.step.notice, "");
                    if (i == 0)
                        continue;
                    const std::uint64_t changed = differences(models[i - 1], models[i]);
                    EXPECT_EQ(publisher.step.changed_elements, changed);
                    EXPECT_EQ(publisher.step.bytes_down, keep == DS_KEEP_ON_DEVICE ? changed * 4 : 122640U);
                }
            }
            for (std::size_t i = 0; i < models.size(); ++i)
                EXPECT_EQ(stateOf(into, static_cast<std::int64_t>(i) + 1, base), models[i]) << layout << ' ' << i;
        }
    }
}

TEST_F(FromDevice, AStepWithoutChangesIsNotPutAndTheNextOneIs)
{
    const std::string into = folder.path("run");
    Open publisher(optionsFor(into));
    const Model model = firstModel(1);
    trainer.hold(model);
    ASSERT_EQ(publisher.publish(trainer.tensors(), "a"), "");
    ASSERT_EQ(publisher.publish(trainer.tensors(), "b"), "");
    EXPECT_EQ(publisher.step.put, 0);
    EXPECT_EQ(publisher.step.proven, 1);
    EXPECT_EQ(publisher.step.changed_elements, 0U);
    const Model next = trained(model, 2);
    trainer.hold(next);
    ASSERT_EQ(publisher.publish(trainer.tensors(), "c"), "");
    EXPECT_EQ(publisher.step.step, 2);
    EXPECT_EQ(stateOf(into, 2), next);
}

TEST_F(FromDevice, MoreChangesThanThereIsRoomForComeDownInASecondCall)
{
    const std::string into = folder.path("run");
    Open publisher(optionsFor(into));
    trainer.hold(firstModel(1));
    ASSERT_EQ(publisher.publish(trainer.tensors(), "a"), "");
    const Model all = firstModel(2);
    trainer.hold(all);
    ASSERT_EQ(publisher.publish(trainer.tensors(), "b"), "");
    EXPECT_EQ(publisher.step.changed_elements, differences(firstModel(1), all));
    EXPECT_EQ(stateOf(into, 2), all);
}

TEST_F(FromDevice, AnotherPublisherGoesOnBehindTheRun)
{
    const std::string into = folder.path("run");
    const Model first = firstModel(1);
    const Model second = trained(first, 2);
    {
        Open publisher(optionsFor(into));
        trainer.hold(first);
        ASSERT_EQ(publisher.publish(trainer.tensors(), "a"), "");
        const Open other(optionsFor(into));
        ASSERT_TRUE(other.error);
        EXPECT_EQ(other.error->code, Code::Exists) << other.error->text;
    }
    Open publisher(optionsFor(into));
    ASSERT_FALSE(publisher.error) << publisher.error->text;
    trainer.hold(second);
    ASSERT_EQ(publisher.publish(trainer.tensors(), "b"), "");
    EXPECT_EQ(publisher.step.anchor, 0);
    EXPECT_EQ(publisher.step.changed_elements, differences(first, second));
    EXPECT_EQ(stateOf(into, 2), second);
}

TEST_F(FromDevice, SuspectValuesAreNotPutAndTheNextStepHoldsAllChanges)
{
    const std::string into = folder.path("run");
    const Model first = firstModel(1);
    Model bad = trained(first, 2);
    bad["head"][101] = std::byte { 0x7f };
    bad["head"][100] = std::byte { 0xc0 };
    Model mended = trained(bad, 3);
    mended["head"][101] = first.at("head")[101];
    mended["head"][100] = first.at("head")[100];
    Open publisher(optionsFor(into));
    trainer.hold(first);
    ASSERT_EQ(publisher.publish(trainer.tensors(), "a"), "");
    trainer.hold(bad);
    EXPECT_EQ(publisher.publish(trainer.tensors(), "b").substr(0, 18), "DS-SUSPECT-VALUES:");
    trainer.hold(mended);
    ASSERT_EQ(publisher.publish(trainer.tensors(), "c"), "");
    EXPECT_EQ(publisher.step.step, 2);
    EXPECT_EQ(publisher.step.changed_elements, differences(first, mended));
    EXPECT_EQ(stateOf(into, 2), mended);
    EXPECT_EQ(stateOf(into, 3), Model());
}

TEST_F(FromDevice, WhatIsNoModelOfThisDeviceIsRefused)
{
    const std::string into = folder.path("run");
    Open publisher(optionsFor(into));
    const Model first = firstModel(1);
    trainer.hold(first);
    ASSERT_EQ(publisher.publish(trainer.tensors(), "a"), "");
    const auto with = [&](auto change) {
        std::vector<DsDeviceTensor> tensors = trainer.tensors();
        change(tensors);
        return publisher.publish(tensors, "b");
    };
    static std::byte onHost[42000];
    EXPECT_EQ(with([](auto& tensors) { tensors[0].address = reinterpret_cast<std::uint64_t>(&onHost); }),
              "DS-USAGE: tensor \"layers.0.weight\": its address is not in the memory of a device");
    EXPECT_EQ(with([](auto& tensors) { tensors[0].dtype = "BF17"; }),
              "DS-USAGE: tensor layers.0.weight has the dtype BF17, which is none of safetensors");
    EXPECT_EQ(with([](auto& tensors) { ++tensors[2].address; }),
              "DS-USAGE: the address of tensor \"head\" is no multiple of an element");
    EXPECT_EQ(with([](auto& tensors) { tensors.pop_back(), tensors.pop_back(); }),
              "DS-BASE-MISMATCH: tensor \"bias\" is missing: a delta cannot say that");
    EXPECT_EQ(with([](auto& tensors) { tensors[1].dtype = "F16"; }),
              "DS-BASE-MISMATCH: tensor \"layers.0.norm\" was BF16 [300] and is F16 [300]: a delta cannot say that");
    EXPECT_EQ(with([](auto& tensors) { tensors.push_back(tensors.back()), tensors.back().name = "more"; }),
              "DS-BASE-MISMATCH: tensor \"more\" was not there before: a delta cannot say that");
    const Model next = trained(first, 2); // and nothing of all that is left
    trainer.hold(next);
    ASSERT_EQ(publisher.publish(trainer.tensors(), "c"), "");
    EXPECT_EQ(stateOf(into, 2), next);
}

TEST_F(FromDevice, OptionsAreRefusedThatMakeNoSense)
{
    const std::string into = folder.path("run");
    const auto refusal = [&](auto change) {
        DsDeviceOptions options = optionsFor(into);
        change(options);
        const Open publisher(options);
        return publisher.error ? std::string(word(publisher.error->code)) : std::string();
    };
    EXPECT_EQ(refusal([](auto& options) { options.layout = nullptr; }), "DS-USAGE");
    EXPECT_EQ(refusal([](auto& options) { options.layout = "hf"; }), "DS-USAGE");
    EXPECT_EQ(refusal([](auto& options) { options.keep = 7; }), "DS-USAGE");
    EXPECT_EQ(refusal([](auto& options) { options.device = 99; }), "DS-UNSUPPORTED");
    DsError error {};
    DsDevicePublisher* publisher = nullptr;
    DsDeviceOptions options = optionsFor(into);
    options.module = "/nowhere/module.so";
    EXPECT_NE(ds_device_open(&options, &publisher, &error), 0);
    EXPECT_STREQ(error.code, "DS-UNSUPPORTED");
    EXPECT_STREQ(error.where, "/nowhere/module.so");
    EXPECT_NE(ds_device_wait(nullptr, nullptr, &error), 0);
    ds_device_close(nullptr);
}

TEST_F(FromDevice, AStepIsTakenBehindTheWorkOfTheTrainer)
{
    if (test::isRealDevice())
        GTEST_SKIP() << "a device does its work at once";
    const cuda::Driver driver = *test::fakeDriver();
    cuda::Handle stream = nullptr;
    ASSERT_EQ(driver.streamCreateWithPriority(&stream, 0, 0), cuda::Success);
    const std::string into = folder.path("run");
    {
        Open publisher(optionsFor(into));
        const Model first = firstModel(1);
        trainer.hold(first);
        ASSERT_EQ(publisher.publish(trainer.tensors(), "a", stream), "");
        const Model next = trained(first, 2);
        for (const auto& [name, bytes] : next) { // submitted, and not done yet
            ASSERT_EQ(driver.memcpyHtoDAsync(trainer.addressOf(name), bytes.data(), bytes.size(), stream),
                      cuda::Success);
        }
        ASSERT_EQ(publisher.publish(trainer.tensors(), "b", stream), "");
        EXPECT_EQ(stateOf(into, 2), next);
    }
    EXPECT_EQ(driver.streamDestroy(stream), cuda::Success);
}

TEST_F(FromDevice, AnotherDeviceIsNotTouched)
{
    if (test::isRealDevice())
        GTEST_SKIP() << "this machine may have one";
    Open publisher(optionsFor(folder.path("run")));
    trainer.hold(firstModel(1));
    test::FakeDriverPlan plan;
    plan.memoryOn = 1;
    test::plan(plan);
    EXPECT_EQ(publisher.publish(trainer.tensors(), "a"),
              "DS-USAGE: tensor \"bias\": it lies on device 1, and device 0 was opened");
}

TEST_F(FromDevice, ADeviceWithoutRoomSendsTheModelDownWholeAndSaysSo)
{
    if (test::isRealDevice())
        GTEST_SKIP() << "a device does not fail when it is asked to";
    const Model first = firstModel(1);
    const Model next = trained(first, 2);
    bool isFound = false;
    for (std::uint64_t call = 1; !isFound; ++call) {
        const std::string into = folder.path(fmt::format("run-{}", call));
        Open publisher(optionsFor(into));
        trainer.hold(first);
        test::FakeDriverPlan plan;
        plan.failAtCall = call;
        plan.failWith = cuda::OutOfMemory;
        test::plan(plan);
        const std::string outcome = publisher.publish(trainer.tensors(), "a");
        const std::string failed = test::counts().failed;
        test::plan({});
        ASSERT_NE(failed, "") << "no call allocates the copy";
        if (failed != "cuMemAlloc" || !outcome.empty()) // without room for its own tables the queue does not open
            continue;
        isFound = true;
        EXPECT_NE(std::string(publisher.step.notice).find("DS-NOSPACE: the device has no room for a copy of the model"),
                  std::string::npos)
            << publisher.step.notice;
        trainer.hold(next);
        ASSERT_EQ(publisher.publish(trainer.tensors(), "b"), "");
        EXPECT_STREQ(publisher.step.notice, "") << "said once";
        EXPECT_EQ(publisher.step.bytes_down, 122640U);
        EXPECT_EQ(stateOf(into, 2), next);
    }
}

TEST_F(FromDevice, AFailureOfAnyCallLosesTheStepAtMost)
{
    if (test::isRealDevice())
        GTEST_SKIP() << "a device does not fail when it is asked to";
    std::uint64_t calls = 0;
    int unproven = 0;
    for (std::uint64_t failing = 0; failing == 0 || failing <= calls; ++failing) {
        const std::string into = folder.path(fmt::format("run-{}", failing));
        Open publisher(optionsFor(into));
        const Model first = firstModel(1);
        const Model second = trained(first, 2);
        const Model third = trained(second, 3);
        trainer.hold(first);
        ASSERT_EQ(publisher.publish(trainer.tensors(), "a"), "");
        trainer.hold(second);
        test::FakeDriverPlan plan;
        plan.failAtCall = failing;
        test::plan(plan);
        const std::string outcome = publisher.publish(trainer.tensors(), "b");
        const std::string failed = test::counts().failed;
        calls = failing == 0 ? test::counts().calls : calls;
        test::plan({});
        const std::string notice = publisher.step.notice;
        if (outcome.empty() && !failed.empty()) { // it was put as it came down, without the device's word for it
            EXPECT_NE(notice.find("the device did not hash its copy of the model"), std::string::npos) << failed;
            EXPECT_EQ(publisher.step.proven, 0);
            ++unproven;
        }
        EXPECT_EQ(notice.empty() && outcome.empty(), failed.empty()) << failing << ' ' << failed << ' ' << outcome;
        trainer.hold(third);
        ASSERT_EQ(publisher.publish(trainer.tensors(), "c"), "") << failing << ' ' << failed;
        EXPECT_EQ(publisher.step.changed_elements, differences(outcome.empty() ? second : first, third));
        EXPECT_EQ(stateOf(into, publisher.step.step), third) << failing << ' ' << failed;
    }
    EXPECT_GT(calls, 20U);
    EXPECT_GT(unproven, 3);
}

TEST_F(FromDevice, ALostDeviceEndsThePublisherAndTheRunHoldsWhatWasPut)
{
    if (test::isRealDevice())
        GTEST_SKIP() << "a device does not fail when it is asked to";
    const Model first = firstModel(1);
    const Model second = trained(first, 2);
    bool wasLost = true;
    for (std::uint64_t failing = 1; wasLost; failing += test::UnderSanitizer ? 9 : 2) {
        const std::string into = folder.path(fmt::format("run-{}", failing));
        Open publisher(optionsFor(into));
        trainer.hold(first);
        ASSERT_EQ(publisher.publish(trainer.tensors(), "a"), "");
        trainer.hold(second);
        test::FakeDriverPlan plan;
        plan.failAtCall = failing;
        plan.failWith = 700;
        test::plan(plan);
        const std::string outcome = publisher.publish(trainer.tensors(), "b");
        const std::string failed = test::counts().failed;
        wasLost = !failed.empty();
        EXPECT_EQ(outcome.empty() && publisher.step.proven != 0, !wasLost) << failed << ' ' << outcome;
        const std::int64_t put = outcome.empty() ? publisher.step.step : 1;
        if (wasLost) {
            EXPECT_NE(publisher.publish(trainer.tensors(), "c"), "") << failed;
        }
        test::plan({});
        EXPECT_EQ(stateOf(into, put), outcome.empty() ? second : first) << failed;
        EXPECT_EQ(stateOf(into, put + 1), Model()) << failed;
    }
}

/// As bad memory or a kernel of somebody else would do it.
TEST_F(FromDevice, ABitThatTurnsOnTheWayIsNeverPut)
{
    if (test::isRealDevice())
        GTEST_SKIP() << "a device does not turn bits when it is asked to";
    const Model first = firstModel(1);
    const Model second = trained(first, 2);
    const Model third = trained(second, 3);
    const auto expectRefused = [&](const std::string& outcome) {
        EXPECT_EQ(outcome.substr(0, 10), "DS-DIGEST:") << outcome;
        EXPECT_NE(outcome.find("what came from the device is not what it has"), std::string::npos) << outcome;
    };
    std::uint64_t downloads = 1; // of the first step: looks at the memory, the whole model, and the digests
    int refused = 0;
    for (std::uint64_t at = 1; at <= downloads; ++at) {
        const std::string into = folder.path(fmt::format("download-{}", at));
        Open publisher(optionsFor(into));
        trainer.hold(first);
        test::FakeDriverPlan plan;
        plan.flipAtDownload = at;
        test::plan(plan);
        const std::string outcome = publisher.publish(trainer.tensors(), "a");
        downloads = std::max(downloads, test::counts().downloads);
        test::plan({});
        if (outcome.empty()) { // nothing of the model was in it
            EXPECT_TRUE(stateOf(into, 1) == first) << at;
            continue;
        }
        expectRefused(outcome);
        ++refused;
        trainer.hold(second);
        ASSERT_EQ(publisher.publish(trainer.tensors(), "b"), "");
        EXPECT_EQ(publisher.step.step, 1);
        EXPECT_TRUE(stateOf(into, 1) == second) << at;
    }
    EXPECT_EQ(refused, 6); // four tensors, the short one again to be hashed, and the digests of the others
    std::uint64_t copies = 1; // of a later step: the copy that the device keeps
    for (std::uint64_t at = 1; at <= copies; ++at) {
        const std::string into = folder.path(fmt::format("copy-{}", at));
        Open publisher(optionsFor(into));
        trainer.hold(first);
        ASSERT_EQ(publisher.publish(trainer.tensors(), "a"), "");
        trainer.hold(second);
        test::FakeDriverPlan plan;
        plan.flipAtDeviceCopy = at;
        test::plan(plan);
        const std::string outcome = publisher.publish(trainer.tensors(), "b");
        expectRefused(outcome);
        EXPECT_NE(outcome.find("tensor \""), std::string::npos) << outcome;
        copies = test::counts().deviceCopies;
        test::plan({});
        trainer.hold(third);
        ASSERT_EQ(publisher.publish(trainer.tensors(), "c"), "");
        EXPECT_EQ(publisher.step.step, 2);
        EXPECT_EQ(publisher.step.changed_elements, differences(first, third));
        EXPECT_EQ(publisher.step.proven, 1);
        EXPECT_TRUE(stateOf(into, 2) == third) << at;
    }
    EXPECT_EQ(copies, 4U);
}

} // namespace
} // namespace deltascope
