#include "deltascope/engine/operations.h"

#include "golden_copy.h"
#include "run_steps.h"
#include "support/any_task.h"
#include "support/faulty_store.h"
#include "support/test_name.h"
#include "tiny_run.h"

#include <fcntl.h>
#include <filesystem>
#include <numeric>
#include <sys/stat.h>

// analyzeRun and judgeChain: what they find.

namespace deltascope {
namespace {

using namespace layout_test;
using test::FaultyStore;
using test::StoreOperation;
using test::TempDir;

// --- golden buckets --------------------------------------------------------------------------------------------------

class GoldenAnalysis : public testing::TestWithParam<const char*> { };

TEST_P(GoldenAnalysis, FindsWhatTheTrainerDid)
{
    const GoldenCopy golden(GetParam());
    CatalogSession session;
    const auto run = session.analyzed(golden.store, golden.base);
    ASSERT_EQ(run.versions.size(), golden.expected["steps"].size());
    EXPECT_EQ(run.layout->word(), golden.expected["layout"].get<std::string>());
    for (const Json& truth : golden.expected["steps"]) {
        const Version* version = run.find(truth["step"], truth["epoch"].get<int>());
        ASSERT_NE(version, nullptr) << truth["step"];
        SCOPED_TRACE(version->step());
        EXPECT_EQ(!version->obstacle, truth["restorable"].get<bool>())
            << (version->obstacle ? version->obstacle->text : "");
        if (truth["restorable"] == true) { // what can be known of the others depends on their damage
            EXPECT_EQ(word(version->kind), truth["kind"].get<std::string>());
            EXPECT_EQ(version->objects.wireBytes(), truth["wire_bytes"].get<std::uint64_t>());
            EXPECT_EQ(run.totalElementsOf(*version), truth["total_elems"].get<std::uint64_t>());
            const std::int64_t base = truth["base_step"].is_null() ? -1 : truth["base_step"].get<std::int64_t>();
            EXPECT_EQ(version->baseStep.value_or(-1), base);
        }
        if (truth["kind"] != "anchor" && truth["restorable"] == true) {
            ASSERT_TRUE(version->facts);
            EXPECT_EQ(version->facts->changedElements, truth["changed_elems"].get<std::uint64_t>());
        }
        if (truth.contains("noop_elems") && version->summary) {
            ASSERT_TRUE(version->facts);
            EXPECT_EQ(version->facts->noops, truth["noop_elems"].get<std::uint64_t>());
            EXPECT_EQ(version->facts->assigned, truth["file_nnz"].get<std::uint64_t>());
        }
        const bool behindLoss = version != run.versions.data() && (version - 1)->obstacle;
        if (truth.contains("differs_from_previous_state") && !behindLoss) {
            ASSERT_TRUE(version->facts);
            EXPECT_EQ(version->facts->changedVsPrevious, truth["differs_from_previous_state"].get<std::uint64_t>());
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Buckets, GoldenAnalysis,
                         testing::Values("trl-v2-gap", "trl-v2-raw", "trl-v2-partial-anchor", "trl-v2-empty-step",
                                         "trl-v2-gap-in-chain", "trl-v2-bitflip", "trl-v2-drift-bf16", "trl-v2-restart",
                                         "trl-v2-truncated", "slime-v2-xor", "slime-v2-overwrite", "slime-v2-blake3",
                                         "slime-v2-adler32", "slime-v2-badchecksum", "slime-v2-dup-name",
                                         "slime-v2-gap-in-chain", "slime-v2-noindex", "slime-v2-wrongbase",
                                         "hf-sharded", "hf-single"),
                         [](const auto& info) { return test::testName(info.param); });

TEST(Analysis, TheStaleTailOfARunIsFoundWithoutAnyTimes)
{
    // without mtimes.json all files are of one time: only the no-op test tells the old run from the new one
    const TempDir copy;
    std::filesystem::copy(goldenPath("trl-v2-restart/bucket"), copy.path("b"),
                          std::filesystem::copy_options::recursive);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(copy.path("b"))) {
        const timespec at[2] = { { 1'000'000, 0 }, { 1'000'000, 0 } };
        ASSERT_EQ(::utimensat(AT_FDCWD, entry.path().c_str(), at, 0), 0);
    }
    CatalogSession session;
    const auto run = session.analyzed(localStore(copy.path("b")));
    EXPECT_EQ(run.epochs(), 1);
    EXPECT_EQ(obstructed(run), Steps({ 7, 8, 9 }));
    EXPECT_EQ(step(run, 7).obstacle->code, Code::ChainGap);
}

// --- facts -----------------------------------------------------------------------------------------------------------

TEST(Analysis, CountsChangesAndNoops)
{
    TinyRun tiny;
    tiny.anchor(1, { 0, 0, 0, 0, 0, 0, 0, 0 }).delta(2, { 0, 1, 2 }, { 1, 0, 3 });
    CatalogSession session;
    const auto run = session.analyzed(tiny.store);
    ASSERT_TRUE(step(run, 2).facts);
    EXPECT_EQ(step(run, 2).facts->changedElements, 2U);
    EXPECT_EQ(step(run, 2).facts->assigned, 3U);
    EXPECT_EQ(step(run, 2).facts->noops, 1U);
}

TEST(Analysis, NanElementsThatAreSentAgainAreNoNoops)
{
    TinyRun tiny;
    tiny.anchor(1, { 0x7fc0, 0, 0, 0, 0, 0, 0, 0 }).delta(2, { 0, 1 }, { 0x7fc0, 3 }).delta(3, { 0, 1 }, { 0x7fc0, 4 });
    CatalogSession session;
    const auto run = session.analyzed(tiny.store);
    EXPECT_EQ(step(run, 3).facts->noops, 0U);
    EXPECT_TRUE(obstructed(run).empty());
}

TEST(Analysis, AnAnchorIsComparedWithTheReplayBeforeIt)
{
    const TinyRun tiny = TinyRun::sound();
    CatalogSession session;
    const auto run = session.analyzed(tiny.store);
    ASSERT_TRUE(step(run, 5).facts);
    EXPECT_EQ(step(run, 5).facts->changedVsPrevious, 2U);
    EXPECT_EQ(step(run, 5).facts->changedElements, 10U);
}

TEST(Analysis, TheFirstAnchorIsComparedWithNothing)
{
    const TinyRun tiny = TinyRun::sound();
    CatalogSession session;
    const auto run = session.analyzed(tiny.store);
    EXPECT_TRUE(!step(run, 1).facts || !step(run, 1).facts->changedVsPrevious);
}

TEST(Analysis, AnAnchorOfAnotherModelIsRefusedAndStopsNothingElse)
{
    TinyRun tiny;
    tiny.anchor(1, { 0, 0, 0, 0, 0, 0, 0, 0 })
        .delta(2, { 0 }, { 1 })
        .anchor(3, { 1, 2, 3, 4 }) // w has another shape here
        .delta(4, { 3 }, { 9 })
        .anchor(5, { 0, 0, 0, 0, 0, 0, 0, 0 });
    CatalogSession session;
    auto run = session.open(tiny.store);
    ASSERT_TRUE(run);
    const auto outcome = analyzeRun(session.bench, *run, {}, session.task);
    ASSERT_TRUE(outcome) << outcome.error().text;
    ASSERT_TRUE(step(*run, 2).facts);
    EXPECT_EQ(step(*run, 2).facts->changedElements, 1U);
    ASSERT_TRUE(step(*run, 3).obstacle);
    EXPECT_EQ(step(*run, 3).obstacle->code, Code::Malformed);
    EXPECT_NE(step(*run, 3).obstacle->text.find("no checkpoint of this model"), std::string::npos);
    EXPECT_EQ(step(*run, 4).obstacle->code, Code::ChainGap);
    EXPECT_EQ(obstructed(*run).size(), 2U) << "step 5 needs neither of them";
}

TEST(Analysis, PerTensorCountsAddUpToTheFacts)
{
    const GoldenCopy golden("slime-v2-xor");
    CatalogSession session;
    auto run = session.open(golden.store, golden.base);
    ASSERT_TRUE(run);
    std::map<std::size_t, std::uint64_t> sums;
    AnalyzeOptions options;
    options.onCounts = [&](std::size_t version, const std::vector<TensorCount>& counts) {
        for (const TensorCount& count : counts)
            sums[version] += count.changed;
    };
    ASSERT_TRUE(analyzeRun(session.bench, *run, options, session.task));
    for (std::size_t i = 0; i < run->versions.size(); ++i) {
        EXPECT_EQ(sums[i], run->versions[i].facts->changedElements);
        const auto known = session.catalog->counts(catalogKey(*run), run->versions[i].objects.name, chainKeys(*run)[i]);
        ASSERT_TRUE(known);
        EXPECT_EQ(std::accumulate(known->begin(), known->end(), std::uint64_t(0),
                                  [](std::uint64_t sum, const TensorCount& count) { return sum + count.changed; }),
                  sums[i]);
    }
}

TEST(Analysis, ThreadsDoNotChangeTheFacts)
{
    const GoldenCopy golden("trl-v2-drift-bf16");
    std::vector<std::uint64_t> first;
    for (const unsigned threads : { 1U, 4U }) {
        CatalogSession session;
        session.bench.threads = threads;
        const auto run = session.analyzed(golden.store);
        std::vector<std::uint64_t> all;
        for (const Version& version : run.versions) {
            all.push_back(version.facts ? version.facts->changedElements : 0);
            all.push_back(version.facts ? version.facts->noops : 0);
        }
        if (first.empty())
            first = all;
        EXPECT_EQ(all, first);
    }
}

TEST(Analysis, AnEarlyLossWithoutAMissingNumberIsNoHabitOfTheWriter)
{
    // an empty delta stands where delta 3 was: all that is left in front of the loss is one delta
    const GoldenCopy golden("trl-v2-gap");
    for (int number = 10; number <= 15; ++number)
        std::filesystem::remove(golden.file(TinyRun::keyOf(number, number == 10)));
    golden.write(TinyRun::keyOf(3, false),
                 safetensorsFile({},
                                 { { "format", "sparse_weight_patch" },
                                   { "version", "1" },
                                   { "sparse", "True" },
                                   { "model_version", "3" },
                                   { "num_changed_params", "0" },
                                   { "total_changed_elements", "0" },
                                   { "total_elements", "0" },
                                   { "sparsity", "1.0" },
                                   { "encoding", "gap_delta" } }));
    CatalogSession session;
    const auto run = session.analyzed(golden.store);
    EXPECT_EQ(obstructed(run), Steps({ 4, 5, 6, 7, 8, 9 }));
    EXPECT_EQ(step(run, 9).obstacle->code, Code::ChainGap);
}

TEST(Analysis, OneNoopInASoundChainRefusesNothing)
{
    const GoldenCopy golden("trl-v2-gap");
    const std::string first = golden.read(TinyRun::keyOf(2, false));
    const std::string anchor = golden.read(TinyRun::keyOf(1, true));
    const auto header = SafetensorsHeader::read(
        *golden.store, *golden.store->stat(TinyRun::keyOf(1, true), test::anyTask()), test::anyTask());
    const auto delta = SafetensorsHeader::read(
        *golden.store, *golden.store->stat(TinyRun::keyOf(2, false), test::anyTask()), test::anyTask());
    ASSERT_TRUE(header);
    ASSERT_TRUE(delta);
    for (const StoredTensor& stored : delta->tensors()) {
        if (!stored.info.name.ends_with(".idx") || stored.info.dtype != Dtype::U16)
            continue;
        const std::string name = stored.info.name.substr(0, stored.info.name.size() - 4);
        const auto byName = [&](const SafetensorsHeader& in, const std::string& wanted) {
            return *std::find_if(in.tensors().begin(), in.tensors().end(),
                                 [&](const StoredTensor& tensor) { return tensor.info.name == wanted; });
        };
        const StoredTensor values = byName(*delta, name + ".val");
        const StoredTensor whole = byName(*header, name);
        const auto position = loadLe<std::uint16_t>(asBytes(first), stored.begin); // of its first assignment
        golden.edit(TinyRun::keyOf(2, false), [&](std::string& bytes) {
            bytes.replace(values.begin, 2, anchor.substr(whole.begin + 2ULL * position, 2));
        });
        break;
    }
    CatalogSession session;
    const auto run = session.analyzed(golden.store);
    EXPECT_EQ(step(run, 2).facts->noops, 1U);
    EXPECT_TRUE(obstructed(run).empty());
}

// --- damage ----------------------------------------------------------------------------------------------------------

TinyRun withHostileStep(int number)
{
    TinyRun tiny = TinyRun::sound();
    tiny.delta(number, { 700 }, { 1 });
    return tiny;
}

TEST(AnalysisDamage, BecomesAFactOfItsStep)
{
    const TinyRun tiny = withHostileStep(3);
    CatalogSession session;
    const auto run = session.analyzed(tiny.store);
    ASSERT_TRUE(step(run, 3).facts);
    ASSERT_TRUE(step(run, 3).facts->damage);
    EXPECT_EQ(step(run, 3).facts->damage->code, Code::Malformed);
    EXPECT_EQ(step(run, 3).state, VersionState::Broken);
}

TEST(AnalysisDamage, CutsTheStretchUpToTheNextAnchor)
{
    const TinyRun tiny = withHostileStep(3);
    CatalogSession session;
    const auto run = session.analyzed(tiny.store);
    EXPECT_EQ(obstructed(run), Steps({ 3, 4 }));
    EXPECT_EQ(step(run, 2).facts->changedElements, 2U);
    EXPECT_FALSE(step(run, 4).facts);
    EXPECT_TRUE(!step(run, 5).facts || !step(run, 5).facts->changedVsPrevious);
    ASSERT_TRUE(step(run, 6).facts);
    EXPECT_EQ(step(run, 6).facts->changedElements, 1U);
}

TEST(AnalysisDamage, TwoDamagedStepsInOneStretchAreBothSurvived)
{
    TinyRun tiny = withHostileStep(3);
    tiny.delta(2, { 700 }, { 1 });
    CatalogSession session;
    const auto run = session.analyzed(tiny.store);
    EXPECT_EQ(obstructed(run), Steps({ 2, 3, 4 }));
}

TEST(AnalysisDamage, ATensorThatNobodyHasIsOne)
{
    TinyRun tiny = TinyRun::sound();
    tiny.put(3, false,
             { { tensor("x.idx", { 1 }, Dtype::I32), std::string(4, '\0') }, { tensor("x.val", { 1 }), "ab" } });
    CatalogSession session;
    const auto run = session.analyzed(tiny.store);
    EXPECT_EQ(obstructed(run), Steps({ 3, 4 }));
    EXPECT_EQ(step(run, 3).facts->damage->code, Code::BaseMismatch);
}

TEST(AnalysisDamage, IsKnownAgainWithoutReading)
{
    const TinyRun tiny = withHostileStep(3);
    CatalogSession session;
    session.analyzed(tiny.store);
    const auto counting = std::make_shared<FaultyStore>(tiny.store);
    const auto run = session.open(counting);
    ASSERT_TRUE(run);
    EXPECT_EQ(obstructed(*run), Steps({ 3, 4 }));
    EXPECT_EQ(counting->calls(StoreOperation::Read), 0U);
}

TEST(AnalysisDamage, IsForgottenWhenTheObjectIsReplaced)
{
    TinyRun tiny = withHostileStep(3);
    CatalogSession session;
    session.analyzed(tiny.store);
    tiny.delta(3, { 2 }, { 1 });
    const auto run = session.analyzed(tiny.store);
    EXPECT_TRUE(obstructed(run).empty());
    EXPECT_EQ(withFacts(run), Steps({ 1, 2, 3, 4, 5, 6 }));
}

TEST(AnalysisDamage, AnErrorOfTheStoreThatMayPassIsNone)
{
    const TinyRun tiny = TinyRun::sound();
    CatalogSession session;
    const auto faulty = std::make_shared<FaultyStore>(tiny.store);
    auto run = session.open(faulty);
    ASSERT_TRUE(run);
    faulty->failNth(StoreOperation::Read, 9, Error { Code::Transient, "connection reset", {}, {}, {} },
                    test::Repeat::Forever);
    EXPECT_EQ(errorOf(analyzeRun(session.bench, *run, {}, session.task)).code, Code::Transient);
    EXPECT_TRUE(obstructed(*run).empty());
}

TEST(AnalysisDamage, AStoppedAnalysisIsCanceledAndBlamesNobody)
{
    const TinyRun tiny = TinyRun::sound();
    CatalogSession session;
    auto run = session.open(tiny.store);
    ASSERT_TRUE(run);
    session.task.requestStop();
    EXPECT_EQ(errorOf(analyzeRun(session.bench, *run, {}, session.task)).code, Code::Canceled);
    EXPECT_TRUE(withFacts(*run).empty());
}

// --- drift -----------------------------------------------------------------------------------------------------------

/// Changes every second byte of the last elements of the anchor at step 10.
void moveLastElements(const GoldenCopy& golden, std::size_t elements, bool highByte, char mask)
{
    golden.edit(TinyRun::keyOf(10, true), [&](std::string& bytes) {
        for (std::size_t i = 1; i <= elements; ++i) {
            char& byte = bytes[bytes.size() - 2 * i + (highByte ? 1 : 0)];
            byte = static_cast<char>(byte ^ mask);
        }
    });
}

TEST(AnalysisDrift, OneTensorBeyondItsOwnLimitIsAnAlarm)
{
    const GoldenCopy golden("trl-v2-gap");
    moveLastElements(golden, 300, false, 0x40); // far less than the whole may differ
    CatalogSession session;
    const auto run = session.analyzed(golden.store);
    ASSERT_TRUE(step(run, 10).facts);
    ASSERT_EQ(step(run, 10).facts->driftedTensors.size(), 1U);
    EXPECT_GT(step(run, 10).facts->driftedTensors.front().differs, 200U);
    for (const Version& version : run.versions)
        EXPECT_EQ(version.driftAlarm, version.step() >= 2 && version.step() <= 10) << version.step();
}

TEST(AnalysisDrift, ChangesThatKeepTheLowByteAreCountedAsMissed)
{
    const GoldenCopy golden("trl-v2-gap"); // of a writer that compares low bytes
    moveLastElements(golden, 9, true, 0x40);
    CatalogSession session;
    const auto run = session.analyzed(golden.store);
    EXPECT_EQ(step(run, 10).facts->sameLowByte, 9U);
    EXPECT_FALSE(step(run, 10).driftAlarm);
    ASSERT_EQ(run.problems.size(), 1U);
    EXPECT_EQ(run.problems.front().code, Code::Missed);
    EXPECT_NE(run.problems.front().text.find("missed 9 changes"), std::string::npos) << run.problems.front().text;
}

TEST(AnalysisDrift, SignsThatWereAllTurnedOverAreNoMissedChanges)
{
    const GoldenCopy golden("trl-v2-gap");
    moveLastElements(golden, 20'000, true, static_cast<char>(0x80));
    CatalogSession session;
    EXPECT_TRUE(step(session.analyzed(golden.store), 10).driftAlarm);
}

// --- judgeChain ------------------------------------------------------------------------------------------------------

TEST(JudgeChain, FindsTheLossThatAStepStandsOn)
{
    const GoldenCopy golden("trl-v2-gap-in-chain");
    CatalogSession session;
    auto run = session.open(golden.store);
    ASSERT_TRUE(run);
    const Error loss = errorOf(judgeChain(session.bench, *run, step(*run, 9), session.task));
    EXPECT_EQ(loss.code, Code::ChainGap);
    EXPECT_EQ(loss.step, 7);
}

TEST(JudgeChain, AcquitsTheHabitsOfAWriter)
{
    const GoldenCopy golden("trl-v2-drift-bf16");
    CatalogSession session;
    auto run = session.open(golden.store);
    ASSERT_TRUE(run);
    const auto proven = judgeChain(session.bench, *run, step(*run, 5), session.task);
    ASSERT_TRUE(proven);
    EXPECT_TRUE(*proven);
}

TEST(JudgeChain, JudgesTheEpochOfTheVersionAlone)
{
    const GoldenCopy golden("trl-v2-restart");
    CatalogSession session;
    auto run = session.open(golden.store);
    ASSERT_TRUE(run);
    const Version* old = run->find(12, 0);
    ASSERT_NE(old, nullptr);
    EXPECT_TRUE(judgeChain(session.bench, *run, *old, session.task));
}

} // namespace
} // namespace deltascope
