#include "deltascope/engine/operations.h"

#include "golden_copy.h"
#include "run_steps.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <string>

// What a verification says of steps that build on objects that were rewritten, in its range and in front of it.

namespace deltascope {
namespace {

using namespace layout_test;
using EngineRun = deltascope::Run;

bool speaksOf(const std::vector<Error>& problems, Code code, std::string_view where)
{
    return std::any_of(problems.begin(), problems.end(),
                       [&](const Error& problem) { return problem.code == code && problem.where == where; });
}

/// A golden bucket of which everything is on record.
class OnRecord {
public:
    explicit OnRecord(const char* golden)
        : m_golden(golden)
    {
        m_session.openRecords();
        verify(2);
    }

    /// Writes an object again, whose last value moves by one bit.
    void rewrite(const std::string& key) const
    {
        m_golden.edit(key, [](std::string& bytes) { bytes[bytes.size() - 2] ^= 1; });
    }
    VerifyReport verify(int level, std::optional<std::pair<std::int64_t, std::int64_t>> steps = {}, bool accept = false)
    {
        auto opened = m_session.open(m_golden.store, m_golden.base);
        EXPECT_TRUE(opened) << opened.error().text;
        run = std::move(*opened);
        VerifyOptions options;
        options.level = level;
        options.acceptRewritten = accept;
        if (steps)
            options.range = { indexOf(steps->first), indexOf(steps->second) };
        auto report = verifyRun(m_session.bench, run, options, m_session.task);
        EXPECT_TRUE(report) << report.error().text;
        return report ? std::move(*report) : VerifyReport();
    }
    Words words(int level, std::optional<std::pair<std::int64_t, std::int64_t>> steps = {})
    {
        return wordsOf(run, verify(level, steps));
    }
    Result<CheckpointDigest> digest(std::int64_t step)
    {
        DS_TRY(run, m_session.open(m_golden.store, m_golden.base));
        DS_TRY(const Plan plan, planFor(run, *run.find(step)));
        DS_TRY(const PathPtr path, openChecked(m_session.bench, run, plan, false, m_session.task));
        return digestState(m_session.bench, *path, m_session.task);
    }

    EngineRun run;

private:
    std::size_t indexOf(std::int64_t step) const
    {
        return static_cast<std::size_t>(run.find(step) - run.versions.data());
    }

