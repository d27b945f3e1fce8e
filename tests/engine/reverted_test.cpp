#include "golden_copy.h"
#include "run_steps.h"
#include "tiny_run.h"

#include <numeric>

// Complete states that are earlier ones, in whole or in part.

namespace deltascope {
namespace {

using namespace layout_test;

constexpr std::size_t Elements = 256;

Bits range(std::uint16_t first, std::uint16_t count)
{
    Bits positions(count);
    std::iota(positions.begin(), positions.end(), first);
    return positions;
}

/// Steps 1 to 6, each of which changes `each` elements once. The anchor at 5 holds the state of step `state`, 4 being
/// the one in front of it, plus `own` elements of its own.
TinyRun runWithAnchor(int state, std::uint16_t each, std::uint16_t own)
{
    TinyRun run;
    Bits w(Elements, 0);
    run.anchor(1, w);
    Bits anchor = w;
    for (int step = 2; step <= 4; ++step) {
        const Bits positions = range(static_cast<std::uint16_t>((step - 2) * each), each);
        for (const std::uint16_t position : positions)
            w[position] = static_cast<std::uint16_t>(step);
        run.delta(step, positions, Bits(each, static_cast<std::uint16_t>(step)));
        if (step == state)
            anchor = w;
    }
    for (std::size_t i = 0; i < own; ++i)
        anchor[Elements - 1 - i] = 5;
    run.anchor(5, anchor);
    run.delta(6, { 250 }, { 6 });
    return run;
}

std::string revertedAt(const deltascope::Run& run, std::int64_t at)
{
    for (const Error& problem : step(run, at).problems) {
        if (problem.code == Code::Reverted)
            return problem.text;
    }
    return {};
}

TEST(Reverted, AnAnchorThatIsAnEarlierStateIsNamed)
{
    Session session;
    auto run = session.analyzed(runWithAnchor(2, 40, 0).store);
    EXPECT_NE(revertedAt(run, 5).find("is the state of step 2 again"), std::string::npos) << revertedAt(run, 5);
    const auto report = verifyRun(session.bench, run, { 4, {}, false }, session.task);
    ASSERT_TRUE(report);
    for (const auto& [step, word] : wordsOf(run, *report))
        EXPECT_NE(word, "consistent") << step;
}

TEST(Reverted, BeingEqualToTheReplayIsAgreement)
{
    Session session;
    EXPECT_EQ(revertedAt(session.analyzed(runWithAnchor(4, 40, 0).store), 5), "");
}

TEST(Reverted, AStepOfItsOwnIsNone)
{
    Session session;
    EXPECT_EQ(revertedAt(session.analyzed(runWithAnchor(4, 40, 40).store), 5), "");
}

TEST(Reverted, FewChangesTellNothing)
{
    Session session;
    EXPECT_EQ(revertedAt(session.analyzed(runWithAnchor(2, 10, 0).store), 5), "");
}

// --- an anchor that differs by less than a step ----------------------------------------------------------------------

TEST(SmallDrift, IsNamedAndNoAlarm)
{
    Session session;
    auto run = session.analyzed(runWithAnchor(4, 40, 2).store);
    EXPECT_EQ(countNotes(step(run, 5).problems, Code::Missed), 0U) << "the next delta changed one element";
    TinyRun quiet = runWithAnchor(4, 40, 2);
    quiet.delta(6, range(200, 40), Bits(40, 6));
    run = session.analyzed(quiet.store);
    EXPECT_EQ(countNotes(step(run, 5).problems, Code::Missed), 1U);
    EXPECT_FALSE(step(run, 5).driftAlarm);
}

TEST(SmallDrift, IsNeitherNothingNorAStep)
{
    Session session;
    for (const std::uint16_t own : { 0, 40 }) {
        TinyRun tiny = runWithAnchor(4, 40, own);
        tiny.delta(6, range(200, 40), Bits(40, 6));
        EXPECT_EQ(countNotes(step(session.analyzed(tiny.store), 5).problems, Code::Missed), 0U) << own;
    }
}

// --- checkpoints that stand alone ------------------------------------------------------------------------------------

/// Checkpoints of two shards; each number names the bytes of a shard.
struct Checkpoints {
    explicit Checkpoints(const std::vector<std::pair<int, int>>& shards)
    {
        session.openRecords();
        int step = 0;
        for (const auto& [first, second] : shards) {
            step += 10;
            const std::string folder = fmt::format("checkpoint-{}/", step);
            put(folder + "model-00001-of-00002.safetensors", "a", first);
            put(folder + "model-00002-of-00002.safetensors", "b", second);
            EXPECT_TRUE(putText(*store, folder + "model.safetensors.index.json",
                                R"({"metadata":{},"weight_map":{"a":"model-00001-of-00002.safetensors",)"
                                R"("b":"model-00002-of-00002.safetensors"}})"));
        }
    }
    void put(const std::string& key, const std::string& name, int bytes) const
    {
        EXPECT_TRUE(putText(*store, key,
                            safetensorsFile({ { tensor(name, { 4 }), std::string(8, static_cast<char>(bytes)) } })));
    }
    deltascope::Run verified()
    {
        auto run = session.open(store);
        EXPECT_TRUE(run);
        const auto report = verifyRun(session.bench, *run, { 2, {}, false }, session.task);
        EXPECT_TRUE(report);
        verdict = report->verdict;
        return std::move(*session.open(store));
    }

