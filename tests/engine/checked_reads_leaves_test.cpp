#include "deltascope/base/address.h"

#include "catalog/sqlite.h"
#include "checked_reads_fixture.h"
#include "golden_copy.h"
#include "state/tensor_replay.h"
#include "support/any_task.h"
#include "support/backends.h"
#include "support/sizes.h"
#include "version_writer_fixture.h"

// Which parts of an object are compared with what is on record, and what damaged and old records are good for.

namespace deltascope {
namespace {

using namespace checked_reads_test;
using test::MiB;

// --- leaves ----------------------------------------------------------------------------------------------------------

/// A checkpoint of several leaves: one large tensor between small ones.
std::shared_ptr<MemoryStore> severalLeaves()
{
    const auto store = std::make_shared<MemoryStore>();
    EXPECT_TRUE(putText(*store, "model.safetensors",
                        safetensorsFile({ { tensor("a", { 1000 }), noise(2000, 1) },
                                          { tensor("b", { 3 * MiB / 2 }), noise(3 * MiB, 2) },
                                          { tensor("c", { 1000 }), noise(2000, 3) } })));
    return store;
}

TEST(CheckedReads, OnlyWhatIsReadIsCompared)
{
    Reader reader(severalLeaves());
    reader.verify();
    reader.faulty->flipBit("model.safetensors", 2 * MiB);
    const EngineRun run = reader.open();
    const auto path = reader.pathOf(run, run.versions.front().step());
    ASSERT_TRUE(path) << path.error().text;
    const auto readTensor = [&](const char* name) {
        auto replay = TensorReplay::open(**path, *(*path)->find(name), { test::walkMeans() }, reader.session.task);
        ASSERT_TRUE(replay);
        for (;;) {
            const auto block = replay->next(reader.session.task);
            if (!block || block->empty())
                return;
        }
    };
    readTensor("a");
    EXPECT_TRUE((*path)->expectSoundReads(reader.session.task)) << "it lies in another leaf";
    const auto whole = (*path)->expectSoundObjects(reader.session.task);
    ASSERT_FALSE(whole);
    EXPECT_EQ(whole.error().code, Code::Digest);
    readTensor("b");
    EXPECT_FALSE((*path)->expectSoundReads(reader.session.task));
}

TEST(CheckedReads, WhatWasReadInPiecesMustBeWhatStandsThere)
{
    for (const bool onRecord : { false, true }) {
        Reader reader(severalLeaves());
        if (onRecord)
            reader.verify();
        const EngineRun run = reader.open();
        const auto path = reader.pathOf(run, run.versions.front().step());
        ASSERT_TRUE(path);
        reader.faulty->flipBit("model.safetensors", 1000); // while the tensor is read, and never again
        auto replay = TensorReplay::open(**path, *(*path)->find("a"), { test::walkMeans() }, reader.session.task);
        ASSERT_TRUE(replay);
        ASSERT_TRUE(replay->next(reader.session.task));
        reader.faulty->clearFaults();
        EXPECT_EQ((*path)->expectSoundReads(reader.session.task).has_value(), !onRecord)
            << "without records and with the same identity nobody looks again";
    }
}

TEST(CheckedReads, ThreadsThatReadOneObjectFindWhatOneFinds)
{
    Reader reader(severalLeaves());
    reader.session.bench.threads = 4;
    reader.verify();
    EXPECT_TRUE(reader.rebuild(0));
    const std::uint64_t size = reader.store->stat("model.safetensors", test::anyTask())->sizeBytes;
    for (const std::uint64_t at : { std::uint64_t { 500 }, MiB, 2 * MiB + 77, size - 2 }) {
        reader.faulty->clearFaults();
        reader.faulty->flipBit("model.safetensors", at);
        const auto refused = reader.rebuild(0);
        ASSERT_FALSE(refused) << at;
        EXPECT_EQ(refused.error().code, Code::Digest) << refused.error().text;
    }
}

// --- damaged records -------------------------------------------------------------------------------------------------

TEST(CheckedReads, ADamagedRecordIsToldAndNoFindingAboutTheObject)
{
    const GoldenCopy golden("trl-v2-gap");
    Reader reader(golden.store);
    reader.verify();
    const std::string path = reader.session.folder.path("records.sqlite");
    auto file = sqlite::Database::open(path, sqlite::Database::Durability::Full);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->execute("UPDATE sight SET xxh3='0' WHERE key='deltas/step_000012.safetensors'"));
    const auto report = reader.rebuild(15);
    ASSERT_TRUE(report) << report.error().text;
    ASSERT_EQ(report->notices.size(), 1U);
    EXPECT_EQ(report->notices.front().code, Code::Catalog);
    EXPECT_EQ(report->notices.front().where, path);
    EXPECT_NE(report->notices.front().text.find("step_000012"), std::string::npos);