    GoldenCopy m_golden;
    Session m_session;
};

TEST(VerifyRange, StandsOnWhatWasRewrittenInFrontOfIt)
{
    for (const char* const rewritten : { "anchors/step_000010.safetensors", "deltas/step_000012.safetensors" }) {
        for (const int level : { 0, 2, 3, 4 }) {
            SCOPED_TRACE(fmt::format("{} {}", rewritten, level));
            OnRecord bucket("trl-v2-raw");
            const VerifyReport sound = bucket.verify(level, { { 13, 14 } });
            EXPECT_FALSE(speaksOf(sound.problems, Code::Rewritten, rewritten));
            EXPECT_EQ(sound.verdict, level < 2 ? Verdict::Unverified : Verdict::FirstSight);
            bucket.rewrite(rewritten);
            const VerifyReport report = bucket.verify(level, { { 13, 14 } });
            ASSERT_EQ(report.steps.size(), 2U);
            for (const StepVerdict& step : report.steps)
                EXPECT_EQ(step.verdict, Verdict::Unverified) << step.version;
            // Without reading it, the other bytes of an object are not known to be others.
            EXPECT_TRUE(speaksOf(report.problems, level < 2 ? Code::Unproven : Code::Rewritten, rewritten));
        }
    }
}

TEST(VerifyRange, IsNotConcernedByWhatWasRewrittenBesideIt)
{
    OnRecord bucket("trl-v2-raw");
    bucket.rewrite("deltas/step_000004.safetensors");
    const VerifyReport report = bucket.verify(3, { { 11, 14 } }); // which begin with the anchor of step 10
    EXPECT_EQ(report.verdict, Verdict::FirstSight);
    EXPECT_TRUE(report.problems.empty());
}

TEST(VerifyRange, AcceptsWhatItBuildsOn)
{
    OnRecord bucket("trl-v2-raw");
    bucket.rewrite("deltas/step_000012.safetensors");
    EXPECT_EQ(bucket.digest(14).error().code, Code::Rewritten);
    EXPECT_EQ(bucket.verify(2, { { 14, 14 } }).verdict, Verdict::Unverified);
    EXPECT_EQ(bucket.verify(2, { { 14, 14 } }, true).verdict, Verdict::FirstSight);
    EXPECT_TRUE(bucket.digest(14));
}

TEST(VerifyRange, AnAnchorBehindARewriteIsNotCountedAgainstIt)
{
    OnRecord bucket("trl-v2-raw");
    const std::optional<Drift> before = bucket.verify(3, { { 10, 10 } }).steps.front().drift;
    ASSERT_TRUE(before);
    bucket.rewrite("deltas/step_000008.safetensors");
    for (const std::int64_t first : { 1, 10 })
        EXPECT_FALSE(bucket.verify(3, { { first, 10 } }).steps.back().drift) << first;
    EXPECT_EQ(bucket.verify(3, { { 10, 10 } }).verdict, Verdict::FirstSight) << "it stands alone";
}

/// What an anchor vouches for is what leads to it as it is on record.
TEST(VerifyRange, NoAnchorVouchesForWhatWasRewritten)
{
    OnRecord bucket("trl-v2-raw");
    EXPECT_GT(bucket.verify(4, { { 5, 5 } }).steps.front().coverage->of(Evidence::Anchor), 0U);
    bucket.rewrite("deltas/step_000004.safetensors");
    const VerifyReport report = bucket.verify(4, { { 5, 5 } });
    ASSERT_TRUE(report.steps.front().coverage);
    EXPECT_EQ(report.steps.front().coverage->of(Evidence::Anchor), 0U);
}

/// Its digests fail; what follows builds on another anchor.
TEST(VerifyBehindARewrite, EachStretchIsReplayed)
{
    OnRecord bucket("trl-v1.0");
    const Words sound = bucket.words(3);
    bucket.rewrite("anchors/step_000006.safetensors");
    const Words words = bucket.words(3);
    EXPECT_EQ(words.at(12), sound.at(12));
    EXPECT_EQ(words.at(13), sound.at(13));
    EXPECT_EQ(sound.at(13), "verified");
    EXPECT_NE(words.at(7), "verified");
}

TEST(VerifyBehindARewrite, DamageIsFound)
{
    OnRecord bucket("trl-v1.0");
    bucket.rewrite("anchors/step_000006.safetensors");
    bucket.rewrite("deltas/step_000013.safetensors");
    EXPECT_EQ(bucket.words(3).at(13), "damaged");
    EXPECT_EQ(bucket.words(3, { { 12, 13 } }).at(13), "damaged");
}

/// At level 4 roots are made of states that cannot be rebuilt: that ends no report.
TEST(VerifyBehindARewrite, AStateThatCannotBeRebuiltHasNoRoot)
{
    OnRecord bucket("slime-v2-xor");
    const std::vector<ObjectInfo>& objects = bucket.run.versions[1].objects.objects;
    const auto payload = std::find_if(objects.begin(), objects.end(),
                                      [](const ObjectInfo& object) { return object.key.ends_with(".safetensors"); });
    ASSERT_NE(payload, objects.end());
    bucket.rewrite(payload->key);
    const VerifyReport report = bucket.verify(4);
    EXPECT_EQ(report.steps.size(), bucket.run.versions.size());
    EXPECT_NE(report.verdict, Verdict::Verified);
    EXPECT_TRUE(report.steps.back().root.empty());
}

} // namespace
} // namespace deltascope