    std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>();
    Session session;
    Verdict verdict = Verdict::Damaged;
};

std::size_t named(const deltascope::Run& run, std::int64_t at)
{
    return countNotes(step(run, at).problems, Code::Reverted);
}
std::size_t noticed(const deltascope::Run& run, std::int64_t at)
{
    return countNotes(step(run, at).problems, Code::Repeated);
}

TEST(RepeatedFiles, AShardThatMovedInEveryOtherIntervalIsNamed)
{
    for (const std::int64_t stale : { 30, 40 }) {
        Checkpoints checkpoints({ { 1, 1 }, { 2, 2 }, { 3, stale == 30 ? 2 : 3 }, { 4, stale == 40 ? 3 : 4 } });
        const auto run = checkpoints.verified();
        EXPECT_EQ(checkpoints.verdict, Verdict::FirstSight) << "the status stays what it was";
        for (const std::int64_t at : { 10, 20, 30, 40 })
            EXPECT_EQ(named(run, at), at == stale ? 1U : 0U) << at;
        EXPECT_NE(revertedAt(run, stale).find("model-00002-of-00002.safetensors"), std::string::npos);
    }
}

TEST(RepeatedFiles, AFrozenShardIsNotSuspected)
{
    const auto run = Checkpoints({ { 1, 1 }, { 2, 1 }, { 3, 1 }, { 4, 1 } }).verified();
    for (const std::int64_t at : { 10, 20, 30, 40 })
        EXPECT_EQ(named(run, at) + noticed(run, at), 0U) << at;
}

TEST(RepeatedFiles, TheFinalModelBesideTheCheckpointsIsNone)
{
    Checkpoints checkpoints({ { 1, 1 }, { 2, 2 }, { 3, 3 } });
    const std::vector<ObjectInfo> newest = *listAll(*checkpoints.store, "checkpoint-30/", test::anyTask());
    for (const ObjectInfo& object : newest) {
        const auto bytes = readWhole(*checkpoints.store, object.key, 1 << 20, test::anyTask()).value();
        ASSERT_TRUE(
            putText(*checkpoints.store, object.key.substr(object.key.find('/') + 1), std::string(asText(bytes))));
    }
    const auto run = checkpoints.verified();
    for (const std::int64_t at : { 0, 10, 20, 30 })
        EXPECT_EQ(named(run, at) + noticed(run, at), 0U) << at;
}

TEST(RepeatedFiles, WithTooFewIntervalsItIsANotice)
{
    const auto run = Checkpoints({ { 1, 1 }, { 2, 2 }, { 3, 2 } }).verified();
    EXPECT_EQ(named(run, 30), 0U);
    EXPECT_EQ(noticed(run, 30), 1U);
}

TEST(RepeatedFiles, AnOlderStateIsNamedAndOneThatDidNotMoveIsNot)
{
    const auto back = Checkpoints({ { 1, 1 }, { 2, 2 }, { 3, 3 }, { 2, 2 } }).verified();
    EXPECT_NE(revertedAt(back, 40).find("is the state of step 20 again"), std::string::npos) << revertedAt(back, 40);
    const auto still = Checkpoints({ { 1, 1 }, { 2, 2 }, { 3, 3 }, { 3, 3 } }).verified();
    EXPECT_EQ(named(still, 40), 0U);
    EXPECT_EQ(noticed(still, 40), 1U);
}

TEST(TrainerState, ThatNamesAnotherStepIsReported)
{
    Checkpoints checkpoints({ { 1, 1 }, { 2, 2 } });
    for (const int step : { 10, 20 })
        ASSERT_TRUE(putText(*checkpoints.store, fmt::format("checkpoint-{}/trainer_state.json", step),
                            fmt::format(R"({{"log_history":[{{"global_step":3}}],"global_step":{}}})", 20)));
    const auto run = checkpoints.session.open(checkpoints.store);
    EXPECT_EQ(countNotes(step(*run, 10).problems, Code::Claim), 1U);
    EXPECT_EQ(countNotes(step(*run, 20).problems, Code::Claim), 0U);
}

} // namespace
} // namespace deltascope
