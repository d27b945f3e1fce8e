#include "deltascope/engine/operations.h"

#include "golden_copy.h"
#include "run_steps.h"
#include "support/any_task.h"
#include "support/faulty_store.h"
#include "support/forwarding_store.h"
#include "support/test_name.h"

#include <filesystem>

// verifyRun: every result word at every level, and what may never be called verified.

namespace deltascope {
namespace {

using namespace layout_test;
using test::FaultyStore;

using EngineRun = deltascope::Run;

/// With records of first sight, and no catalog.
struct VerifySession : Session {
    VerifySession() { openRecords(); }

    Result<VerifyReport> tryVerify(std::shared_ptr<ObjectStore> store, std::shared_ptr<ObjectStore> base, int level,
                                   std::optional<std::pair<std::size_t, std::size_t>> range = {})
    {
        DS_TRY(run, open(std::move(store), std::move(base)));
        VerifyOptions options;
        options.level = level;
        options.range = range;
        options.acceptRewritten = acceptRewritten;
        return verifyRun(bench, run, options, task);
    }
    VerifyReport verify(const GoldenCopy& golden, int level,
                        std::optional<std::pair<std::size_t, std::size_t>> range = {})
    {
        auto report = tryVerify(golden.store, golden.base, level, range);
        EXPECT_TRUE(report) << report.error().text;
        return report ? std::move(*report) : VerifyReport();
    }
    Words words(const VerifyReport& report) const { return wordsOf(run, report); }
    const StepVerdict& step(const VerifyReport& report, std::int64_t number) const
    {
        static const StepVerdict None;
        for (const StepVerdict& step : report.steps) {
            if (run.versions[step.version].step() == number)
                return step;
        }
        ADD_FAILURE() << "no step " << number;
        return None;
    }

