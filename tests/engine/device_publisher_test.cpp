#include "device_publisher_fixture.h"

#include <cstring>

// Steps that are published from the memory of a device, by the functions of deltascope/device.h: what a run holds then
// is what the tensors held.

namespace deltascope::from_device_test {
namespace {

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
                    EXPECT_EQ(publisher.step.bytes_down, bytesDownFor(changed, keep));
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

TEST_F(FromDevice, MoreChangesThanThereIsRoomForComeDownInSeveralPasses)
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

TEST_F(FromDevice, ChangesComeDownAllTheSameWhereTheDeviceHasNoMoreRoom)
{
    if (test::isRealDevice())
        GTEST_SKIP() << "a device does not fail when it is asked to";
    const Model first = firstModel(1);
    const Model all = firstModel(2);
    for (const std::int32_t keep : { DS_KEEP_ON_DEVICE, DS_KEEP_ON_HOST }) {
        const std::string into = folder.path(fmt::format("run-{}", keep));
        DsDeviceOptions options = optionsFor(into);
        options.keep = keep;
        Open publisher(options);
        trainer.hold(first);
        ASSERT_EQ(publisher.publish(trainer.tensors(), "a"), "");
        trainer.hold(all);
        test::FakeDriverPlan plan;
        plan.isFull = true;
        test::plan(plan);
        ASSERT_EQ(publisher.publish(trainer.tensors(), "b"), "");
        test::plan({});
        EXPECT_EQ(publisher.step.changed_elements, differences(first, all));
        EXPECT_TRUE(stateOf(into, 2) == all);
        if (keep == DS_KEEP_ON_HOST) {
            EXPECT_EQ(publisher.step.bytes_down, BytesOfModel) << "the processor compares";
        }
    }
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
        EXPECT_EQ(publisher.step.bytes_down, bytesDownFor(differences(first, next), DS_KEEP_ON_HOST));
        EXPECT_EQ(stateOf(into, 2), next);
    }
}

TEST_F(FromDevice, ACopyThatIsNotPinnedIsComparedByTheProcessorAndTheStepSaysSo)
{
    if (test::isRealDevice())
        GTEST_SKIP() << "a device does not fail when it is asked to";
    const Model first = firstModel(1);
    const Model next = trained(first, 2);
    int refused = 0;
    std::uint64_t calls = 1;
    for (std::uint64_t call = 1; call <= calls; ++call) {
        const std::string into = folder.path(fmt::format("run-{}", call));
        DsDeviceOptions options = optionsFor(into);
        options.keep = DS_KEEP_ON_HOST;
        Open publisher(options);
        trainer.hold(first);
        test::FakeDriverPlan plan;
        plan.failAtCall = call;
        test::plan(plan);
        const std::string outcome = publisher.publish(trainer.tensors(), "a");
        const std::string failed = test::counts().failed;
        calls = failed.empty() ? call : call + 1;
        test::plan({});
        if (failed.empty() || !outcome.empty())
            continue;
        ++refused;
        EXPECT_NE(std::string(publisher.step.notice).find("all of the model comes down at each step (" + failed),
                  std::string::npos)
            << publisher.step.notice;
        trainer.hold(next);
        ASSERT_EQ(publisher.publish(trainer.tensors(), "b"), "");
        EXPECT_STREQ(publisher.step.notice, "") << "said once";
        EXPECT_EQ(publisher.step.bytes_down, BytesOfModel);
        EXPECT_EQ(stateOf(into, 2), next);
    }
    EXPECT_GE(refused, 4); // to pin it, to reach it, and room for what changed
}

} // namespace
} // namespace deltascope::from_device_test
