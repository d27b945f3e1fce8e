#include "checked_reads_fixture.h"
#include "golden_copy.h"
#include "publish_fixture.h"
#include "support/any_task.h"

#include <sys/stat.h>

// Objects that change while they are read: no act mixes bytes of before and after a change.

namespace deltascope {
namespace {

using namespace checked_reads_test;

/// Turns a bit of a file without another inode.
void flipInPlace(const std::string& path, std::uint64_t at)
{
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(byte ^ 1));
}

class ChangesInTheMiddle : public testing::TestWithParam<bool> { };

/// Whenever an object changes during a rebuild, the result is that of before or after, or none.
TEST_P(ChangesInTheMiddle, NeverMixTwoVersions)
{
    const bool onRecord = GetParam();
    const std::string key = "deltas/step_000012.safetensors";
    int refused = 0;
    int rebuilt = 0;
    for (std::uint64_t nth = 1;; nth += 7) {
        const GoldenCopy golden("trl-v2-gap");
        Reader reader(golden.store);
        const std::string before = reader.digest(15).value();
        if (onRecord)
            reader.verify();
        std::uint64_t reads = 0;
        bool changed = false;
        reader.store->onRead = [&](auto&&...) {
            if (++reads != nth || changed)
                return;
            changed = true;
            flipInPlace(golden.file(key), placeOfValue(golden.read(key)));
        };
        const auto report = reader.rebuild(15);
        reader.store->onRead = {};
        if (!changed)
            break;
        if (!report) {
            ++refused;
            EXPECT_EQ(report.error().code, Code::Rewritten) << report.error().text;
            EXPECT_EQ(report.error().where, key);
            continue;
        }
        ++rebuilt;
        Reader behind(golden.store);
        const std::string after = behind.digest(15).value();
        EXPECT_TRUE(report->root == before || report->root == after) << "read " << nth;
        EXPECT_TRUE(!onRecord || report->root == before) << "what is on record is what was there before";
    }
    EXPECT_GT(refused, 3);
    EXPECT_TRUE(onRecord || rebuilt > 0);
}

INSTANTIATE_TEST_SUITE_P(Records, ChangesInTheMiddle, testing::Bool(),
                         [](const auto& info) { return info.param ? "known" : "unknown"; });

TEST(CheckedReads, AnotherModeOrLinkInTheMiddleIsNoChange)
{
    const GoldenCopy golden("trl-v2-gap");
    for (const bool onRecord : { false, true }) {
        Reader reader(golden.store);
        if (onRecord)
            reader.verify();
        std::uint64_t reads = 0;
        reader.store->onRead = [&](auto&&...) {
            if (++reads != 30)
                return;
            EXPECT_EQ(::chmod(golden.file("anchors/step_000010.safetensors").c_str(), onRecord ? 0444 : 0644), 0);
            fs::create_hard_link(golden.file("deltas/step_000012.safetensors"), golden.bucket() + ".link");
        };
        const auto report = reader.rebuild(15);
        reader.store->onRead = {};
        fs::remove(golden.bucket() + ".link");
        EXPECT_GT(reads, 30U);
        EXPECT_TRUE(report) << report.error().text;
    }
}

TEST(CheckedReads, AnObjectThatIsDeletedBehindItsLastReadIsNoLoss)
{
    const GoldenCopy golden("trl-v2-gap");
    for (const bool onRecord : { false, true }) {
        Reader reader(golden.store);
        if (onRecord)
            reader.verify();
        const EngineRun run = reader.open();
        const auto path = reader.pathOf(run, 12);
        ASSERT_TRUE(path);
        const std::string key = "deltas/step_000012.safetensors";
        const std::string bytes = golden.read(key);
        fs::remove(golden.file(key)); // its header is all that was read of it
        EXPECT_TRUE((*path)->expectSoundReads(reader.session.task));
        EXPECT_EQ((*path)->readNotices().size(), onRecord ? 1U : 0U) << "what was on record could not be compared";
        golden.write(key, bytes);
    }
}

TEST(CheckedReads, WhatAnInterruptedRebuildHasReadIsComparedByTheNext)
{
    const GoldenCopy golden("trl-v2-gap");
    Reader reader(golden.store);
    reader.verify();
    std::uint64_t all = 0;
    reader.store->onRead = [&](auto&&...) { ++all; };
    ASSERT_TRUE(reader.rebuild(15));
    const ObjectInfo victim = *golden.store->stat("deltas/step_000012.safetensors", test::anyTask());
    reader.faulty->flipBit(victim.key, victim.sizeBytes - 1, 3);
    std::uint64_t reads = 0;
    bool stopped = false;
    for (std::uint64_t last = all; !stopped && last > all / 2; last -= 5) {
        reads = 0;
        reader.store->onRead = [&](auto&&...) {
            if (++reads == last)
                reader.stop();
        };
        const auto report = reader.rebuild(15);
        ASSERT_FALSE(report);
        stopped = report.error().code == Code::Canceled;
    }
    ASSERT_TRUE(stopped);
    reader.store->onRead = {};
    const auto refused = reader.rebuild(15);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::Digest);
    EXPECT_EQ(refused.error().where, victim.key);
}

TEST(CheckedReads, ACheckpointThatIsWrittenAgainWithEqualBytesIsPublished)
{
    Publishing p;
    p.drop(1);
    const auto hooked = std::make_shared<ReadHookStore>(p.checkpoints);
    OpenOptions plain;
    plain.layout = "hf";
    const auto run = p.tryOpen(hooked, plain);
    ASSERT_TRUE(run);
    const Plan plan = planFor(*run, run->versions.front()).value();
    for (const bool equal : { false, true }) {
        auto publisher = p.open();
        ASSERT_TRUE(publisher);
        const auto to = openChecked(p.bench, *run, plan, false, p.task);
        ASSERT_TRUE(to);
        int reads = 0;
        hooked->onRead = [&](std::string_view key, std::uint64_t) {
            if (++reads == 2) { // of two tensors
                EXPECT_TRUE(putText(*p.checkpoints, key, Publishing::fileOf(equal ? 1 : 2)));
            }
        };
        const auto version = publisher->publish(nullptr, **to, "checkpoint-1", p.task);
        hooked->onRead = {};
        EXPECT_GE(reads, 2);
        EXPECT_EQ(version.has_value(), equal);
        EXPECT_TRUE(equal || version.error().code == Code::Rewritten);
        p.drop(1);
    }
}

} // namespace
} // namespace deltascope
