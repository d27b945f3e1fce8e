#include "device_publisher_fixture.h"

#include "support/sanitizer.h"

#include <set>

// Devices that fail while a step is published from them, and bits that turn on the way: what a run holds was held by
// the tensors, and a publisher leaves nothing on the device.

namespace deltascope::from_device_test {
namespace {

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

/// What the device compares over the bus was not brought up to date by it.
TEST_F(FromDevice, AFailureOfAnyCallLosesTheStepAtMostWhereTheHostKeepsTheCopy)
{
    if (test::isRealDevice())
        GTEST_SKIP() << "a device does not fail when it is asked to";
    const Model first = firstModel(1);
    const Model second = trained(first, 2);
    const Model third = trained(second, 3);
    std::uint64_t calls = 1;
    int lost = 0;
    for (std::uint64_t failing = 1; failing <= calls; ++failing) {
        const std::string into = folder.path(fmt::format("run-{}", failing));
        DsDeviceOptions options = optionsFor(into);
        options.keep = DS_KEEP_ON_HOST;
        Open publisher(options);
        trainer.hold(first);
        ASSERT_EQ(publisher.publish(trainer.tensors(), "a"), "");
        trainer.hold(second);
        test::FakeDriverPlan plan;
        plan.failAtCall = failing;
        plan.failWith = failing % 2 == 0 ? cuda::OutOfMemory : 1;
        test::plan(plan);
        const std::string outcome = publisher.publish(trainer.tensors(), "b");
        const std::string failed = test::counts().failed;
        calls = failed.empty() ? failing : failing + 1;
        test::plan({});
        lost += outcome.empty() ? 0 : 1;
        EXPECT_EQ(publisher.step.proven, 0);
        trainer.hold(third);
        ASSERT_EQ(publisher.publish(trainer.tensors(), "c"), "") << failing << ' ' << failed;
        EXPECT_EQ(publisher.step.changed_elements, differences(outcome.empty() ? second : first, third));
        EXPECT_TRUE(stateOf(into, publisher.step.step) == third) << failing << ' ' << failed;
    }
    EXPECT_GT(lost, 10);
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

/// What ends the context is said as such wherever it comes from, and every later call fails.
TEST_F(FromDevice, ADeviceThatIsLostWhileAnAddressIsLookedUpIsNoMistakeOfTheCaller)
{
    if (test::isRealDevice())
        GTEST_SKIP() << "a device does not fail when it is asked to";
    trainer.hold(firstModel(1));
    for (const cuda::Status status : { 226, 700, 721, 810, 911, 1 }) {
        SCOPED_TRACE(status);
        const bool isLost = status != cuda::InvalidValue; // which a driver says of an address that it does not know
        bool wasLookedUp = false;
        for (std::uint64_t call = 1; !wasLookedUp; ++call) {
            Open publisher(optionsFor(folder.path(fmt::format("run-{}-{}", status, call))));
            test::FakeDriverPlan plan;
            plan.failAtCall = call;
            plan.failWith = status;
            test::plan(plan);
            const std::string outcome = publisher.publish(trainer.tensors(), "a");
            const std::string failed = test::counts().failed;
            test::plan({}); // the driver works again, and is not asked
            ASSERT_NE(failed, "");
            wasLookedUp = failed == "cuPointerGetAttribute";
            if (!wasLookedUp)
                continue;
            EXPECT_EQ(outcome.find("DS-IO: tensor \"bias\": cuPointerGetAttribute fails") == 0, isLost) << outcome;
            EXPECT_EQ(outcome.find("DS-USAGE:") == 0, !isLost) << outcome;
            EXPECT_EQ(publisher.publish(trainer.tensors(), "b").empty(), !isLost);
        }
    }
}

/// With an error that ends the context: from the first call that opens the device to the last of the second step.
TEST_F(FromDevice, ADeviceThatIsLostAtAnyCallOfTheFirstStepsIsSaidAndLeavesTheRunWhole)
{
    if (test::isRealDevice())
        GTEST_SKIP() << "a device does not fail when it is asked to";
    const Model first = firstModel(1);
    const Model second = trained(first, 2);
    std::set<std::string> functions;
    std::uint64_t calls = 1;
    for (std::uint64_t failing = 1; failing <= calls; failing += test::UnderSanitizer ? 5 : 1) {
        const std::string into = folder.path(fmt::format("run-{}", failing));
        trainer.hold(first);
        test::FakeDriverPlan plan;
        plan.failAtCall = failing;
        plan.failWith = 999;
        test::plan(plan);
        std::string failed;
        std::vector<std::string> outcomes;
        std::string notices;
        {
            Open publisher(optionsFor(into));
            if (!publisher.error) {
                outcomes.push_back(publisher.publish(trainer.tensors(), "a"));
                notices += publisher.step.notice;
                const std::uint64_t done = test::counts().calls; // the trainer changes its model
                failed = test::counts().failed;
                test::plan({});
                trainer.hold(second);
                plan.failAtCall = failing > done ? failing - done : 0;
                if (failed.empty())
                    test::plan(plan);
                outcomes.push_back(publisher.publish(trainer.tensors(), "b"));
                notices += publisher.step.notice;
            }
            failed += test::counts().failed;
            EXPECT_EQ(publisher.error || outcomes[0] + outcomes[1] + notices != "", !failed.empty()) << failed;
        }
        test::plan({});
        SCOPED_TRACE(testing::Message() << "call " << failing << " " << failed);
        functions.insert(failed);
        calls = failed.empty() ? failing : failing + (test::UnderSanitizer ? 5 : 1);
        if (!outcomes.empty() && outcomes[0].empty()) {
            EXPECT_TRUE(stateOf(into, 1) == first);
            EXPECT_TRUE(stateOf(into, 2) == (outcomes[1].empty() ? second : Model()));
        }
    }
    EXPECT_TRUE(functions.size() > 15 || test::UnderSanitizer) << functions.size();
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
    std::uint64_t copies = 1; // of the first step: what the device keeps
    for (std::uint64_t at = 1; at <= copies; ++at) {
        const std::string into = folder.path(fmt::format("copy-{}", at));
        Open publisher(optionsFor(into));
        trainer.hold(first);
        test::FakeDriverPlan plan;
        plan.flipAtDeviceCopy = at;
        test::plan(plan);
        const std::string outcome = publisher.publish(trainer.tensors(), "a");
        expectRefused(outcome);
        EXPECT_NE(outcome.find("tensor \""), std::string::npos) << outcome;
        copies = test::counts().deviceCopies;
        test::plan({});
        trainer.hold(second);
        ASSERT_EQ(publisher.publish(trainer.tensors(), "b"), "");
        EXPECT_EQ(publisher.step.step, 1);
        EXPECT_EQ(publisher.step.proven, 1);
        EXPECT_TRUE(stateOf(into, 1) == second) << at;
    }
    EXPECT_EQ(copies, 4U);
    refused = 0;
    downloads = 0; // of a later step: what changed, and where
    for (std::uint64_t at = 0; at <= downloads; ++at) {
        const std::string into = folder.path(fmt::format("later-{}", at));
        Open publisher(optionsFor(into));
        trainer.hold(first);
        ASSERT_EQ(publisher.publish(trainer.tensors(), "a"), "");
        trainer.hold(second);
        test::FakeDriverPlan plan;
        plan.flipAtDownload = at;
        test::plan(plan);
        const std::string outcome = publisher.publish(trainer.tensors(), "b");
        downloads = at == 0 ? test::counts().downloads : downloads;
        test::plan({});
        EXPECT_TRUE(outcome.empty() || at > 0) << outcome;
        if (outcome.empty()) {
            EXPECT_TRUE(stateOf(into, 2) == second) << at;
            continue;
        }
        expectRefused(outcome);
        ++refused;
        trainer.hold(third);
        ASSERT_EQ(publisher.publish(trainer.tensors(), "c"), "");
        EXPECT_EQ(publisher.step.step, 2);
        EXPECT_EQ(publisher.step.changed_elements, differences(first, third));
        EXPECT_TRUE(stateOf(into, 2) == third) << at;
    }
    // How many changed, the blocks, positions, values, sums, the short tensor to be hashed, and the digests of the
    // others.
    EXPECT_EQ(refused, 7);
}

/// As a defect of a kernel or of the device would do it.
TEST_F(FromDevice, AKernelThatDoesNothingIsNoticed)
{
    if (test::isRealDevice())
        GTEST_SKIP() << "a device does what it is asked to";
    const Model first = firstModel(1);
    const Model second = trained(first, 2);
    const Model third = trained(second, 3);
    std::uint64_t launches = 0;
    for (std::uint64_t at = 0; at <= launches; ++at) {
        const std::string into = folder.path(fmt::format("run-{}", at));
        Open publisher(optionsFor(into));
        trainer.hold(first);
        ASSERT_EQ(publisher.publish(trainer.tensors(), "a"), "");
        trainer.hold(second);
        ASSERT_EQ(publisher.publish(trainer.tensors(), "b"), "");
        trainer.hold(third);
        test::FakeDriverPlan plan;
        plan.skipLaunch = at;
        test::plan(plan);
        const std::string outcome = publisher.publish(trainer.tensors(), "c");
        launches = at == 0 ? test::counts().launches : launches;
        test::plan({});
        if (at == 0) {
            EXPECT_EQ(outcome, "");
            continue;
        }
        EXPECT_EQ(outcome.substr(0, 10), "DS-DIGEST:") << at << ' ' << outcome;
        ASSERT_EQ(publisher.publish(trainer.tensors(), "d"), "");
        EXPECT_EQ(publisher.step.changed_elements, differences(second, third));
        EXPECT_TRUE(stateOf(into, 3) == third) << at;
    }
    EXPECT_EQ(launches, 3U); // what changed, sums of the copy, and its hashes
}

} // namespace
} // namespace deltascope::from_device_test
