#include "deltascope/base/address.h"
#include "deltascope/engine/operations.h"
#include "deltascope/engine/publish.h"

#include "catalog/sqlite.h"
#include "golden_copy.h"
#include "publish_fixture.h"
#include "read_hook_store.h"
#include "state/tensor_replay.h"
#include "support/any_task.h"
#include "support/backends.h"
#include "support/faulty_store.h"
#include "support/sizes.h"

#include <filesystem>
#include <fstream>
#include <sys/stat.h>

// What is on record of an object is used: no act goes on with bytes that differ from it, and none mixes bytes of before
// and after a change.

namespace deltascope {
namespace {

using namespace layout_test;
using test::FaultyStore;
using test::MemoryStore;

namespace fs = std::filesystem;

using EngineRun = deltascope::Run;
using Names = std::vector<std::string>;

/// Reads and rebuilds one source, with records.
class Reader {
public:
    explicit Reader(std::shared_ptr<ObjectStore> source, std::shared_ptr<ObjectStore> base = {})
        : faulty(std::make_shared<FaultyStore>(std::move(source)))
        , store(std::make_shared<ReadHookStore>(faulty))
        , m_base(std::move(base))
    {
        session.openCatalog(); // so that headers are read by the acts themselves
        session.openRecords();
        session.openDisk();
        session.bench.threads = 1;
    }

    EngineRun open()
    {
        auto run = session.open(store, m_base);
        EXPECT_TRUE(run) << run.error().text;
        return run ? std::move(*run) : EngineRun();
    }
    VerifyReport verify(bool acceptRewritten = false)
    {
        EngineRun run = open();
        VerifyOptions options;
        options.acceptRewritten = acceptRewritten;
        auto report = verifyRun(session.bench, run, options, session.task);
        EXPECT_TRUE(report) << report.error().text;
        return report ? std::move(*report) : VerifyReport();
    }

    Result<MaterializeReport> rebuild(std::int64_t step)
    {
        const EngineRun run = open();
        fs::remove_all(out());
        const Version& version = *run.find(step);
        DS_TRY(const Plan plan, planFor(run, version));
        MaterializeOptions options;
        options.destination = out();
        options.acceptRewritten = acceptRewritten;
        TaskContext task;
        m_stop = [&] { task.requestStop(); };
        return materialize(session.bench, run, version, plan, options, task);
    }
    void stop() const { m_stop(); }
    Result<PathPtr> pathOf(const EngineRun& run, std::int64_t step)
    {
        DS_TRY(const Plan plan, planFor(run, *run.find(step)));
        return openChecked(session.bench, run, plan, acceptRewritten, session.task);
    }
    Result<std::string> digest(std::int64_t step)
    {
        const EngineRun run = open();
        DS_TRY(const PathPtr path, pathOf(run, step));
        DS_TRY(const CheckpointDigest digest, digestState(session.bench, *path, session.task));
        return toHex(digest.root.fast);
    }
    Result<DiffReport> diff(std::int64_t a, std::int64_t b)
    {
        const EngineRun run = open();
        DS_TRY(const PathPtr left, pathOf(run, a));
        DS_TRY(const PathPtr right, pathOf(run, b));
        return diffStates(session.bench, *left, *right, std::nullopt, session.task);
    }

    std::string out() const { return session.folder.path("out"); }
    Json provenance() const { return Json::parse(std::ifstream(out() + "/deltascope.provenance.json")); }

    Session session;
    std::shared_ptr<FaultyStore> faulty;
    std::shared_ptr<ReadHookStore> store;
    bool acceptRewritten = false;

private:
    std::shared_ptr<ObjectStore> m_base;
    std::function<void()> m_stop;
};

/// Every act that uses bytes refuses them with this word, and names the object.
void expectRefused(Reader& reader, std::int64_t step, std::int64_t other, Code code, const std::string& where)
{
    const auto rebuilt = reader.rebuild(step);
    ASSERT_FALSE(rebuilt) << where;
    EXPECT_EQ(rebuilt.error().code, code) << rebuilt.error().text;
    EXPECT_EQ(rebuilt.error().where, where);
    EXPECT_FALSE(rebuilt.error().action.empty());
    EXPECT_FALSE(fs::exists(reader.out()));
    const auto digest = reader.digest(step);
    ASSERT_FALSE(digest) << where;
    EXPECT_EQ(digest.error().code, code) << digest.error().text;
    EXPECT_EQ(digest.error().where, where);
    const auto diff = reader.diff(other, step);
    ASSERT_FALSE(diff) << where;
    EXPECT_EQ(diff.error().code, code) << diff.error().text;
}

/// Where a TRL file keeps the first of its values.
std::uint64_t placeOfValue(std::string_view file)
{
    const std::size_t headerBytes = loadLe<std::uint64_t>(asBytes(file));
    const Json header = Json::parse(file.substr(8, headerBytes));
    for (const auto& [name, entry] : header.items()) {
        if (name.ends_with(".val"))
            return 8 + headerBytes + entry["data_offsets"][0].get<std::size_t>();
    }
    ADD_FAILURE() << "no values";
    return 0;
}

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

void turnValue(std::string& bytes)
{
    const std::uint64_t at = placeOfValue(bytes);
    bytes[at] = static_cast<char>(bytes[at] ^ 0x20);
}

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

// --- leaves ----------------------------------------------------------------------------------------------------------

using test::MiB;

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

// --- changes in the middle -------------------------------------------------------------------------------------------

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
