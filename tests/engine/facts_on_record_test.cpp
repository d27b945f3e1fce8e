#include "deltascope/engine/operations.h"

#include "golden_copy.h"
#include "read_hook_store.h"
#include "support/any_task.h"
#include "support/faulty_store.h"
#include "support/sanitizer.h"

#include <cstring>
#include <fmt/format.h>
#include <map>

// What a run is said to hold is learned from bytes that fit the record, of the objects that were listed.

namespace deltascope {
namespace {

using namespace layout_test;
using test::FaultyStore;
using test::MemoryStore;
using EngineRun = deltascope::Run;

/// A golden bucket of which everything is on record. The catalog is empty, so that each look reads payload.
class Recorded {
public:
    explicit Recorded(const char* golden)
        : golden(golden)
        , faulty(std::make_shared<FaultyStore>(this->golden.store))
        , store(std::make_shared<ReadHookStore>(faulty))
    {
        session.openRecords();
        session.bench.threads = 1;
        verify();
    }

    Run open()
    {
        auto run = session.open(store, golden.base);
        EXPECT_TRUE(run) << run.error().text;
        return run ? std::move(*run) : Run();
    }
    Run analyzed()
    {
        Run run = open();
        AnalyzeOptions options;
        options.standAloneBytes = UINT64_MAX;
        const auto outcome = analyzeRun(session.bench, run, options, session.task);
        EXPECT_TRUE(outcome) << outcome.error().text;
        return run;
    }
    VerifyReport verify(bool acceptRewritten = false)
    {
        Run run = open();
        VerifyOptions options;
        options.acceptRewritten = acceptRewritten;
        auto report = verifyRun(session.bench, run, options, session.task);
        EXPECT_TRUE(report) << report.error().text;
        return report ? std::move(*report) : VerifyReport();
    }