    EngineRun run;
    bool acceptRewritten = false;
};

Words allOf(std::int64_t first, std::int64_t last, const std::string& word)
{
    Words words;
    for (std::int64_t step = first; step <= last; ++step)
        words[step] = word;
    return words;
}

Words joined(Words a, const Words& b)
{
    a.insert(b.begin(), b.end());
    return a;
}

bool has(const std::vector<Error>& problems, Code code)
{
    return std::any_of(problems.begin(), problems.end(), [&](const Error& problem) { return problem.code == code; });
}

// --- what each case is called at each level --------------------------------------------------------------------------

struct Expectation {
    const char* bucket;
    int level;
    Words words;
    const char* run;
};

std::vector<Expectation> expectations()
{
    std::vector<Expectation> out;
    const auto add = [&](const char* bucket, std::initializer_list<int> levels, const Words& words, const char* run) {
        for (const int level : levels)
            out.push_back({ bucket, level, words, run });
    };
    add("trl-v2-gap", { 0, 1 }, allOf(1, 15, "unverified"), "unverified");
    add("trl-v2-gap", { 2, 3 }, allOf(1, 15, "first_sight"), "first_sight");
    add("trl-v2-gap", { 4 },
        joined(joined({ { 1, "first_sight" } }, allOf(2, 10, "consistent")), allOf(11, 15, "first_sight")),
        "first_sight");
    add("slime-v2-xor", { 0, 1 }, allOf(1, 9, "unverified"), "unverified");
    add("slime-v2-xor", { 2 }, allOf(1, 9, "first_sight"), "first_sight");
    add("slime-v2-xor", { 3, 4 }, allOf(1, 9, "verified"), "verified");
    add("slime-v2-overwrite", { 3, 4 }, allOf(1, 7, "verified"), "verified");
    add("slime-v2-blake3", { 3 }, joined(allOf(1, 4, "verified"), { { 5, "first_sight" } }),
        "first_sight"); // 5 is empty
    add("slime-v2-adler32", { 3 }, joined(allOf(1, 4, "consistent"), { { 5, "first_sight" } }),
        "first_sight"); // weak digests
    add("slime-v2-dup-name", { 3 }, allOf(1, 3, "first_sight"), "first_sight"); // one tensor has two values
    add("slime-v2-badchecksum", { 2 }, allOf(1, 5, "first_sight"), "first_sight");
    add("slime-v2-badchecksum", { 3, 4 },
        joined(joined(allOf(1, 2, "verified"), { { 3, "damaged" } }), allOf(4, 5, "incomplete")), "damaged");
    add("slime-v2-wrongbase", { 3, 4 }, allOf(1, 3, "incomplete"), "incomplete");
    add("slime-v2-gap-in-chain", { 0, 1 }, joined(allOf(1, 3, "unverified"), allOf(5, 6, "incomplete")), "incomplete");
    add("slime-v2-gap-in-chain", { 3, 4 }, joined(allOf(1, 3, "verified"), allOf(5, 6, "incomplete")), "incomplete");
    add("slime-v2-noindex", { 0, 2 }, { { 1, "" }, { 2, "" }, { 3, "" }, { 4, "incomplete" } }, "incomplete");
    add("trl-v2-truncated", { 0, 2, 4 }, { { 13, "damaged" } }, "damaged");
    add("trl-v2-empty-step", { 0, 1, 2, 3, 4 }, allOf(6, 9, "unverified"), "unverified");
    add("trl-v2-gap-in-chain", { 2 }, allOf(7, 9, "unverified"), "unverified");
    add("trl-v2-gap-in-chain", { 3, 4 }, allOf(7, 9, "incomplete"), "incomplete");
    add("trl-v2-restart", { 0, 3 }, allOf(7, 9, "incomplete"), "incomplete");
    add("trl-v2-drift-bf16", { 4 },
        joined(joined(joined(allOf(1, 5, "first_sight"), { { 6, "consistent" } }), allOf(7, 11, "first_sight")),
               { { 12, "consistent" }, { 13, "first_sight" } }),
        "first_sight");
    add("trl-v2-partial-anchor", { 3, 4 }, allOf(1, 13, "first_sight"), "first_sight");
    add("hf-sharded", { 0, 1 }, { { 0, "unverified" }, { 10, "unverified" }, { 20, "unverified" } }, "unverified");
    add("hf-sharded", { 2, 3, 4 }, { { 0, "first_sight" }, { 10, "first_sight" }, { 20, "first_sight" } },
        "first_sight");
    return out;
}

class VerifyWords : public testing::TestWithParam<Expectation> { };

TEST_P(VerifyWords, AreAsDesigned)
{
    const GoldenCopy golden(GetParam().bucket);
    VerifySession session;
    const VerifyReport report = session.verify(golden, GetParam().level);
    const Words words = session.words(report);
    for (const auto& [step, expected] : GetParam().words) {
        ASSERT_TRUE(words.contains(step)) << step;
        EXPECT_EQ(words.at(step), expected.empty() ? words.at(step) : expected) << "step " << step;
    }
    EXPECT_EQ(word(report.verdict), GetParam().run);
    EXPECT_EQ(report.level, GetParam().level);
}

INSTANTIATE_TEST_SUITE_P(Buckets, VerifyWords, testing::ValuesIn(expectations()), [](const auto& info) {
    return test::testName(fmt::format("{}_level_{}", info.param.bucket, info.param.level));
});

TEST(Verify, WithoutRecordsNothingIsFirstSight)
{
    const GoldenCopy golden("trl-v2-gap");
    VerifySession session;
    session.bench.records = nullptr;
    EXPECT_EQ(session.words(session.verify(golden, 3)), allOf(1, 15, "unverified"));
}

TEST(Verify, ARunWithoutVersionsIsUnverified)
{
    VerifySession session;
    EngineRun run;
    run.store = std::make_shared<MemoryStore>();
    run.layout = builtinLayouts().find("trl-v2");
    run.totalElements.resize(1);
    const auto report = verifyRun(session.bench, run, {}, session.task);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->verdict, Verdict::Unverified);
    EXPECT_TRUE(report->steps.empty());
}

TEST(Verify, AStepAloneGetsTheWordThatItHasInTheRun)
{
    for (const char* bucket :
         { "slime-v2-overwrite", "slime-v2-badchecksum", "trl-v2-gap-in-chain", "trl-v2-empty-step" }) {
        const GoldenCopy golden(bucket);
        VerifySession whole;
        const Words expected = whole.words(whole.verify(golden, 4));
        for (std::size_t i = 0; i < whole.run.versions.size(); ++i) {
            VerifySession session;
            const VerifyReport report = session.verify(golden, 4, std::pair(i, i));
            ASSERT_EQ(report.steps.size(), 1U);
            const std::int64_t step = session.run.versions[i].step();
            EXPECT_EQ(word(report.steps[0].verdict), expected.at(step)) << bucket << " step " << step;
        }
    }
}

TEST(Verify, TheFirstAnchorDoesNotLowerTheWordOfARun)
{
    const GoldenCopy golden("trl-v2-gap");
    VerifySession session;
    EXPECT_EQ(session.verify(golden, 4, std::pair<std::size_t, std::size_t>(0, 9)).verdict, Verdict::Consistent);
    EXPECT_EQ(session.verify(golden, 4, std::pair<std::size_t, std::size_t>(0, 0)).verdict, Verdict::FirstSight)
        << "if nothing else is left, the word is that anchor's";
    session.bench.records = nullptr;
    EXPECT_EQ(session.verify(golden, 4, std::pair<std::size_t, std::size_t>(0, 9)).verdict, Verdict::Unverified)
        << "it is worse than read for the first time";
}

TEST(Verify, SaysUpToWhereAnEpochIsConsistent)
{
    const GoldenCopy golden("trl-v2-gap");
    VerifySession session;
    const VerifyReport report = session.verify(golden, 4);
    ASSERT_EQ(report.consistentTo.size(), 1U);
    EXPECT_EQ(report.consistentTo[0].step, 10);
    EXPECT_EQ(report.verdict, Verdict::FirstSight) << "nothing follows step 15 to compare it with";
    EXPECT_EQ(session.verify(golden, 3).consistentTo[0].step, std::nullopt);
    EXPECT_TRUE(session.verify(golden, 2).consistentTo.empty());
}

TEST(Verify, CountsWhatVouchesForTheTensorsOfAStep)
{
    const GoldenCopy golden("slime-v2-xor");
    VerifySession session;
    const VerifyReport report = session.verify(golden, 3);
    const Coverage& coverage = *session.step(report, 9).coverage;
    EXPECT_EQ(coverage.of(Evidence::Digest), 16U);
    EXPECT_EQ(coverage.of(Evidence::Base), 9U);
    EXPECT_EQ(coverage.tensors(), 25U);
    EXPECT_EQ(coverage.weakest.size(), 9U);
    EXPECT_FALSE(session.step(session.verify(golden, 2), 9).coverage) << "nothing was replayed";
}

TEST(Verify, ADamagedStepSaysWhatItsPublisherRecorded)
{
    const GoldenCopy golden("slime-v2-badchecksum");
    VerifySession session;
    const VerifyReport report = session.verify(golden, 3);
    const StepVerdict& step = session.step(report, 3);
    ASSERT_FALSE(step.problems.empty());
    EXPECT_EQ(step.problems.front().code, Code::Digest);
    EXPECT_EQ(step.problems.front().step, 3);
    for (const char* part :
         { "model.embed_tokens.weight", "0b44f150b412069ffdab229cdb33bcd9", "4b44f150b412069ffdab229cdb33bcd9" })
        EXPECT_NE(step.problems.front().text.find(part), std::string::npos) << step.problems.front().text;
}

TEST(Verify, AWrongBaseIsNamedAsSuch)
{
    const GoldenCopy golden("slime-v2-wrongbase");
    VerifySession session;
    const VerifyReport report = session.verify(golden, 3);
    EXPECT_EQ(session.step(report, 1).problems.front().code, Code::BaseMismatch);
}

TEST(Verify, VerifyingTwiceGivesTheSameWords)
{
    const GoldenCopy golden("trl-v2-gap-in-chain");
    VerifySession session;
    const Words first = session.words(session.verify(golden, 4));
    EXPECT_EQ(session.words(session.verify(golden, 4)), first);
}

TEST(Verify, AStoppedVerificationIsCanceled)
{
    const GoldenCopy golden("trl-v2-gap");
    VerifySession session;
    ASSERT_TRUE(session.tryVerify(golden.store, {}, 0));
    session.task.requestStop();
    VerifyOptions options;
    options.level = 2;
    EXPECT_EQ(errorOf(verifyRun(session.bench, session.run, options, session.task)).code, Code::Canceled);
}

// --- roots and drift -------------------------------------------------------------------------------------------------

TEST(VerifyRoots, AreGivenForAnchorsAndTheLastStepAtLevelFour)
{
    const GoldenCopy golden("trl-v2-gap");
    VerifySession session;
    const VerifyReport report = session.verify(golden, 4);
    for (const StepVerdict& step : report.steps) {
        const std::int64_t number = session.run.versions[step.version].step();
        EXPECT_EQ(step.root.empty(), number != 1 && number != 10 && number != 15) << number;
    }
}

TEST(VerifyRoots, EqualTheDigestOfTheState)
{
    const GoldenCopy golden("trl-v2-gap");
    VerifySession session;
    const VerifyReport report = session.verify(golden, 4);
    const auto plan = planFor(session.run, *session.run.find(15));
    ASSERT_TRUE(plan);
    const auto path = openPath(session.run, *plan, { 2 }, session.task);
    ASSERT_TRUE(path);
    const auto digest = digestState(session.bench, **path, session.task);
    ASSERT_TRUE(digest);
    EXPECT_EQ(session.step(report, 15).root, toHex(digest->root.strong));
}

TEST(VerifyRoots, AreNotGivenBelowLevelFour)
{
    const GoldenCopy golden("trl-v2-gap");
    VerifySession session;
    for (const StepVerdict& step : session.verify(golden, 3).steps)
        EXPECT_EQ(step.root, "");
}

TEST(VerifyDrift, AnAnchorSaysHowFarItIsFromTheReplay)
{
    const GoldenCopy golden("trl-v2-drift-bf16");
    VerifySession session;
    const VerifyReport report = session.verify(golden, 4);
    ASSERT_TRUE(session.step(report, 6).drift);
    EXPECT_EQ(session.step(report, 6).drift->differs, 586U);
    ASSERT_TRUE(session.step(report, 12).drift);
    EXPECT_EQ(session.step(report, 12).drift->differs, 2U);
    EXPECT_EQ(session.step(report, 12).drift->estimate, 0U);
    EXPECT_FALSE(session.step(report, 5).drift);
}

// --- digests of the publisher ----------------------------------------------------------------------------------------

TEST(VerifyDigests, CountWhatWasCompared)
{
    const GoldenCopy golden("slime-v2-xor");
    VerifySession session;
    const VerifyReport report = session.verify(golden, 3);
    EXPECT_GT(session.step(report, 1).digestsChecked, 0U);
    EXPECT_EQ(session.step(report, 5).digestsChecked, 0U); // an empty version
}

TEST(VerifyDigests, WithoutThemNothingIsVerified)
{
    const GoldenCopy golden("slime-v2-overwrite");
    for (int step = 1; step <= 7; ++step) {
        golden.edit(fmt::format("weight_v{:06}/model.safetensors.index.json", step), [](std::string& text) {
            Json index = Json::parse(text);
            index["metadata"].erase("checksum_format");
            text = index.dump();
        });
    }
    VerifySession session;
    for (const int level : { 3, 4 }) {
        for (const auto& [step, verdict] : session.words(session.verify(golden, level)))
            EXPECT_NE(verdict, "verified") << "step " << step << " at level " << level;
    }
}

TEST(VerifyDigests, AnEmptyStepOnABaseThatNobodyVouchesForIsNotVerified)
{
    const auto store = std::make_shared<MemoryStore>();
    ASSERT_TRUE(putText(*store, "weight_v000001/model.safetensors.index.json",
                        R"({"metadata":{"version":"000001","base_version":"000000","delta_encoding":"xor",)"
                        R"("compression_format":"zstd","checksum_format":"xxh3-128"},"weight_map":{}})"));
    VerifySession session;
    const auto report = session.tryVerify(store, localStore(goldenPath("slime-v2-xor/base")), 4);
    ASSERT_TRUE(report) << report.error().text;
    ASSERT_EQ(report->steps.size(), 1U);
    EXPECT_NE(report->verdict, Verdict::Verified);
}

TEST(VerifyDigests, AFlippedPayloadBitIsDamage)
{
    const GoldenCopy golden("slime-v2-overwrite");
    std::string file;
    for (const auto& entry : std::filesystem::directory_iterator(golden.file("weight_v000003"))) {
        if (entry.path().extension() == ".safetensors")
            file = "weight_v000003/" + entry.path().filename().string();
    }
    golden.edit(file,
                [](std::string& bytes) { bytes[bytes.size() - 6] = static_cast<char>(bytes[bytes.size() - 6] ^ 1); });
    VerifySession session;
    const Words words = session.words(session.verify(golden, 3));
    EXPECT_EQ(words.at(2), "verified");
    EXPECT_EQ(words.at(3), "damaged");
    EXPECT_EQ(words.at(4), "incomplete");
}

// --- first sight -----------------------------------------------------------------------------------------------------

TEST(VerifyRecords, EachObjectIsRememberedOnce)
{
    const GoldenCopy golden("trl-v2-gap");
    VerifySession session;
    session.verify(golden, 2);
    session.verify(golden, 2);
    for (const Version& version : session.run.versions) {
        for (const ObjectInfo& object : version.objects.objects) {
            const auto sights = session.records->sights(golden.store->uri(), object.key);
            ASSERT_TRUE(sights);
            ASSERT_EQ(sights->size(), 1U) << object.key;
            EXPECT_EQ(sights->front().sizeBytes, object.sizeBytes);
            EXPECT_EQ(sights->front().seenUs, session.now);
            const auto bytes = readWhole(*golden.store, object.key, 1 << 20, test::anyTask());
            ASSERT_TRUE(bytes);
            EXPECT_EQ(sights->front().xxh3, toHex(xxh3(*bytes)));
        }
    }
}

TEST(VerifyRecords, RotWithUnchangedIdentityIsDamage)
{
    const GoldenCopy golden("trl-v2-gap");
    VerifySession session;
    session.verify(golden, 2);
    const auto rotten = std::make_shared<FaultyStore>(golden.store);
    const ObjectInfo victim = *golden.store->stat("deltas/step_000004.safetensors", test::anyTask());
    rotten->flipBit(victim.key, victim.sizeBytes - 1, 3);
    const auto report = session.tryVerify(rotten, {}, 2);
    ASSERT_TRUE(report);
    const StepVerdict& step = session.step(*report, 4);
    EXPECT_EQ(step.verdict, Verdict::Damaged);
    ASSERT_TRUE(has(step.problems, Code::Digest));
    EXPECT_EQ(step.problems.back().where, victim.key);
    EXPECT_EQ(step.problems.back().step, 4);
    EXPECT_EQ(report->verdict, Verdict::Damaged);
}

TEST(VerifyRecords, StepsThatStandOnRotAreNotSound)
{
    const GoldenCopy golden("trl-v2-gap");
    VerifySession session;
    session.verify(golden, 2);
    const auto rotten = std::make_shared<FaultyStore>(golden.store);
    const ObjectInfo victim = *golden.store->stat("anchors/step_000001.safetensors", test::anyTask());
    rotten->flipBit(victim.key, victim.sizeBytes - 1, 3);
    const auto report = session.tryVerify(rotten, {}, 4);
    ASSERT_TRUE(report);
    const Words words = session.words(*report);
    EXPECT_EQ(words.at(1), "damaged");
    for (std::int64_t step = 2; step <= 9; ++step)
        EXPECT_EQ(words.at(step), "incomplete") << step;
    EXPECT_EQ(words.at(11), "first_sight");
}

TEST(VerifyRecords, ARewrittenObjectIsToldWithBothIdentities)
{
    const GoldenCopy golden("trl-v2-gap");
    VerifySession session;
    session.verify(golden, 2);
    const std::string key = "deltas/step_000012.safetensors";
    const std::string before = golden.store->stat(key, test::anyTask())->identity;
    golden.edit(key, [](std::string& bytes) { bytes.back() = static_cast<char>(bytes.back() ^ 1); });
    const std::string after = golden.store->stat(key, test::anyTask())->identity;
    ASSERT_NE(before, after);
    const VerifyReport report = session.verify(golden, 2);
    const StepVerdict& step = session.step(report, 12);
    ASSERT_TRUE(has(step.problems, Code::Rewritten));
    const Error& rewritten = step.problems.back();
    EXPECT_EQ(rewritten.where, key);
    EXPECT_NE(rewritten.text.find(before), std::string::npos) << rewritten.text;
    EXPECT_NE(rewritten.text.find(after), std::string::npos);
    EXPECT_EQ(session.records->sights(golden.store->uri(), key)->size(), 2U);
}

TEST(VerifyRecords, ARewrittenObjectIsToldUntilItIsAccepted)
{
    const GoldenCopy golden("trl-v2-gap");
    VerifySession session;
    session.verify(golden, 2);
    golden.edit("deltas/step_000005.safetensors", [](std::string& bytes) {
        const std::size_t headerBytes = loadLe<std::uint64_t>(asBytes(bytes));
        const auto header = nlohmann::json::parse(bytes.substr(8, headerBytes));
        for (const auto& [name, entry] : header.items()) {
            if (!name.ends_with(".val"))
                continue;
            bytes[8 + headerBytes + entry["data_offsets"][0].get<std::size_t>() + 1] ^= 0x20; // another value
            return;
        }
    });
    for (const int level : { 2, 2, 3, 4 }) {
        const VerifyReport report = session.verify(golden, level);
        EXPECT_TRUE(has(session.step(report, 5).problems, Code::Rewritten)) << level;
        EXPECT_EQ(session.step(report, 5).verdict, Verdict::Unverified) << level;
        EXPECT_LE(session.step(report, 4).verdict, Verdict::FirstSight) << level;
        EXPECT_EQ(session.step(report, 6).verdict, Verdict::Unverified) << "it builds on a rewritten step";
        EXPECT_FALSE(has(session.step(report, 6).problems, Code::Rewritten));
    }
    session.acceptRewritten = true;
    const VerifyReport accepted = session.verify(golden, 2);
    session.acceptRewritten = false;
    EXPECT_FALSE(has(session.step(accepted, 5).problems, Code::Rewritten));
    EXPECT_EQ(session.step(accepted, 5).verdict, Verdict::FirstSight);
    EXPECT_EQ(accepted.accepted, std::vector<std::string> { "deltas/step_000005.safetensors" });
    const VerifyReport behind = session.verify(golden, 2);
    EXPECT_EQ(session.step(behind, 5).verdict, Verdict::FirstSight);
    EXPECT_TRUE(behind.accepted.empty());
}

TEST(VerifyRecords, ACopyWithEqualBytesIsNotCalledRewritten)
{
    const GoldenCopy golden("trl-v2-gap");
    VerifySession session;
    session.verify(golden, 2);
    golden.edit("deltas/step_000012.safetensors", [](std::string&) {});
    EXPECT_FALSE(has(session.step(session.verify(golden, 2), 12).problems, Code::Rewritten));
}

TEST(VerifyRecords, WhatIsStillBeingWrittenHasNoFirstSight)
{
    const GoldenCopy golden("trl-v2-truncated");
    VerifySession session;
    session.now = golden.store->stat("deltas/step_000013.safetensors", test::anyTask())->modifiedUs + 1'000'000;
    const VerifyReport report = session.verify(golden, 2);
    EXPECT_EQ(session.step(report, 13).verdict, Verdict::Incomplete);
    EXPECT_TRUE(session.records->sights(golden.store->uri(), "deltas/step_000013.safetensors")->empty());
}

/// A store in which every object gets another identity once it was read.
class RestlessStore final : public test::ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;
    Result<ObjectInfo> stat(std::string_view key, TaskContext& task) const override
    {
        DS_TRY(ObjectInfo info, ForwardingStore::stat(key, task));
        info.identity += " changed";
        return info;
    }
};

