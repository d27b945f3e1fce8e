#include "acts/act.h"
#include "deltascope/app/view/dashboard_json.h"
#include "deltascope/engine/trace.h"

#include "run_views.h"
#include "service_fixture.h"
#include "support/times.h"

// The JSON of every page over one run, byte for byte (tests/golden/view): twelve steps of TRL of which the sixth was
// lost, two anchors, a replica.

namespace deltascope::app {
namespace {

using OrderedJson = nlohmann::ordered_json;

using test::Minute;
using test::Second;

constexpr std::int64_t BeginUs = BucketCopy::BeginSeconds * Second;
constexpr std::int64_t NowUs = BeginUs + 14 * Minute;

class GoldenViews : public ServiceFixture {
protected:
    GoldenViews()
    {
        writeTrace();
        auto made = std::make_shared<RunSnapshot>();
        made->id = made->name = "wordle";
        made->revision = 7;
        made->state = "live";
        made->contactUs = NowUs - Second;
        const JobId watching = service->watch(bucket.source(), Depth::Replayed);
        next([&](Event& event) {
            const auto* changed = std::get_if<RunChanged>(&event);
            if (changed) {
                run = *changed->run;
                made->heat = changed->heat;
            }
            return changed != nullptr;
        });
        service->cancel(watching);
        made->source = run.source;
        const auto report = viewOf<VerifyView>(service->verify({ bucket.source(), "", 3 }));
        for (const StepVerdictView& step : report->steps)
            made->verified[{ step.epoch, step.step }] = { 3, step.result, NowUs - 2 * Second };
        run.revision = 5;
        run.replicas.at(0).ageSeconds = 1.5;
        run.replicas[0].late = false;
        made->run = std::make_shared<const RunView>(run);
        auto heat = *made->heat;
        heat.revision = 4;
        made->heat = std::make_shared<const HeatView>(std::move(heat));
        snapshot = made;
    }

    /// The replica applied 11 and 12, and serves 12.
    void writeTrace() const
    {
        const std::shared_ptr<ObjectStore> store = std::move(*openLocalStore(bucket.path()));
        SpanWriter replica(store, "r0");
        for (const std::int64_t step : { 11, 12 }) {
            const std::int64_t publishedUs = BeginUs + step * Minute;
            replica.add({ {}, "fetch", step, 0, publishedUs + Second, publishedUs + 3 * Second, 3600, {} });
            replica.add({ {}, "pause", step, 0, publishedUs + 3 * Second, publishedUs + step * Second, 0, {} });
        }
        replica.flush();
        Heartbeat heartbeat;
        heartbeat.id = "r0";
        heartbeat.engine = "vllm";
        heartbeat.state = "serving";
        heartbeat.step = 12;
        heartbeat.tUs = NowUs;
        TaskContext task;
        ASSERT_TRUE(putHeartbeat(*store, heartbeat, task));
    }

    void expectGolden(const std::string& name, std::string json) const
    {
        for (std::size_t at = json.find(bucket.path()); at != std::string::npos; at = json.find(bucket.path()))
            json.replace(at, bucket.path().size(), "/data/wordle");
        std::ifstream file(std::string(DELTASCOPE_GOLDEN_DIR) + "/view/" + name + ".json");
        const std::string golden((std::istreambuf_iterator<char>(file)), {});
        EXPECT_EQ(OrderedJson::parse(json).dump(2) + "\n", golden);
    }
    Result<PlanView> planOf(const ActRequest& request)
    {
        DS_TRY(BoundPlan plan,
               planAct(*snapshot, bucket.source(), request, { .outputFolder = "/out", .taskFolder = {} }));
        plan.complete(plan.view, viewOf<PlannedReadView>(service->start(plan.call)));
        plan.view.id = "p1";
        plan.view.hash = "of the plan"; // it is of the path, which is another one each time
        plan.view.act->hash = plan.view.hash;
        plan.view.freeBytes = 1'000'000;
        return plan.view;
    }

    BucketCopy bucket { "trl-v2-gap-in-chain" };
    RunView run;
    std::shared_ptr<const RunSnapshot> snapshot;
};

TEST_F(GoldenViews, Run) { expectGolden("run", detailToJson(makeRunSummary(snapshot), NowUs)); }

TEST_F(GoldenViews, Steps)
{
    std::string steps;
    for (const StepView& step : run.epochs.at(0).steps) {
        const auto verified = snapshot->verified.find({ 0, step.step });
        steps += (steps.empty() ? "[" : ",")
            + stepToJson(step, verified == snapshot->verified.end() ? std::nullopt : std::optional(verified->second));
    }
    expectGolden("steps", steps + "]");
}

TEST_F(GoldenViews, Series)
{
    SeriesRange range;
    range.pixels = 4;
    expectGolden("series",
                 toJson(makeSeries(run, {}, { "changed_frac", "wire_bytes", "pause_ms", "drift_elems" }, range)));
}

TEST_F(GoldenViews, Lineage) { expectGolden("lineage", toJson(makeLineage(snapshot))); }

TEST_F(GoldenViews, HeatIndex) { expectGolden("heat_index", heatIndexToJson(*snapshot->heat, *snapshot, 0)); }

TEST_F(GoldenViews, Tensors) { expectGolden("tensors", tensorsToJson(*snapshot->heat, 0)); }

TEST_F(GoldenViews, Replicas)
{
    const auto replicas = makeReplicaHistory(run, NowUs);
    ASSERT_EQ(replicas.size(), 1U);
    expectGolden("replicas", toJson(replicas[0]));
}

TEST_F(GoldenViews, Plan)
{
    MaterializeArgs request;
    request.step = "12";
    request.to = "wordle/step 12";
    expectGolden("plan", toJson(planOf(request).value()));
}

TEST_F(GoldenViews, Task)
{
    DiffView diff = *viewOf<DiffView>(service->diff({ bucket.source(), "11" }, { bucket.source(), "12" }));
    diff.seconds = 0.25;
    TaskView task;
    task.id = "t1";
    task.plan = planOf(DiffArgs { "11", "12" }).value();
    task.by = "somebody";
    task.startedUs = NowUs;
    task.state = "done";
    task.phase = "compare";
    task.doneBytes = task.totalBytes = 22'752;
    task.seconds = 0.25;
    task.result = std::make_shared<const DiffView>(std::move(diff));
    expectGolden("task", toJson(task));
}

TEST_F(GoldenViews, Listing)
{
    const auto listing = viewOf<ListingView>(service->listObjects(bucket.source()));
    expectGolden("listing", toJson(makeListingPage(*listing, run, "deltas/", "", 8)));
}

} // namespace
} // namespace deltascope::app
