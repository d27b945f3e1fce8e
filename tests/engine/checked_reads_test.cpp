#include "checked_reads_fixture.h"
#include "golden_copy.h"
#include "publish_fixture.h"
#include "support/any_task.h"

#include <algorithm>
#include <sys/stat.h>

// What is on record of an object is used: no act goes on with bytes that differ from it.

namespace deltascope {
namespace {

using namespace checked_reads_test;

using Names = std::vector<std::string>;

// --- rot -------------------------------------------------------------------------------------------------------------

class RotBehindFirstSight : public testing::TestWithParam<const char*> { };

TEST_P(RotBehindFirstSight, IsRefusedWhereverItIs)
{
    const GoldenCopy golden(GetParam());
    Reader reader(golden.store, golden.base);
    reader.verify();
    const EngineRun run = reader.open();
    const Version& last = run.versions.back();
    const Plan plan = planFor(run, last).value();
    for (const PlanLink& link : plan.links) {
        for (const ObjectInfo& object : run.versions[link.version].objects.objects) {
            for (const std::uint64_t at : { object.sizeBytes / 2, object.sizeBytes - 1 }) {
                reader.faulty->clearFaults();
                reader.faulty->flipBit(object.key, at, 2);
                SCOPED_TRACE(fmt::format("{} at {}", object.key, at));
                const auto digest = reader.digest(last.step());
                ASSERT_FALSE(digest);
                EXPECT_EQ(digest.error().code, Code::Digest) << digest.error().text;
                EXPECT_EQ(digest.error().where, object.key);
                EXPECT_EQ(digest.error().step, run.versions[link.version].step());
            }
        }
    }
    reader.faulty->clearFaults();
    EXPECT_TRUE(reader.digest(last.step()));
}

INSTANTIATE_TEST_SUITE_P(Buckets, RotBehindFirstSight, testing::Values("trl-v2-gap", "trl-v2-raw", "slime-v2-xor"),
                         [](const auto& info) {
                             std::string name = info.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

TEST(CheckedReads, RotIsRefusedByEveryActAndNeverAccepted)
{
    const GoldenCopy golden("trl-v2-gap");
    Reader reader(golden.store);
    reader.verify();
    const ObjectInfo victim = *golden.store->stat("deltas/step_000012.safetensors", test::anyTask());
    reader.faulty->flipBit(victim.key, victim.sizeBytes - 1, 3);
    expectRefused(reader, 15, 11, Code::Digest, victim.key);
    reader.acceptRewritten = true;
    expectRefused(reader, 15, 11, Code::Digest, victim.key);
    reader.acceptRewritten = false;
    EXPECT_TRUE(reader.rebuild(11)) << "it does not need that delta";
}

TEST(CheckedReads, RotInTheBaseIsTold)
{
    const GoldenCopy golden("slime-v2-xor");
    const auto base = std::make_shared<FaultyStore>(golden.base);
    Reader reader(golden.store, base);
    reader.verify();
    const ObjectInfo victim = *golden.base->stat("model-00002-of-00002.safetensors", test::anyTask());
    base->flipBit(victim.key, victim.sizeBytes - 1);
    const auto digest = reader.digest(3);
    ASSERT_FALSE(digest);
    EXPECT_EQ(digest.error().code, Code::Digest);
    EXPECT_EQ(digest.error().where, base->uri() + "/" + victim.key);
}

TEST(CheckedReads, WithoutRecordsThereIsNothingToCompareWith)
{
    const GoldenCopy golden("trl-v2-gap");
    Reader reader(golden.store);
    const ObjectInfo victim = *golden.store->stat("deltas/step_000012.safetensors", test::anyTask());
    reader.faulty->flipBit(victim.key, placeOfValue(golden.read(victim.key)), 3);
    EXPECT_TRUE(reader.rebuild(15));
}

// --- rewritten objects -----------------------------------------------------------------------------------------------

TEST(CheckedReads, ARewrittenObjectIsRefusedUntilItIsAccepted)
{
    const GoldenCopy golden("trl-v2-gap");
    Reader reader(golden.store);
    reader.verify();
    const std::string key = "deltas/step_000012.safetensors";
    golden.edit(key, turnValue);
    expectRefused(reader, 15, 11, Code::Rewritten, key);
    reader.verify(); // a look at it accepts nothing
    expectRefused(reader, 15, 11, Code::Rewritten, key);

    reader.acceptRewritten = true;
    for (int act = 0; act < 2; ++act) { // for this once
        const auto accepted = reader.rebuild(15);
        ASSERT_TRUE(accepted) << accepted.error().text;
        EXPECT_EQ(accepted->rewritten, Names { key });
        EXPECT_EQ(reader.provenance()["rewritten"], Json::array({ key }));
        EXPECT_TRUE(reader.digest(15));
    }
    reader.acceptRewritten = false;
    expectRefused(reader, 15, 11, Code::Rewritten, key);

    reader.verify(true);
    const auto trusted = reader.rebuild(15);
    ASSERT_TRUE(trusted) << trusted.error().text;
    EXPECT_TRUE(trusted->rewritten.empty());
    EXPECT_EQ(reader.provenance()["rewritten"], Json::array());
    EXPECT_TRUE(reader.diff(11, 15));
}

/// What is known of the objects behind a step before anything of them is read.
std::vector<Error> changesBehind(Reader& reader, std::int64_t step)
{
    const EngineRun run = reader.open();
    const auto plan = planFor(run, *run.find(step));
    return plan ? changedSinceSeen(reader.session.bench, run, *plan) : std::vector<Error>();
}

TEST(ChangedSinceSeen, IsWhatWasWrittenAgainUntilItIsCompared)
{
    const GoldenCopy golden("trl-v2-gap");
    Reader reader(golden.store);
    EXPECT_TRUE(changesBehind(reader, 15).empty()); // nothing is on record
    reader.verify();
    EXPECT_TRUE(changesBehind(reader, 15).empty());
    const std::string key = "deltas/step_000012.safetensors";
    golden.edit(key, turnValue);
    EXPECT_TRUE(changesBehind(reader, 11).empty()); // it is not on the way
    const auto unread = changesBehind(reader, 15);
    ASSERT_EQ(unread.size(), 1U);
    EXPECT_EQ(unread[0].code, Code::Unproven);
    EXPECT_EQ(unread[0].where, key);
    EXPECT_EQ(unread[0].step, 12);
    reader.verify();
    const auto compared = changesBehind(reader, 15);
    ASSERT_EQ(compared.size(), 1U);
    EXPECT_EQ(compared[0].code, Code::Rewritten);
    reader.verify(true);
    EXPECT_TRUE(changesBehind(reader, 15).empty());
}

TEST(ChangedSinceSeen, ACopyInItsPlaceIsOneNoticeUntilItIsCompared)
{
    const GoldenCopy golden("trl-v2-gap");
    Reader reader(golden.store);
    reader.verify();
    const auto objects = listAll(*golden.store, "", reader.session.task);
    ASSERT_TRUE(objects);
    for (const ObjectInfo& object : *objects)
        golden.write(object.key, golden.read(object.key));
    const auto changes = changesBehind(reader, 15);
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].code, Code::Unproven);
    EXPECT_NE(changes[0].text.find("objects were written again"), std::string::npos) << changes[0].text;
    reader.verify();
    EXPECT_TRUE(changesBehind(reader, 15).empty());
}

TEST(CheckedReads, AnotherSizeIsAnotherObjectWithoutReadingIt)
{
    const GoldenCopy golden("trl-v2-gap");
    Reader reader(golden.store);
    reader.verify();
    const std::string key = "deltas/step_000012.safetensors";
    golden.edit(key, [](std::string& bytes) { // spaces behind the header belong to it
        const std::size_t headerBytes = loadLe<std::uint64_t>(asBytes(bytes));
        bytes.insert(8 + headerBytes, "        ");
        storeLe<std::uint64_t>(writable(bytes), 0, headerBytes + 8);
    });
    expectRefused(reader, 15, 11, Code::Rewritten, key);
    reader.acceptRewritten = true;
    const auto accepted = reader.rebuild(15);
    ASSERT_TRUE(accepted) << accepted.error().text;
    EXPECT_EQ(accepted->rewritten, Names { key });
}

TEST(CheckedReads, ARewrittenObjectIsRefusedEvenIfDigestsMatch)
{
    const GoldenCopy golden("slime-v2-xor");
    Reader reader(golden.store, golden.base);
    reader.verify();
    const std::string key = "weight_v000003/model.safetensors.index.json";
    golden.edit(key, [](std::string& text) { text += "\n"; }); // says what it said
    expectRefused(reader, 4, 1, Code::Rewritten, key);
}

TEST(CheckedReads, ACopyWithEqualBytesIsWelcome)
{
    const GoldenCopy golden("trl-v2-gap");
    Reader reader(golden.store);
    reader.verify();
    golden.write("deltas/step_000012.safetensors", golden.read("deltas/step_000012.safetensors")); // as cp does
    ASSERT_EQ(::chmod(golden.file("deltas/step_000013.safetensors").c_str(), 0444), 0);
    fs::create_hard_link(golden.file("anchors/step_000010.safetensors"), golden.bucket() + ".link");
    const auto report = reader.rebuild(15);
    fs::remove(golden.bucket() + ".link");
    ASSERT_TRUE(report) << report.error().text;
    EXPECT_TRUE(report->rewritten.empty());
    EXPECT_TRUE(report->notices.empty());
}

// --- publishing ------------------------------------------------------------------------------------------------------

struct PublishingWithRecords : Publishing {
    PublishingWithRecords()
    {
        auto opened = Records::open(folder.path("records.sqlite"));
        EXPECT_TRUE(opened);
        records = std::move(*opened);
        bench.records = records.get();
    }
    void look()
    {
        Run now = view();
        EXPECT_TRUE(verifyRun(bench, now, {}, task));
    }
    test::TempDir folder;
    std::unique_ptr<Records> records;
};

TEST(CheckedReads, ARunIsNotContinuedFromRewrittenObjects)
{
    PublishingWithRecords p;
    p.publishAll(1, 2);
    p.look();
    const std::vector<ObjectInfo> objects = listAll(*p.run, "deltas/", p.task).value();
    ASSERT_EQ(objects.size(), 1U);
    std::string bytes(asText(*readWhole(*p.run, objects.front().key, 1 << 20, test::anyTask())));
    turnValue(bytes);
    ASSERT_TRUE(putText(*p.run, objects.front().key, bytes));
    {
        auto publisher = p.open();
        ASSERT_TRUE(publisher);
        const auto refused = p.publish(*publisher, 3);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, Code::Rewritten) << refused.error().text;
        EXPECT_EQ(refused.error().where, objects.front().key);
    }
    turnValue(bytes); // as it was
    ASSERT_TRUE(putText(*p.run, objects.front().key, bytes));
    auto publisher = p.open();
    ASSERT_TRUE(publisher);
    EXPECT_TRUE(p.publish(*publisher, 3));
}

} // namespace
} // namespace deltascope