TEST(VerifyRecords, AnObjectThatChangesWhileItIsReadIsToldAndNotRemembered)
{
    const GoldenCopy golden("trl-v2-gap");
    VerifySession session;
    const auto report = session.tryVerify(std::make_shared<RestlessStore>(golden.store), {}, 2);
    ASSERT_TRUE(report);
    EXPECT_TRUE(has(session.step(*report, 3).problems, Code::Rewritten));
    EXPECT_TRUE(session.records->sights(golden.store->uri(), "deltas/step_000003.safetensors")->empty());
}

/// A store that keeps digests, but none of anchors, and cannot tell of one delta whether all its bytes have it.
class DigestingStore final : public test::ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;
    ReadProof proofOf(const ObjectRef& object) const override
    {
        if (object.key.find("anchor") != std::string_view::npos)
            return ReadProof::None;
        return object.key == "deltas/step_000003.safetensors" ? ReadProof::Partial : ReadProof::Proven;
    }
};

TEST(VerifyRecords, CountsWhatTheDigestsOfTheStoreHaveShown)
{
    const GoldenCopy golden("trl-v2-raw");
    VerifySession session;
    const auto store = std::make_shared<DigestingStore>(golden.store);
    const auto listed = session.tryVerify(store, {}, 1);
    ASSERT_TRUE(listed);
    EXPECT_FALSE(listed->storeDigests) << "headers are no whole objects";
    const auto read = session.tryVerify(store, {}, 2);
    ASSERT_TRUE(read);
    ASSERT_TRUE(read->storeDigests);
    std::uint64_t anchors = 0;
    std::uint64_t objects = 0;
    for (const Version& version : session.run.versions) {
        for (const ObjectInfo& object : version.objects.objects) {
            ++objects;
            anchors += object.key.find("anchor") != std::string::npos ? 1 : 0;
        }
    }
    ASSERT_GT(anchors, 0U);
    EXPECT_EQ(read->storeDigests->none, anchors);
    EXPECT_EQ(read->storeDigests->uncompared, 1U);
    EXPECT_EQ(read->storeDigests->equal, objects - anchors - 1);
}