    GoldenCopy golden;
    std::shared_ptr<FaultyStore> faulty;
    std::shared_ptr<ReadHookStore> store;
    Session session;
};

bool isDamaged(const Version& version) { return version.facts && version.facts->damage; }

bool anyDamaged(const Run& run) { return std::any_of(run.versions.begin(), run.versions.end(), isDamaged); }

std::string nameOf(const testing::TestParamInfo<const char*>& info)
{
    std::string name = info.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

class RotBehindFirstSightInFacts : public testing::TestWithParam<const char*> { };

TEST_P(RotBehindFirstSightInFacts, IsDamageOfItsVersionAndNothingBehindItIsCounted)
{
    Recorded recorded(GetParam());
    const EngineRun sound = recorded.analyzed();
    EXPECT_FALSE(anyDamaged(sound));
    std::size_t flipped = 0;
    for (std::size_t i = 0; i < sound.versions.size(); ++i) {
        for (const ObjectInfo& object : sound.versions[i].objects.objects) {
            if (!object.key.ends_with(".safetensors")) // markers and texts, which give no facts of tensors
                continue;
            ++flipped;
            SCOPED_TRACE(object.key);
            recorded.faulty->flipBit(object.key, object.sizeBytes - 1, 1);
            const EngineRun run = recorded.analyzed();
            recorded.faulty->clearFaults();
            const Version& version = run.versions[i];
            ASSERT_TRUE(isDamaged(version) || version.failure); // a header is read when the run is opened
            if (version.failure)
                continue;
            EXPECT_EQ(version.facts->damage->code, Code::Digest) << version.facts->damage->text;
            EXPECT_EQ(version.facts->damage->where, object.key);
            for (const Version& other : run.versions)
                EXPECT_TRUE(&other == &version || !isDamaged(other)) << other.step();
        }
    }
    EXPECT_GT(flipped, 0U);
}

INSTANTIATE_TEST_SUITE_P(Buckets, RotBehindFirstSightInFacts,
                         testing::Values("trl-v2-gap", "slime-v2-xor", "hf-single", "prime-rl", "grail"), nameOf);

TEST(FactsOnRecord, WhatStandsOnARewrittenObjectIsNotCountedAndThatIsSaid)
{
    Recorded recorded("trl-v2-gap");
    const std::string key = "deltas/step_000012.safetensors";
    EXPECT_TRUE(changedSinceSeen(recorded.session.bench, recorded.open()).empty());
    recorded.golden.edit(key, [](std::string& bytes) { bytes.back() = static_cast<char>(bytes.back() ^ 1); });
    Session stranger; // that has no records
    const EngineRun now = stranger.analyzed(recorded.golden.store);
    const auto expectNowAndSaid = [&] {
        const EngineRun run = recorded.analyzed();
        for (std::size_t i = 0; i < run.versions.size(); ++i) {
            const bool stands = run.versions[i].step() > 12;
            ASSERT_EQ(run.versions[i].facts.has_value(), now.versions[i].facts.has_value() && !stands) << i;
            if (run.versions[i].facts) {
                EXPECT_EQ(run.versions[i].facts->changedElements, now.versions[i].facts->changedElements) << i;
            }
        }
        const std::vector<Error> changes = changedSinceSeen(recorded.session.bench, run);
        ASSERT_EQ(changes.size(), 1U);
        EXPECT_EQ(changes[0].code, Code::Rewritten) << changes[0].text;
        EXPECT_EQ(changes[0].where, key);
        EXPECT_EQ(changes[0].step, 12);
    };
    const std::vector<Error> unread = changedSinceSeen(recorded.session.bench, recorded.open());
    ASSERT_EQ(unread.size(), 1U);
    EXPECT_EQ(unread[0].code, Code::Unproven) << unread[0].text;
    expectNowAndSaid(); // what replays read of it tells that it was rewritten
    recorded.verify();
    expectNowAndSaid();
    recorded.verify(true);
    EXPECT_TRUE(changedSinceSeen(recorded.session.bench, recorded.analyzed()).empty());
}

TEST(FactsOnRecord, ARewrittenObjectAccusesNoOtherStep)
{
    const std::string key = "deltas/step_000003.safetensors";
    const auto hugeValue = [](std::string& bytes) { bytes.back() = static_cast<char>(bytes.back() ^ 0x40); };
    const auto otherValues = [](std::string& bytes) { // what is written behind it sets bits that are there already
        const std::size_t headerBytes = loadLe<std::uint64_t>(asBytes(bytes));
        const auto header = nlohmann::json::parse(bytes.substr(8, headerBytes));
        for (const auto& [name, entry] : header.items()) {
            if (!name.ends_with(".val"))
                continue;
            const std::size_t begin = 8 + headerBytes + entry["data_offsets"][0].get<std::size_t>();
            const std::size_t end = 8 + headerBytes + entry["data_offsets"][1].get<std::size_t>();
            for (std::size_t at = begin; at < end; at += 2)
                bytes[at] = static_cast<char>(bytes[at] ^ 1);
        }
    };
    for (const std::function<void(std::string&)>& change : { std::function(hugeValue), std::function(otherValues) }) {
        Recorded recorded("trl-v2-raw");
        recorded.golden.edit(key, change);
        for (int look = 0; look < 2; ++look) {
            const EngineRun run = recorded.analyzed();
            for (const Version& version : run.versions) {
                EXPECT_FALSE(version.suspect) << version.step();
                EXPECT_FALSE(version.driftAlarm) << version.step();
                EXPECT_FALSE(version.obstacle) << version.step() << version.obstacle->text;
            }
            EXPECT_TRUE(run.versions.back().facts) << "it stands on another anchor";
            for (const StepVerdict& step : recorded.verify().steps)
                EXPECT_NE(step.health, StepVerdict::Health::Suspect) << step.version;
        }
    }
}

TEST(FactsOnRecord, ABaseThatRotsIsAProblemOfTheRunAndEndsNothing)
{
    const GoldenCopy golden("slime-v2-xor");
    const auto base = std::make_shared<FaultyStore>(golden.base);
    Session session;
    session.openRecords();
    auto known = session.open(golden.store, base);
    ASSERT_TRUE(known) << known.error().text;
    ASSERT_TRUE(verifyRun(session.bench, *known, {}, session.task));
    const ObjectInfo victim = *golden.base->stat("model-00002-of-00002.safetensors", test::anyTask());
    base->flipBit(victim.key, victim.sizeBytes - 1);
    const EngineRun run = session.analyzed(golden.store, base);
    ASSERT_EQ(run.problems.size(), 1U);
    EXPECT_EQ(run.problems[0].code, Code::Digest) << run.problems[0].text;
    EXPECT_EQ(run.problems[0].where, base->uri() + "/" + victim.key);
    EXPECT_FALSE(anyDamaged(run)) << "its own objects are sound";
    auto again = session.open(golden.store, base);
    ASSERT_TRUE(again) << again.error().text;
    VerifyOptions options;
    options.level = 3;
    const auto report = verifyRun(session.bench, *again, options, session.task);
    ASSERT_TRUE(report) << report.error().text;
    EXPECT_EQ(report->verdict, Verdict::Damaged);
}

/// A base in memory that holds what the golden one does.
class CopiedBase {
public:
    explicit CopiedBase(const ObjectStore& golden)
    {
        const auto files = listAll(golden, "", test::anyTask());
        EXPECT_TRUE(files);
        for (const ObjectInfo& file : *files) {
            const auto read = readWhole(golden, file.key, file.sizeBytes, test::anyTask());
            EXPECT_TRUE(read);
            m_bytes[file.key] = asText(*read);
            copy(file.key);
        }
    }
    /// The same bytes as another object.
    void copy(const std::string& key) { EXPECT_TRUE(putText(*store, key, m_bytes[key])); }
    void flip(const std::string& key)
    {
        m_bytes[key].back() = static_cast<char>(m_bytes[key].back() ^ 1);
        copy(key);
    }
    /// Makes each value of a file of 16 bits another one; twice, and they are what they were.
    void flipValues(const std::string& key)
    {
        std::string& bytes = m_bytes[key];
        std::uint64_t header = 0;
        std::memcpy(&header, bytes.data(), sizeof header);
        for (std::size_t at = sizeof header + header; at < bytes.size(); at += 2)
            bytes[at] = static_cast<char>(bytes[at] ^ 1);
        copy(key);
    }

    std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>();

private:
    std::map<std::string, std::string> m_bytes;
};

TEST(FactsOnRecord, ARewrittenBaseIsSaid)
{
    const GoldenCopy golden("slime-v2-xor");
    CopiedBase base(*golden.base);
    Session session;
    session.openRecords();
    const auto verify = [&](bool acceptRewritten) {
        auto run = session.open(golden.store, base.store);
        ASSERT_TRUE(run) << run.error().text;
        VerifyOptions options;
        options.acceptRewritten = acceptRewritten;
        ASSERT_TRUE(verifyRun(session.bench, *run, options, session.task));
    };
    const auto changes = [&] {
        const EngineRun run = session.analyzed(golden.store, base.store);
        const Version& first = run.versions.front();
        std::vector<Error> all = changedSinceSeen(session.bench, run);
        EXPECT_EQ(changedSinceSeen(session.bench, run, *planFor(run, first)), all);
        return all;
    };
    EXPECT_TRUE(changes().empty()) << "nothing is on record";
    verify(false);
    EXPECT_TRUE(changes().empty());

    const std::string key = "model-00002-of-00002.safetensors";
    base.copy(key); // a copy, which nobody has compared
    ASSERT_EQ(changes().size(), 1U);
    EXPECT_EQ(changes()[0].code, Code::Unproven);
    verify(false);
    EXPECT_TRUE(changes().empty());

    base.flip(key);
    verify(false);
    ASSERT_EQ(changes().size(), 1U);
    EXPECT_EQ(changes()[0].code, Code::Rewritten);
    EXPECT_EQ(changes()[0].where, base.store->uri() + "/" + key);
    EXPECT_FALSE(changes()[0].step);
    EXPECT_EQ(changes()[0].text.find("in the base checkpoint: the object was rewritten"), 0U) << changes()[0].text;
    verify(true);
    EXPECT_TRUE(changes().empty());
}

TEST(FactsOnRecord, AFailureBehindARewrittenBaseIsNoFactAboutADelta)
{
    const GoldenCopy golden("slime-v2-xor");
    CopiedBase base(*golden.base);
    Session session;
    session.openCatalog();
    session.openRecords();
    const auto verify = [&](int level) {
        auto run = session.open(golden.store, base.store);
        EXPECT_TRUE(run) << run.error().text;
        VerifyOptions options;
        options.level = level;
        auto report = verifyRun(session.bench, *run, options, session.task);
        EXPECT_TRUE(report) << report.error().text;
        return std::move(*report);
    };
    const Verdict sound = verify(3).verdict;
    base.flipValues("model-00002-of-00002.safetensors");
    for (int look = 0; look < 2; ++look) {
        const EngineRun run = session.analyzed(golden.store, base.store);
        EXPECT_FALSE(anyDamaged(run));
        const Version& last = run.versions.back();
        EXPECT_FALSE(last.obstacle) << last.obstacle->text;
        const auto plan = planFor(run, last);
        ASSERT_TRUE(plan) << plan.error().text;
        const auto path = openChecked(session.bench, run, *plan, false, session.task);
        const Result<void> read = path ? (*path)->expectSoundObjects(session.task) : fail(path.error());
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().code, Code::Rewritten) << read.error().text;
        EXPECT_EQ(read.error().where, base.store->uri() + "/model-00002-of-00002.safetensors");
        const VerifyReport report = verify(3);
        EXPECT_EQ(report.verdict, Verdict::Unverified);
        for (const StepVerdict& step : report.steps)
            EXPECT_EQ(step.verdict, Verdict::Unverified) << step.version;
    }
    base.flipValues("model-00002-of-00002.safetensors");
    EXPECT_FALSE(anyDamaged(session.analyzed(golden.store, base.store)));
    EXPECT_EQ(verify(3).verdict, sound);
}

TEST(FactsOnRecord, ARewrittenDeltaWithoutItsDigestIsDamagedByItself)
{
    const GoldenCopy golden("slime-v2-xor");
    Session session;
    session.openCatalog();
    session.openRecords();
    auto known = session.open(golden.store, golden.base);
    ASSERT_TRUE(known) << known.error().text;
    ASSERT_TRUE(verifyRun(session.bench, *known, {}, session.task));
    const VersionObjects& objects = known->versions[1].objects;
    const auto weights = std::find_if(objects.objects.begin(), objects.objects.end(),
                                      [](const ObjectInfo& object) { return object.key.ends_with(".safetensors"); });
    ASSERT_NE(weights, objects.objects.end());
    golden.flip(weights->key, weights->sizeBytes - 1);
    const EngineRun run = session.analyzed(golden.store, golden.base);
    EXPECT_FALSE(isDamaged(run.versions[0]));
    EXPECT_TRUE(isDamaged(run.versions[1]));
}

TEST(FactsOnRecord, ACheckpointIsJudgedBesideASoundOne)
{
    const auto stored = std::make_shared<MemoryStore>();
    const auto store = std::make_shared<FaultyStore>(stored);
    const auto keyOf = [](int step) { return fmt::format("checkpoint-{}/model.safetensors", step); };
    const auto put = [&](int step) {
        ASSERT_TRUE(putText(*stored, keyOf(step), safetensorsFile({ { tensor("weight"), std::string(16, 'x') } })));
    };
    Session session;
    session.openCatalog();
    session.openRecords();
    const auto analyzed = [&] {
        auto run = session.open(store);
        EXPECT_TRUE(run) << run.error().text;
        AnalyzeOptions options;
        options.standAloneBytes = UINT64_MAX;
        const auto outcome = analyzeRun(session.bench, *run, options, session.task);
        EXPECT_TRUE(outcome) << outcome.error().text;
        return std::move(*run);
    };
    put(100);
    put(200);
    EngineRun known = analyzed();
    ASSERT_TRUE(verifyRun(session.bench, known, {}, session.task));
    EXPECT_FALSE(anyDamaged(known));
    put(300);
    store->flipBit(keyOf(200), stored->stat(keyOf(200), test::anyTask())->sizeBytes - 1, 1);
    const EngineRun run = analyzed();
    EXPECT_FALSE(isDamaged(*run.find(100)));
    ASSERT_TRUE(isDamaged(*run.find(200))) << "it was judged before, and is read again";
    EXPECT_EQ(run.find(200)->facts->damage->code, Code::Digest);
    ASSERT_TRUE(run.find(300)->facts);
    EXPECT_TRUE(run.find(300)->facts->replayed) << "it is judged beside step 100";
    EXPECT_FALSE(isDamaged(*run.find(300)));
}

TEST(FactsOnRecord, AnObjectThatCannotBeReadWasOverwrittenOnce)
{
    const GoldenCopy golden("trl-v2-gap");
    Session session;
    session.openCatalog();
    session.openRecords();
    ASSERT_TRUE(session.open(golden.store));
    const std::string key = "deltas/step_000012.safetensors";
    golden.edit(key, [](std::string& bytes) { bytes.resize(100); });
    for (int look = 0; look < 3; ++look) {
        const auto run = session.open(golden.store);
        ASSERT_TRUE(run) << run.error().text;
        const auto ofKey = [&](const Error& event) { return event.where == key; };
        EXPECT_EQ(std::count_if(run->events.begin(), run->events.end(), ofKey), 1) << look;
        EXPECT_TRUE(std::none_of(run->events.begin(), run->events.end(), [](const Error& event) {
            return event.code == Code::Fork;
        })) << "nobody else writes";
    }
}

TEST(FactsOnRecord, ManyRewrittenObjectsAreOneSentence)
{
    Recorded recorded("trl-v2-gap");
    for (const int step : { 2, 3, 4, 5 })
        recorded.golden.edit(fmt::format("deltas/step_{:06}.safetensors", step),
                             [](std::string& bytes) { bytes += '\0'; });
    const std::vector<Error> changes = changedSinceSeen(recorded.session.bench, recorded.open());
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].code, Code::Rewritten);
    EXPECT_EQ(changes[0].text.find("4 objects were rewritten"), 0U) << changes[0].text;
}

