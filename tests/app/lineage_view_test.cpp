#include "deltascope/app/view/lineage_view.h"

#include "deltascope/app/view/dashboard_json.h"

#include "run_views.h"
#include "service_fixture.h"

// What builds on what: lanes, chains and bases of real and damaged runs.

namespace deltascope::app {
namespace {

class Lineage : public ServiceFixture {
protected:
    LineageView lineageOf(const std::string& golden)
    {
        const BucketCopy bucket(golden);
        const auto run = viewOf<RunView>(service->openRun(bucket.source(), Depth::Replayed));
        return makeLineage(snapshotOf(*run));
    }
};

const LineageRowView& rowOf(const LineageView& view, int epoch, std::int64_t step)
{
    for (const LineageRowView& row : view.rows) {
        if (row.step->epoch == epoch && row.step->step == step)
            return row;
    }
    ADD_FAILURE() << "no row " << epoch << ":" << step;
    return view.rows.front();
}

/// The step that a row builds on.
std::optional<std::int64_t> baseOf(const LineageView& view, int epoch, std::int64_t step)
{
    const LineageRowView& row = rowOf(view, epoch, step);
    return row.base ? std::optional(view.rows.at(*row.base).step->step) : std::nullopt;
}

std::size_t chainOf(const LineageView& view, int epoch, std::int64_t step) { return rowOf(view, epoch, step).chain; }

std::vector<std::string> refsOf(const LineageView& view)
{
    std::vector<std::string> refs;
    for (const LineageRowView& row : view.rows) {
        for (const std::string& ref : row.refs)
            refs.push_back(ref + "=" + std::to_string(row.step->epoch) + ":" + std::to_string(row.step->step));
    }
    return refs;
}

TEST_F(Lineage, RowsAreNewestFirst)
{
    const LineageView view = lineageOf("trl-v2-gap");
    ASSERT_EQ(view.rows.size(), 15U);
    for (std::size_t i = 0; i < 15; ++i)
        EXPECT_EQ(view.rows[i].step->step, 15 - static_cast<std::int64_t>(i));
}

TEST_F(Lineage, ADeltaBuildsOnTheStepBeforeItAndAnAnchorOnNothing)
{
    const LineageView view = lineageOf("trl-v2-gap");
    for (std::int64_t step = 1; step < 16; ++step)
        EXPECT_EQ(baseOf(view, 0, step), step == 1 || step == 10 ? std::nullopt : std::optional(step - 1)) << step;
}

TEST_F(Lineage, AnAnchorBeginsAChain)
{
    const LineageView view = lineageOf("trl-v2-gap");
    for (std::int64_t step = 1; step < 16; ++step)
        EXPECT_EQ(chainOf(view, 0, step), chainOf(view, 0, step < 10 ? 1 : 10)) << step;
    EXPECT_NE(chainOf(view, 0, 9), chainOf(view, 0, 10));
}

TEST_F(Lineage, TheLatestStepIsMarked)
{
    EXPECT_EQ(refsOf(lineageOf("trl-v2-gap")), std::vector<std::string> { "latest=0:15" });
    EXPECT_EQ(refsOf(lineageOf("trl-v2-restart")), std::vector<std::string> { "latest=1:6" });
    EXPECT_EQ(refsOf(lineageOf("slime-v2-gap-in-chain")), std::vector<std::string> { "latest=0:3" });
}

TEST_F(Lineage, ARunThatBeganAnewHasALaneForEachEpoch)
{
    const LineageView view = lineageOf("trl-v2-restart");
    EXPECT_EQ(view.lanes, 2);
    for (const LineageRowView& row : view.rows)
        EXPECT_EQ(row.lane, row.step->epoch == 1 ? 0 : 1) << row.step->step;
    EXPECT_EQ(view.rows.front().step->step, 6) << "of the newest epoch";
    EXPECT_EQ(view.rows.back().step->epoch, 0);
}

TEST_F(Lineage, NothingBuildsOnAStepOfAnotherEpoch)
{
    const LineageView view = lineageOf("trl-v2-restart");
    EXPECT_EQ(baseOf(view, 0, 7), std::nullopt) << "its 6 was overwritten; that of the new epoch is not its base";
    EXPECT_EQ(baseOf(view, 0, 11), 10);
    EXPECT_EQ(baseOf(view, 1, 6), 5);
    EXPECT_NE(chainOf(view, 0, 13), chainOf(view, 1, 1));
}

TEST_F(Lineage, StepsThatWereOverwrittenDoNotSurvive)
{
    const auto json = nlohmann::json::parse(toJson(lineageOf("trl-v2-restart")));
    for (const auto& row : json["rows"]) {
        const bool lost = row["epoch"] == 0 && (row["state"] == "gap" || row["step"] < 10);
        EXPECT_EQ(row["surviving"], !lost) << row["step"];
    }
}

TEST_F(Lineage, AGapIsARowOfItsOwnAndNothingBuildsOnIt)
{
    const LineageView view = lineageOf("slime-v2-gap-in-chain");
    ASSERT_EQ(view.rows.size(), 6U);
    const LineageRowView& gap = rowOf(view, 0, 4);
    EXPECT_EQ(gap.step->state, "gap");
    EXPECT_EQ(gap.base, std::nullopt);
    EXPECT_EQ(baseOf(view, 0, 5), std::nullopt) << "4 is missing";
    EXPECT_EQ(baseOf(view, 0, 6), 5);
    EXPECT_EQ(baseOf(view, 0, 1), std::nullopt) << "it builds on the base outside of the run";
}

TEST_F(Lineage, AGapHasNoTimeNoRestoreAndNoVerification)
{
    LineageView view = lineageOf("slime-v2-gap-in-chain");
    RunSnapshot verified = *view.snapshot;
    for (std::int64_t step = 1; step < 7; ++step)
        verified.verified[{ 0, step }] = { 2, "verified", 5 };
    const auto json = nlohmann::json::parse(toJson(makeLineage(std::make_shared<const RunSnapshot>(verified))));
    const auto& gap = json["rows"][2];
    ASSERT_EQ(gap["step"], 4);
    EXPECT_EQ(gap["last_step"], 4);
    EXPECT_TRUE(gap["published_at"].is_null());
    EXPECT_TRUE(gap["restore"].is_null());
    EXPECT_TRUE(gap["verified"].is_null());
    EXPECT_EQ(json["rows"][3]["verified"]["level"], 2);
    EXPECT_TRUE(json["rows"][3]["last_step"].is_null());
}

TEST_F(Lineage, ABrokenChainNamesWhoBlocksIt)
{
    const LineageView view = lineageOf("slime-v2-gap-in-chain");
    EXPECT_FALSE(rowOf(view, 0, 6).step->restorable);
    EXPECT_EQ(rowOf(view, 0, 6).step->restore.blockedBy, 5);
    EXPECT_TRUE(rowOf(view, 0, 3).step->restorable);
}

TEST(LineageOfNothing, HasNoRows)
{
    auto opening = std::make_shared<RunSnapshot>();
    EXPECT_TRUE(makeLineage(opening).rows.empty());
    EXPECT_TRUE(makeLineage(snapshotOf(runView({}))).rows.empty());
    EXPECT_EQ(nlohmann::json::parse(toJson(makeLineage(opening)))["rows"].size(), 0U);
}

} // namespace
} // namespace deltascope::app