TEST(VerifyRecords, AFolderKeepsNoDigests)
{
    const GoldenCopy golden("trl-v2-raw");
    VerifySession session;
    const VerifyReport report = session.verify(golden, 2);
    ASSERT_TRUE(report.storeDigests);
    EXPECT_EQ(report.storeDigests->equal + report.storeDigests->uncompared, 0U);
    EXPECT_GT(report.storeDigests->none, 0U);
}

// --- what happens between opening and verifying ----------------------------------------------------------------------

/// Opens the run, then lets `happen` happen, then verifies.
VerifyReport afterOpening(VerifySession& session, const GoldenCopy& golden, int level,
                          const std::function<void()>& happen)
{
    auto run = session.open(golden.store);
    EXPECT_TRUE(run);
    session.run = std::move(*run);
    happen();
    VerifyOptions options;
    options.level = level;
    auto report = verifyRun(session.bench, session.run, options, session.task);
    EXPECT_TRUE(report) << report.error().text;
    return report ? std::move(*report) : VerifyReport();
}

TEST(VerifyLater, AnObjectThatVanishedMakesItsStepsIncomplete)
{
    for (const int level : { 1, 2, 3, 4 }) {
        const GoldenCopy golden("trl-v2-gap");
        VerifySession session;
        const Words words = session.words(afterOpening(
            session, golden, level, [&] { std::filesystem::remove(golden.file("deltas/step_000012.safetensors")); }));
        ASSERT_FALSE(words.empty()) << level;
        for (std::int64_t step = 12; step <= 15; ++step)
            EXPECT_EQ(words.at(step), "incomplete") << "step " << step << " at level " << level;
    }
}

