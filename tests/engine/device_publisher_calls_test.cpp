#include "device_publisher_fixture.h"

#include "from_device/c_remedies.h"

#include <cstdlib>

// What the functions of deltascope/device.h promise of their order, of what they put out, and of their errors.

namespace deltascope::from_device_test {
namespace {

class FromDeviceInC : public FromDevice {
protected:
    /// With a NaN, which is not put.
    static Model suspect(Model model)
    {
        model["head"][100] = std::byte { 0xc0 };
        model["head"][101] = std::byte { 0x7f };
        return model;
    }
};

TEST_F(FromDeviceInC, AStepThatIsRefusedIsNotTheOneThatWasTakenLast)
{
    const std::string into = folder.path("run");
    Open publisher(optionsFor(into));
    EXPECT_EQ(publisher.wait(), "DS-USAGE: no step was taken");
    const Model first = firstModel(1);
    const Model second = trained(first, 2);
    trainer.hold(first);
    ASSERT_EQ(publisher.publish(trainer.tensors(), "a"), "");
    trainer.hold(second);
    ASSERT_EQ(publisher.take(trainer.tensors(), "b"), "");
    std::vector<DsDeviceTensor> others = trainer.tensors();
    others.pop_back();
    EXPECT_EQ(publisher.take(others, "c").substr(0, 17), "DS-BASE-MISMATCH:");
    EXPECT_EQ(publisher.wait(), "");
    EXPECT_EQ(publisher.step.step, 2);
    EXPECT_EQ(publisher.step.changed_elements, differences(first, second));
    EXPECT_EQ(publisher.wait(), "") << "as often as somebody asks";
    EXPECT_EQ(publisher.step.step, 2);
    EXPECT_TRUE(stateOf(into, 2) == second);
}

TEST_F(FromDeviceInC, AStepThatFailsAndIsNotWaitedForIsAnErrorOfTheNextOne)
{
    const std::string into = folder.path("run");
    Open publisher(optionsFor(into));
    const Model first = firstModel(1);
    const Model third = trained(first, 3);
    trainer.hold(first);
    ASSERT_EQ(publisher.take(trainer.tensors(), "a"), "");
    trainer.hold(suspect(first));
    ASSERT_EQ(publisher.take(trainer.tensors(), "b"), "") << "the step before was put, whoever waits";
    trainer.hold(third);
    const std::string refusal = publisher.take(trainer.tensors(), "c");
    EXPECT_EQ(refusal.rfind("DS-SUSPECT-VALUES: the step before, \"b\", was not put: ", 0), 0U) << refusal;
    EXPECT_EQ(publisher.wait().substr(0, 18), "DS-SUSPECT-VALUES:") << "b is the one that was taken last";
    ASSERT_EQ(publisher.publish(trainer.tensors(), "c"), "") << "said once";
    EXPECT_EQ(publisher.step.step, 2);
    EXPECT_EQ(publisher.step.changed_elements, differences(first, third));
    EXPECT_TRUE(stateOf(into, 2) == third);
}

/// Whichever call fails while a step is taken that is not put: where later steps are worse for it, the next one that is
/// put says so, and none behind it.
TEST_F(FromDeviceInC, ANoticeOfAStepThatIsNotPutIsSaidByTheNextOne)
{
    if (test::isRealDevice())
        GTEST_SKIP() << "a device does not fail when it is asked to";
    const Model first = firstModel(1);
    const Model second = trained(first, 2);
    const Model third = trained(second, 3);
    struct Case {
        const char* notice;
        std::int32_t keep;
        bool isFirst; ///< the step that is not put is the first one
        bool isReopened; ///< a step before it failed on the device
        cuda::Status status;
    };
    for (const Case& with : { Case { "the device did not hash its copy", DS_KEEP_ON_DEVICE, false, false, 1 },
                              Case { "the device has no room for a copy", DS_KEEP_ON_DEVICE, true, false, 2 },
                              Case { "all of the model comes down", DS_KEEP_ON_HOST, false, true, 1 } }) {
        int said = 0;
        bool isPast = false;
        for (std::uint64_t failing = 1; !isPast; ++failing) {
            SCOPED_TRACE(testing::Message() << with.notice << ", call " << failing);
            const std::string into = folder.path(fmt::format("run-{}-{}", with.notice, failing));
            DsDeviceOptions options = optionsFor(into);
            options.keep = with.keep;
            Open publisher(options);
            test::FakeDriverPlan plan;
            if (!with.isFirst) {
                trainer.hold(first);
                ASSERT_EQ(publisher.publish(trainer.tensors(), "a"), "");
            }
            if (with.isReopened) {
                plan.failAtCall = 30; // behind the looks at the addresses
                test::plan(plan);
                EXPECT_NE(publisher.publish(trainer.tensors(), "lost"), "");
            }
            test::plan({});
            trainer.hold(suspect(first));
            plan.failAtCall = failing;
            plan.failWith = with.status;
            test::plan(plan);
            EXPECT_NE(publisher.publish(trainer.tensors(), "b"), "");
            isPast = test::counts().failed.empty();
            test::plan({});
            trainer.hold(second);
            ASSERT_EQ(publisher.publish(trainer.tensors(), "c"), "");
            const std::string notice = publisher.step.notice;
            const bool isProven = publisher.step.proven != 0;
            trainer.hold(third);
            ASSERT_EQ(publisher.publish(trainer.tensors(), "d"), "");
            EXPECT_STREQ(publisher.step.notice, "");
            EXPECT_EQ(publisher.step.proven != 0, isProven);
            const bool isWorse = with.keep == DS_KEEP_ON_DEVICE ? !isProven : publisher.step.bytes_down == BytesOfModel;
            EXPECT_EQ(notice.empty(), !isWorse) << notice;
            said += notice.find(with.notice) != std::string::npos ? 1 : 0;
            EXPECT_TRUE(stateOf(into, with.isFirst ? 2 : 3) == third);
        }
        EXPECT_GT(said, 0) << with.notice;
    }
}

TEST_F(FromDeviceInC, WhatIsPutOutIsEmptyWhereAFunctionFails)
{
    DsError error {};
    auto* publisher = reinterpret_cast<DsDevicePublisher*>(&error);
    DsDeviceOptions options {};
    EXPECT_NE(ds_device_open(&options, &publisher, &error), 0) << "of no size";
    EXPECT_EQ(publisher, nullptr);
    publisher = reinterpret_cast<DsDevicePublisher*>(&error);
    EXPECT_NE(ds_device_open(nullptr, &publisher, &error), 0);
    EXPECT_EQ(publisher, nullptr);

    Open opened(optionsFor(folder.path("run")));
    DsDeviceStep step {};
    step.size = offsetof(DsDeviceStep, notice);
    step.step = 7;
    step.notice[0] = 'x';
    EXPECT_NE(ds_device_wait(opened.get(), &step, &error), 0);
    EXPECT_EQ(step.step, 0);
    EXPECT_EQ(step.size, offsetof(DsDeviceStep, notice));
    EXPECT_EQ(step.notice[0], 'x') << "the caller has no room for it";
    EXPECT_NE(std::string(error.code), "");
    trainer.hold(firstModel(1));
    const auto tensors = trainer.tensors();
    EXPECT_EQ(ds_device_publish(opened.get(), tensors.data(), tensors.size(), nullptr, "a", &error), 0);
    EXPECT_STREQ(error.code, "") << "of the call before";
    EXPECT_EQ(opened.wait(), "");
}

TEST_F(FromDeviceInC, AShapeThatOverflowsIsAMistakeOfTheCaller)
{
    Open publisher(optionsFor(folder.path("run")));
    std::vector<DsDeviceTensor> tensors = trainer.tensors();
    const std::uint64_t sides[] = { std::uint64_t { 1 } << 63, 4 };
    tensors[0].shape = &sides[0];
    tensors[0].rank = 2;
    EXPECT_EQ(publisher.take(tensors, "a").substr(0, 9), "DS-USAGE:");
    EXPECT_EQ(std::string(publisher.failure.action).find("--"), std::string::npos) << publisher.failure.action;
    EXPECT_NE(std::string(publisher.failure.action).find("deltascope/device.h"), std::string::npos);
}

TEST_F(FromDeviceInC, ALayoutWithoutAnchorsNeedsABaseFromTheBeginning)
{
    const std::string into = folder.path("run");
    const Open without(optionsFor(into, "slime-v2"));
    ASSERT_TRUE(without.error);
    EXPECT_EQ(without.error->code, Code::BaseMissing);
    EXPECT_FALSE(std::filesystem::exists(into)) << "nothing was begun";
    DsDeviceOptions options = optionsFor(into, "slime-v2");
    const std::string base = makeBase(firstModel(1));
    options.base = base.c_str();
    const Open with(options);
    EXPECT_FALSE(with.error) << with.error->text;
}

TEST_F(FromDeviceInC, RemediesNameFieldsAndNoOptions)
{
    Open publisher(optionsFor(folder.path("run")));
    trainer.hold(suspect(firstModel(1)));
    EXPECT_NE(publisher.publish(trainer.tensors(), "a"), "");
    EXPECT_STREQ(publisher.failure.action,
                 "publish a sound state; options.allow_suspect publishes this one all the same");

    const auto remedyOf = [](Code code, const char* action = "") {
        return remedyForC(Error { code, "text", {}, {}, action });
    };
    EXPECT_EQ(remedyOf(Code::BaseMissing), "Give the checkpoint that the run started from with options.base.");
    EXPECT_EQ(remedyOf(Code::Io, "mend the run, or begin a new epoch behind it with --new-epoch"),
              "mend the run, or begin a new epoch behind it with options.new_epoch");
    EXPECT_EQ(remedyOf(Code::Usage,
                       "say --sole-writer if nobody else writes there, or publish to a local folder or an S3 bucket"),
              "publish to a local folder or an S3 bucket");
    EXPECT_EQ(remedyOf(Code::Usage, "Publish with --encoding xor."), "Publish with options.encoding xor.");
    EXPECT_EQ(remedyOf(Code::Rewritten), remedy(Code::Rewritten)) << "names a whole command";
    EXPECT_EQ(remedyOf(Code::Usage).find("command line"), std::string::npos);
}

TEST_F(FromDeviceInC, AnEmptyNameOfAModuleIsNone)
{
    if (test::isRealDevice())
        GTEST_SKIP() << "the variable names its module";
    const auto placeOf = [&](const char* module) {
        const std::string into = folder.path("run");
        DsDeviceOptions options = optionsFor(into);
        options.module = module;
        DsDevicePublisher* publisher = nullptr;
        DsError error {};
        EXPECT_NE(ds_device_open(&options, &publisher, &error), 0);
        return std::string(error.where);
    };
    const std::string beside = placeOf(nullptr);
    EXPECT_NE(beside.find("deltascope/libdeltascope_cuda.so"), std::string::npos) << beside;
    EXPECT_EQ(placeOf(""), beside);
    setenv("DELTASCOPE_CUDA_MODULE", "", 1);
    EXPECT_EQ(placeOf(nullptr), beside);
    setenv("DELTASCOPE_CUDA_MODULE", "/nowhere/module.so", 1);
    EXPECT_EQ(placeOf(nullptr), "/nowhere/module.so");
    unsetenv("DELTASCOPE_CUDA_MODULE");
}

} // namespace
} // namespace deltascope::from_device_test