/// Whenever an object is replaced, what is learned is of the object that was listed, or nothing is.
TEST(FactsOnRecord, AreNeverOfTwoObjects)
{
    const std::string key = "deltas/step_000012.safetensors";
    std::size_t unknown = 0;
    constexpr std::uint64_t Each = test::UnderSanitizer ? 25 : 5;
    for (std::uint64_t nth = 1;; nth += Each) {
        Recorded recorded("trl-v2-gap");
        const EngineRun before = recorded.analyzed();
        EngineRun run = recorded.open();
        std::uint64_t reads = 0;
        recorded.store->onRead = [&](auto&&...) {
            if (++reads == nth)
                recorded.golden.edit(key, [](std::string& bytes) { bytes[bytes.size() / 2] ^= 1; });
        };
        const auto outcome = analyzeRun(recorded.session.bench, run, {}, recorded.session.task);
        recorded.store->onRead = {};
        ASSERT_TRUE(outcome) << outcome.error().text;
        if (reads < nth)
            break;
        EXPECT_FALSE(anyDamaged(run)) << "read " << nth;
        for (std::size_t i = 0; i < run.versions.size(); ++i) {
            const Version& version = run.versions[i];
            unknown += before.versions[i].facts && !version.facts ? 1 : 0;
            if (version.facts) {
                EXPECT_EQ(version.facts->changedElements, before.versions[i].facts->changedElements) << "read " << nth;
            }
        }
    }
    EXPECT_GT(unknown, 0U);
}

} // namespace
} // namespace deltascope