TEST(VerifyLater, AnObjectThatWasCutShortIsDamaged)
{
    for (const int level : { 2, 3, 4 }) {
        const GoldenCopy golden("trl-v2-gap");
        VerifySession session;
        const VerifyReport report = afterOpening(session, golden, level, [&] {
            golden.edit("deltas/step_000012.safetensors", [](std::string& bytes) { bytes.resize(bytes.size() - 100); });
        });
        ASSERT_FALSE(report.steps.empty()) << level;
        EXPECT_EQ(session.words(report).at(12), "damaged") << level;
        EXPECT_EQ(session.words(report).at(13), "incomplete") << level;
        EXPECT_EQ(session.words(report).at(10), level == 4 ? "consistent" : "first_sight") << level;
    }
}

TEST(VerifyLater, AHeaderThatTurnedBadIsFoundAtLevelOne)
{
    const GoldenCopy golden("trl-v2-gap");
    VerifySession session;
    const VerifyReport report = afterOpening(session, golden, 1, [&] {
        golden.edit("deltas/step_000012.safetensors", [](std::string& bytes) { bytes[9] = 'x'; });
    });
    ASSERT_FALSE(report.steps.empty());
    EXPECT_EQ(session.words(report).at(12), "damaged");
    EXPECT_EQ(session.words(report).at(11), "unverified");
}

} // namespace
} // namespace deltascope