    const VerifyReport verified = reader.verify();
    EXPECT_EQ(verified.verdict, Verdict::Unverified);
    const StepVerdict& step = verified.steps.at(11);
    EXPECT_EQ(step.verdict, Verdict::Unverified);
    ASSERT_FALSE(step.problems.empty());
    EXPECT_EQ(step.problems.back().code, Code::Catalog);
    EXPECT_EQ(step.problems.back().where, path);
    EXPECT_EQ(verified.steps.at(10).verdict, Verdict::FirstSight);
    EXPECT_EQ(verified.steps.at(12).verdict, Verdict::Unverified) << "it builds on it";

    reader.verify(true);
    EXPECT_EQ(reader.verify().verdict, Verdict::FirstSight);
    EXPECT_TRUE(reader.rebuild(15)->notices.empty());
}

// --- records of version 0.1 ------------------------------------------------------------------------------------------

/// What version 0.1 has put on record of an object.
void rememberWhole(Reader& reader, const std::string& key, const std::string& identity)
{
    const std::string bytes(asText(*readWhole(*reader.store, key, 1U << 30, test::anyTask())));
    ASSERT_TRUE(reader.session.records->add(
        reader.store->uri(),
        { { key, Records::Sight { identity, bytes.size(), toHex(xxh3(asBytes(bytes))), 1, true, {} } } }));
}

TEST(CheckedReadsOfOldRecords, AWholeDigestIsNoEvidenceForPartsAndThatIsSaid)
{
    Reader reader(severalLeaves());
    const std::string key = "model.safetensors";
    rememberWhole(reader, key, reader.store->stat(key, test::anyTask())->identity);
    reader.faulty->flipBit(key, 2 * MiB);
    const auto unseen = reader.rebuild(0);
    ASSERT_TRUE(unseen) << unseen.error().text;
    ASSERT_EQ(unseen->notices.size(), 1U);
    EXPECT_EQ(unseen->notices.front().where, Address(reader.store->uri()).below(key).text());

    reader.faulty->clearFaults();
    reader.verify(); // the first whole read adds leaves
    reader.faulty->flipBit(key, 2 * MiB);
    const auto refused = reader.rebuild(0);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::Digest);
    reader.faulty->clearFaults();
    EXPECT_TRUE(reader.rebuild(0)->notices.empty());
}

TEST(CheckedReadsOfOldRecords, AnObjectWithAnotherIdentityIsComparedAsAWhole)
{
    Reader reader(severalLeaves());
    const std::string key = "model.safetensors";
    rememberWhole(reader, key, "another identity");
    const auto copied = reader.rebuild(0);
    ASSERT_TRUE(copied) << copied.error().text;
    EXPECT_TRUE(copied->notices.empty());
    reader.faulty->flipBit(key, 2 * MiB);
    const auto refused = reader.rebuild(0);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::Rewritten);
}

TEST(CheckedReadsOfOldRecords, TheDigestOfASmallObjectIsThatOfItsOnlyLeaf)
{
    const GoldenCopy golden("trl-v2-gap");
    Reader reader(golden.store);
    const ObjectInfo victim = *golden.store->stat("deltas/step_000012.safetensors", test::anyTask());
    rememberWhole(reader, victim.key, victim.identity);
    EXPECT_TRUE(reader.rebuild(15)->notices.empty());
    reader.faulty->flipBit(victim.key, victim.sizeBytes - 1, 3);
    expectRefused(reader, 15, 11, Code::Digest, victim.key);
}

} // namespace
} // namespace deltascope
