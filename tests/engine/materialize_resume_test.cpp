#include "materialize_workshop.h"
#include "support/faulty_store.h"

// Rebuilds that stop and go on.

namespace deltascope {
namespace {

using namespace materialize_test;
using test::FaultyStore;
using test::StoreOperation;

TEST(MaterializeResume, AStoppedRebuildIsKeptAndGoneOnWith)
{
    Workshop workshop("slime-v2-xor");
    std::uint64_t mostResumed = 0;
    for (std::uint64_t stopAt = 1;; stopAt += 17) {
        SCOPED_TRACE(stopAt);
        const auto stopped = workshop.rebuildUntil(9, stopAt);
        if (stopped)
            break;
        EXPECT_EQ(stopped.error().code, Code::Canceled);
        EXPECT_FALSE(workshop.exists());
        EXPECT_EQ(workshop.leftovers().size(), 1U);
        const auto report = workshop.rebuild(9);
        ASSERT_TRUE(report) << report.error().text;
        mostResumed = std::max(mostResumed, report->resumedBytes);
        workshop.expectStep(9);
        EXPECT_TRUE(workshop.leftovers().empty());
        EXPECT_EQ(report->root, toHex(workshop.written()->root.fast));
        workshop.reset();
    }
    EXPECT_GT(mostResumed, 75'552U); // at least half of the model was not written again
}

TEST(MaterializeResume, WhatMayPassKeepsWhatIsBuilt)
{
    for (const Code code : { Code::Transient, Code::Auth, Code::ListSuspect, Code::Digest, Code::Hostile, Code::Io }) {
        SCOPED_TRACE(word(code));
        const auto faulty = std::make_shared<FaultyStore>(localStore(goldenPath("slime-v2-xor/bucket")));
        Workshop workshop(faulty, localStore(goldenPath("slime-v2-xor/base")));
        workshop.expected = expectedOf("slime-v2-xor");
        const std::uint64_t before = faulty->calls(StoreOperation::Read);
        ASSERT_TRUE(workshop.rebuild(9));
        const std::uint64_t reads = faulty->calls(StoreOperation::Read) - before;
        workshop.reset();
        faulty->failNth(StoreOperation::Read, reads - 2, { code, "it fails", {}, {}, {} }, test::Repeat::Forever);
        const Error error = errorOf(workshop.rebuild(9));
        EXPECT_EQ(error.code, code) << error.text;
        EXPECT_FALSE(workshop.exists());
        const bool passes = code == Code::Transient || code == Code::Auth || code == Code::ListSuspect;
        EXPECT_EQ(workshop.leftovers().size(), passes ? 1U : 0U);
        EXPECT_EQ(error.text.find("is kept") != std::string::npos, passes) << error.text;
        faulty->clearFaults();
        const auto report = workshop.rebuild(9);
        ASSERT_TRUE(report) << report.error().text;
        EXPECT_EQ(report->resumedBytes > 0, passes);
        workshop.expectStep(9);
        EXPECT_TRUE(workshop.leftovers().empty());
    }
}

TEST(MaterializeResume, WhatFailsBeforeATensorIsFinishedLeavesNothing)
{
    const auto faulty = std::make_shared<FaultyStore>(localStore(goldenPath("slime-v2-xor/bucket")));
    Workshop workshop(faulty, localStore(goldenPath("slime-v2-xor/base")));
    faulty->failNth(StoreOperation::Read, 1, { Code::Transient, "it fails", {}, {}, {} }, test::Repeat::Forever);
    EXPECT_EQ(errorOf(workshop.rebuild(9)).code, Code::Transient);
    EXPECT_TRUE(workshop.leftovers().empty());
}

TEST(MaterializeResume, WhatCameWrongAndComesRightNowIsBuiltFromTheBeginning)
{
    for (const bool passes : { true, false }) {
        SCOPED_TRACE(passes);
        Workshop workshop("slime-v2-xor");
        const auto faulty = std::make_shared<FaultyStore>(localStore(goldenPath("slime-v2-xor/bucket")));
        workshop.store = std::make_shared<ReadHookStore>(faulty);
        workshop.reopen();
        TaskContext task;
        std::uint64_t reads = 0;
        workshop.store->onRead = [&](auto&&...) {
            if (++reads != 60 && reads != 200)
                return;
            faulty->failNth(StoreOperation::Read, 1, { Code::Digest, "it came wrong", "key", {}, {} });
            if (passes)
                task.addNotice({ Code::Refetched, "it came wrong and comes right now", "key", {}, {} });
        };
        const auto report = workshop.rebuild(9, task);
        ASSERT_EQ(bool(report), passes);
        EXPECT_TRUE(workshop.leftovers().empty());
        if (!passes)
            continue;
        EXPECT_EQ(report->resumedBytes, 0U);
        EXPECT_EQ(report->notices, task.notices());
        workshop.expectStep(9);
    }
}

/// Stops when almost everything is done.
void stopLate(Workshop& workshop, std::int64_t step)
{
    std::uint64_t reads = 0;
    workshop.store->onRead = [&](auto&&...) { ++reads; };
    EXPECT_TRUE(workshop.rebuild(step));
    workshop.reset();
    EXPECT_EQ(errorOf(workshop.rebuildUntil(step, reads - 2)).code, Code::Canceled);
}

/// Stops late, calls `tamper` with the private folder, and goes on.
MaterializeReport resumedAfter(Workshop& workshop, const std::function<void(const std::string&)>& tamper)
{
    stopLate(workshop, 9);
    EXPECT_EQ(workshop.leftovers().size(), 1U);
    tamper(workshop.folder() + "/" + *workshop.leftovers().begin());
    const auto report = workshop.rebuild(9);
    EXPECT_TRUE(report) << report.error().text;
    return report ? *report : MaterializeReport();
}

TEST(MaterializeResume, FinishedTensorsAreNotReadAgain)
{
    Workshop workshop("slime-v2-xor");
    std::uint64_t whole = 0;
    workshop.store->onRead = [&](auto&&...) { ++whole; };
    ASSERT_TRUE(workshop.rebuild(9));
    workshop.reset();
    ASSERT_EQ(errorOf(workshop.rebuildUntil(9, whole - 2)).code, Code::Canceled);
    std::uint64_t rest = 0;
    workshop.store->onRead = [&](auto&&...) { ++rest; };
    ASSERT_TRUE(workshop.rebuild(9));
    EXPECT_LT(rest, whole);
    workshop.expectStep(9);
}

TEST(MaterializeResume, TensorsThatWereTamperedWithAreWrittenAgain)
{
    Workshop workshop("slime-v2-xor");
    const MaterializeReport sound = resumedAfter(workshop, [](const std::string&) {});
    workshop.reset();
    const MaterializeReport tampered = resumedAfter(workshop, [](const std::string& folder) {
        for (const auto& entry : fs::directory_iterator(folder)) {
            if (entry.path().extension() != ".safetensors")
                continue;
            std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
            file.seekp(static_cast<std::streamoff>(entry.file_size() / 2));
            file.put('\x5a');
        }
    });
    EXPECT_GT(sound.resumedBytes, 0U);
    EXPECT_LT(tampered.resumedBytes, sound.resumedBytes);
    EXPECT_EQ(tampered.root, sound.root);
    workshop.expectStep(9);
}

TEST(MaterializeResume, ARecordThatNobodyWroteIsNotBelieved)
{
    for (const char* text :
         { "", "{\"tensor\":1}\n", "{\"tensor\":\"lm_head.weight\",\"leaves\":\"zz\",\"digests\":0,\"noops\":false}\n",
           "{\"tensor\":\"lm_head.weight\",\"leaves\":\"00000000000000000000000000000000\",\"digests\":0,\"noops\":"
           "false}\n",
           "{\"tensor\":\"lm_head.weight\",\"leaves\":\"\",\"digests\":-1,\"noops\":7}\n[]\n5\nnull\n{\"end\":\"x\"}\n",
           "torn line without end", "\0\0\0\0\0\0\0\0" }) {
        Workshop workshop("slime-v2-xor");
        resumedAfter(workshop,
                     [&](const std::string& folder) { std::ofstream(folder + "/deltascope-progress.jsonl") << text; });
        workshop.expectStep(9);
    }
}

TEST(MaterializeResume, FilesThatAreMissingOrShortAreWrittenAgain)
{
    for (const bool remove : { true, false }) {
        Workshop workshop("slime-v2-xor");
        resumedAfter(workshop, [&](const std::string& folder) {
            const fs::path file = folder + "/model-00001-of-00002.safetensors";
            remove ? static_cast<void>(fs::remove(file)) : fs::resize_file(file, 100);
        });
        workshop.expectStep(9);
    }
}

TEST(MaterializeResume, ALeftoverOfAnotherStepIsNotTaken)
{
    Workshop workshop("slime-v2-xor");
    stopLate(workshop, 9);
    const auto report = workshop.rebuild(4);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->resumedBytes, 0U);
    workshop.expectStep(4);
    EXPECT_EQ(workshop.leftovers().size(), 1U); // is never removed blindly
}

TEST(MaterializeResume, ALeftoverWithAnotherShardSizeIsNotTaken)
{
    Workshop workshop("slime-v2-xor");
    stopLate(workshop, 9);
    workshop.options.shardBytes = 20'000;
    const auto report = workshop.rebuild(9);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->resumedBytes, 0U);
    workshop.expectStep(9);
}

TEST(MaterializeResume, StoppedBeforeItBeganItLeavesNothingUnderTheFinalName)
{
    Workshop workshop("slime-v2-xor");
    TaskContext task;
    task.requestStop();
    EXPECT_EQ(errorOf(workshop.rebuild(9, task)).code, Code::Canceled);
    EXPECT_FALSE(workshop.exists());
    ASSERT_TRUE(workshop.rebuild(9));
    EXPECT_TRUE(workshop.leftovers().empty());
}

} // namespace
} // namespace deltascope
