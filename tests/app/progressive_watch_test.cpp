#include "deltascope/app/view/json.h"
#include "deltascope/engine/trace.h"
#include "service/watching.h"

#include "engine/golden_copy.h"
#include "service_fixture.h"
#include "support/times.h"

#include <atomic>

// Runs that are followed: what is told on the way ends where a replay of everything ends.

namespace deltascope::app {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;

class ProgressiveWatch : public ServiceFixture {
protected:
    struct Told {
        std::shared_ptr<const RunView> run;
        std::shared_ptr<const HeatView> heat;

        explicit operator bool() const { return run != nullptr; }
    };
    /// The next that is told, or the next that `wanted` likes.
    Told told(JobId job, const std::function<bool(const Told&)>& wanted = {})
    {
        return next([&](Event& event) {
            const auto* changed = std::get_if<RunChanged>(&event);
            Told now;
            if (changed && changed->job == job)
                now = { changed->run, changed->heat };
            return now && (!wanted || wanted(now)) ? now : Told();
        });
    }
    void stop(JobId job)
    {
        service->cancel(job);
        EXPECT_EQ(errorOf(job).code, Code::Canceled);
    }
};

/// Everything but what differs from view to view.
Json contentOf(const RunView& run)
{
    Json json = Json::parse(toJson(run));
    json.erase("rev");
    return json;
}

Json contentOf(const HeatView& heat)
{
    Json json;
    for (const TensorRowView& row : heat.rows)
        json["rows"].push_back({ row.name, row.dtype, row.shape, row.elements, row.bytes, row.group,
                                 row.changedElements, row.lastChanged.value_or(-1) });
    for (const HeatColumnView& column : heat.columns)
        json["columns"].push_back({ column.epoch, column.step, column.name, column.kind, column.state, column.damaged,
                                    column.codes ? Json(*column.codes) : Json() });
    return json;
}

class EndsAsReplayed : public ProgressiveWatch, public testing::WithParamInterface<const char*> { };

TEST_P(EndsAsReplayed, WhateverWasToldOnTheWay)
{
    const BucketCopy bucket(GetParam());
    const JobId replayed = service->watch(bucket.source(), Depth::Replayed);
    const Told reference = told(replayed);
    stop(replayed);
    ASSERT_TRUE(reference);
    ASSERT_TRUE(reference.heat);

    settings.cacheFolder = home.path("another-cache"); // nothing is known any more
    settings.stateFolder = home.path("another-state");
    startService();
    const JobId progressive = service->watch(bucket.source(), Depth::Progressive);
    const Told last = told(progressive, [](const Told& now) { return now.run->settled; });
    ASSERT_TRUE(last);
    EXPECT_EQ(contentOf(*last.run), contentOf(*reference.run));
    EXPECT_EQ(contentOf(*last.heat), contentOf(*reference.heat));
}

INSTANTIATE_TEST_SUITE_P(GoldenRuns, EndsAsReplayed,
                         testing::Values("trl-v2-gap", "trl-v2-restart", "trl-v2-gap-in-chain", "trl-v2-empty-step",
                                         "trl-v2-partial-anchor", "trl-v2-truncated", "trl-v2-drift-bf16",
                                         "slime-v2-xor", "slime-v2-badchecksum", "slime-v2-gap-in-chain", "grail",
                                         "modelexpress", "prime-rl"));

TEST_F(ProgressiveWatch, ColumnsHaveTheSharesThatStepsHave)
{
    const BucketCopy bucket("trl-v2-gap");
    const JobId job = service->watch(bucket.source(), Depth::Progressive);
    const Told now = told(job, [](const Told& view) { return view.run->settled; });
    ASSERT_TRUE(now);
    ASSERT_EQ(now.heat->columns.size(), 15U);
    ASSERT_EQ(now.heat->rows.size(), 24U);
    std::vector<std::uint64_t> changedByRow(24);
    for (std::size_t at = 0; at < 15; ++at) {
        const StepView& step = now.run->epochs[0].steps[at];
        const auto& codes = now.heat->columns[at].codes;
        ASSERT_EQ(codes != nullptr, step.step != 1) << "before the first anchor there is nothing to compare with";
        if (!codes)
            continue;
        const auto counts = service->countsOf(*now.heat, at);
        ASSERT_TRUE(counts);
        std::uint64_t changed = 0;
        for (const auto& [name, count] : *counts) {
            const auto row = std::find_if(now.heat->rows.begin(), now.heat->rows.end(),
                                          [&name = name](const TensorRowView& tensor) { return tensor.name == name; });
            ASSERT_NE(row, now.heat->rows.end()) << name;
            const auto y = static_cast<std::size_t>(row - now.heat->rows.begin());
            EXPECT_EQ((*codes)[y], heatCode(count, row->elements)) << name;
            changedByRow[y] += count;
            changed += count;
        }
        EXPECT_EQ(changed, step.changedVsPrevious) << step.step;
    }
    for (std::size_t y = 0; y < 24; ++y)
        EXPECT_EQ(now.heat->rows[y].changedElements, changedByRow[y]);
    stop(job);
}

TEST_F(ProgressiveWatch, AStepThatIsPublishedAppears)
{
    const BucketCopy bucket("trl-v2-gap", [](const std::string& key) { return !key.ends_with("15.safetensors"); });
    const JobId job = service->watch(bucket.source(), Depth::Progressive);
    const Told before = told(job, [](const Told& now) { return now.run->settled; });
    ASSERT_TRUE(before);
    EXPECT_EQ(before.run->latest, 14);
    bucket.publish("deltas/step_000015.safetensors");
    const Told after = told(job, [](const Told& now) { return now.run->settled && now.run->latest == 15; });
    ASSERT_TRUE(after);
    ASSERT_EQ(after.heat->columns.size(), 15U);
    EXPECT_TRUE(after.heat->columns[14].codes);
    EXPECT_EQ(after.run->epochs[0].steps[14].changedElements, 711U);
    for (std::size_t at = 0; at < 14; ++at)
        EXPECT_EQ(after.heat->columns[at].codes, before.heat->columns[at].codes) << "shared, not made again";
    stop(job);
}

TEST_F(ProgressiveWatch, AHeatmapThatDidNotChangeIsTheSame)
{
    const BucketCopy bucket("trl-v2-raw");
    const JobId job = service->watch(bucket.source(), Depth::Progressive);
    const Told before = told(job, [](const Told& now) { return now.run->settled; });
    ASSERT_TRUE(before);
    Heartbeat heartbeat;
    heartbeat.id = "r0";
    heartbeat.step = 3;
    heartbeat.tUs = 1;
    TaskContext task;
    const auto store = openLocalStore(bucket.path());
    ASSERT_TRUE(putHeartbeat(**store, heartbeat, task));
    const Told after = told(job, [](const Told& now) { return !now.run->replicas.empty(); });
    ASSERT_TRUE(after);
    EXPECT_EQ(after.heat, before.heat);
    EXPECT_GT(after.run->revision, before.run->revision);
    stop(job);
}

TEST_F(ProgressiveWatch, SpansThatComeLateAreTold)
{
    const BucketCopy bucket("trl-v2-raw");
    const std::shared_ptr<ObjectStore> store = std::move(*openLocalStore(bucket.path()));
    const std::int64_t beginUs = BucketCopy::BeginSeconds * test::Second;
    const auto write = [&](const std::string& actor, std::int64_t t0, std::int64_t t1) {
        SpanWriter(store, actor).add({ actor, "pause", 3, 0, beginUs + t0, beginUs + t1, 0, {} });
    };
    write("r0", 5000, 9000);
    const JobId job = service->watch(bucket.source(), Depth::Headers);
    EXPECT_TRUE(told(job, [](const Told& now) { return now.run->spans.size() == 1; }));
    write("r1", 4000, 6000); // ended before what is known already
    EXPECT_TRUE(told(job, [](const Told& now) { return now.run->spans.size() == 2; }));
    stop(job);
}

TEST_F(ProgressiveWatch, AReplicaThatFallsSilentIsLate)
{
    const BucketCopy bucket("trl-v2-raw");
    Heartbeat heartbeat;
    heartbeat.id = "r0";
    heartbeat.step = 3;
    heartbeat.periodSeconds = 0.5;
    heartbeat.tUs = test::Begin;
    TaskContext task;
    ASSERT_TRUE(putHeartbeat(**openLocalStore(bucket.path()), heartbeat, task));
    const auto now = std::make_shared<std::atomic<std::int64_t>>(test::Begin);
    settings.nowUs = [now] { return now->load(); };
    settings.watch.poll = 10ms;
    startService();
    const JobId job = service->watch(bucket.source(), Depth::Headers);
    EXPECT_TRUE(told(job, [](const Told& now) { return !now.run->replicas.at(0).late; }));
    *now += test::Minute;
    EXPECT_TRUE(told(job, [](const Told& now) { return now.run->replicas.at(0).late; })) << "only time has passed";
    stop(job);
}

TEST(ProgressiveFollower, NeverGoesBackToWhatItKnewBefore)
{
    layout_test::GoldenRun golden("trl-v2-gap");
    const std::string key = "deltas/step_000015.safetensors";
    const std::string newest = golden.read(key);
    std::filesystem::remove(golden.file(key));
    SourceRequest request;
    request.source = golden.bucket();
    TaskContext task;
    std::vector<std::optional<std::int64_t>> latest;
    const TellRun tell = [&](const std::shared_ptr<const RunView>& run, const std::shared_ptr<const HeatView>&) {
        latest.push_back(run->latest);
        if (latest.size() == 1)
            golden.write(key, newest); // before anything was replayed
        if (run->settled)
            task.requestStop();
    };
    WatchPeriods periods;
    periods.patience = 0ms; // each chain takes as long as a large one
    std::atomic<std::uint64_t> revision = 0;
    StateTensors tensors;
    const auto ended =
        watchRun(golden.session.bench, request, Depth::Progressive, periods, tensors, revision, tell, task);
    EXPECT_FALSE(ended);
    ASSERT_GE(latest.size(), 2U);
    EXPECT_EQ(latest.front(), 14);
    EXPECT_EQ(latest.back(), 15);
    EXPECT_TRUE(std::is_sorted(latest.begin(), latest.end()));
}

} // namespace
} // namespace deltascope::app
