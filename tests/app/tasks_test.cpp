#include "monitor/kept_plans.h"
#include "monitor_fixture.h"

#include <map>

// Acts: a plan, a task, its end; and what may come between.

namespace deltascope::app {
namespace {

class TasksOfAMonitor : public MonitorFixture {
protected:
    template <class View> static std::shared_ptr<const View> resultOf(const TaskView& task)
    {
        const auto* view = task.result ? std::get_if<std::shared_ptr<const View>>(&*task.result) : nullptr;
        EXPECT_TRUE(view) << task.state;
        return view ? *view : std::make_shared<const View>();
    }
    static std::string sizesIn(const std::string& folder)
    {
        std::map<std::string, std::uintmax_t> sizes;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
            if (entry.path().filename() != "deltascope.provenance.json") // it has the time in it
                sizes[entry.path().filename().string()] = entry.file_size();
        }
        return nlohmann::json(sizes).dump();
    }

    BucketCopy bucket { "trl-v2-gap" };
};

TEST_F(TasksOfAMonitor, AMaterializedCheckpointIsTheOneThatTheServiceMakes)
{
    const TaskView task = endOf(start(followed(bucket.source()), materialize("12", "a/b")).id);
    EXPECT_EQ(task.state, "done");
    EXPECT_EQ(task.by, "somebody");
    EXPECT_FALSE(task.problem);
    EXPECT_FALSE(task.resumable);
    EXPECT_EQ(task.doneBytes, task.totalBytes);
    EXPECT_EQ(task.backend, *service->backend());
    EXPECT_TRUE(task.backendNotices.empty());
    MaterializeRequest request;
    request.version = { bucket.source(), "12" };
    request.destination = home.path("reference");
    const auto reference = viewOf<MaterializeView>(service->materialize(request));
    const auto made = resultOf<MaterializeView>(task);
    EXPECT_EQ(made->root, reference->root);
    EXPECT_EQ(made->path, home.path("out/a/b"));
    EXPECT_EQ(sizesIn(home.path("out/a/b")), sizesIn(home.path("reference")));
    VersionRequest written;
    written.source.source = home.path("out/a/b");
    EXPECT_EQ(viewOf<DigestView>(service->digest(written, false))->root, reference->root);
}

TEST_F(TasksOfAMonitor, ADiffEndsWithWhatDiffers)
{
    const TaskView task = endOf(start(followed(bucket.source()), DiffArgs { "11", "12" }).id);
    EXPECT_EQ(task.state, "done");
    EXPECT_EQ(resultOf<DiffView>(task)->elementsDifferent, 724U);
    EXPECT_GE(task.seconds, resultOf<DiffView>(task)->seconds) << "it took at least what it says of itself";
    EXPECT_GT(task.seconds, 0);
}

TEST_F(TasksOfAMonitor, AVerificationTellsTheRunWhatItFound)
{
    const std::string id = followed(bucket.source());
    runWhen(id, [](const RunSnapshot& run) { return run.verified.size() == 15; });
    const TaskView task = endOf(start(id, VerifyArgs { "", 4 }).id);
    EXPECT_EQ(task.state, "done");
    const Snapshot run = runWhen(id, [](const RunSnapshot& now) { return now.verified.at({ 0, 12 }).level == 4; });
    EXPECT_EQ(run->verified.size(), 15U);
}

TEST_F(TasksOfAMonitor, AShallowVerificationDoesNotReplaceADeeperOne)
{
    const std::string id = followed(bucket.source());
    runWhen(id, [](const RunSnapshot& run) { return run.verified.size() == 15; });
    endOf(start(id, VerifyArgs { "", 0 }).id);
    EXPECT_EQ(monitor->run(id)->verified.at({ 0, 12 }).level, 2);
}

TEST_F(TasksOfAMonitor, AnActThatFailsSaysWhy)
{
    std::filesystem::create_directories(home.path("out/taken"));
    const TaskView task = endOf(start(followed(bucket.source()), materialize("12", "taken")).id);
    EXPECT_EQ(task.state, "failed");
    ASSERT_TRUE(task.problem);
    EXPECT_EQ(task.problem->code, "DS-EXISTS");
    EXPECT_TRUE(task.resumable);
    EXPECT_FALSE(task.result);
}

TEST_F(TasksOfAMonitor, AVerificationOfARangeThatIsNoneHasNoPlan)
{
    const PlanView plan = planOf(followed(bucket.source()), VerifyArgs { "../x", 2 });
    EXPECT_EQ(plan.state, "failed");
    ASSERT_TRUE(plan.problem);
    EXPECT_EQ(plan.problem->code, "DS-USAGE");
    EXPECT_EQ(monitor->start(plan.id, plan.hash, "x").error().code, Code::Usage);
    EXPECT_TRUE(monitor->tasks().empty());
}

TEST_F(TasksOfAMonitor, TasksAreNewestFirst)
{
    const std::string id = followed(bucket.source());
    EXPECT_TRUE(monitor->tasks().empty());
    const std::string first = start(id, VerifyArgs { "1", 0 }).id;
    const std::string second = start(id, VerifyArgs { "2", 0 }).id;
    const std::vector<TaskView> tasks = monitor->tasks();
    ASSERT_EQ(tasks.size(), 2U);
    EXPECT_EQ(tasks[0].id, second);
    EXPECT_EQ(tasks[1].id, first);
    EXPECT_GE(tasks[0].startedUs, tasks[1].startedUs);
}

// --- plans that are carried out --------------------------------------------------------------------------------------

TEST_F(TasksOfAMonitor, APlanIsStartedWithItsHash)
{
    const PlanView plan = planOf(followed(bucket.source()), materialize("12"));
    EXPECT_EQ(monitor->start(plan.id, "", "x").error().code, Code::Rewritten);
    EXPECT_EQ(monitor->start(plan.id, plan.hash + "0", "x").error().code, Code::Rewritten);
    EXPECT_EQ(monitor->start("p99", plan.hash, "x").error().code, Code::NotFound);
    EXPECT_TRUE(monitor->tasks().empty());
    EXPECT_TRUE(monitor->start(plan.id, plan.hash, "x"));
}

TEST_F(TasksOfAMonitor, OfManyPlansTheNewestAreKept)
{
    const std::string id = followed(bucket.source());
    std::vector<PlanView> plans;
    for (int i = 0; i < 300; ++i) // more than are kept
        plans.push_back(*monitor->plan(id, materialize("12", "to" + std::to_string(i)), "somebody"));
    std::size_t kept = 0;
    for (const PlanView& plan : plans)
        kept += monitor->planned(plan.id).has_value();
    EXPECT_EQ(kept, KeptPlans::MostOfOne);
    EXPECT_EQ(made(plans.back().id).state, "ready") << "the others do not stand in its way";
}

/// The acts that only read, each with objects that it reads.
std::vector<ActRequest> readActs()
{
    MaterializeArgs rebuild;
    rebuild.step = "12";
    std::vector<ActRequest> requests { rebuild, DiffArgs { "10", "12" } };
    for (int level = 0; level <= 4; ++level)
        requests.emplace_back(VerifyArgs { "10..12", level });
    requests.emplace_back(VerifyArgs { "", 3 });
    return requests;
}

TEST_F(TasksOfAMonitor, APlanOfWhatTheRunWasBeforeIsRefused)
{
    const std::string id = followed(bucket.source());
    std::vector<PlanView> plans;
    for (const ActRequest& request : readActs())
        plans.push_back(planOf(id, request));
    bucket.damage("deltas/step_000011.safetensors", 6000);
    for (const PlanView& plan : plans) {
        const auto task = monitor->start(plan.id, plan.hash, "x");
        ASSERT_TRUE(task) << plan.title;
        const TaskView end = endOf(task->id);
        EXPECT_EQ(end.state, "failed") << plan.title;
        ASSERT_TRUE(end.problem) << plan.title;
        EXPECT_EQ(end.problem->code, "DS-EXISTS") << plan.title;
        EXPECT_NE(end.problem->text.find("not what the plan was made for"), std::string::npos);
        EXPECT_FALSE(end.resumable) << "the same plan never goes on";
        EXPECT_FALSE(end.result);
    }
    EXPECT_FALSE(std::filesystem::exists(home.path("out"))) << "nothing is written";
}

TEST_F(TasksOfAMonitor, AStepThatIsPublishedMeanwhileMakesNoPlanStale)
{
    const std::string late = bucket.file("deltas/step_000015.safetensors");
    const std::string away = home.path("late");
    std::filesystem::rename(late, away);
    const std::string id = followed(bucket.source());
    std::vector<PlanView> plans;
    for (const ActRequest& request : readActs())
        plans.push_back(planOf(id, request));
    std::filesystem::rename(away, late);
    for (const PlanView& plan : plans) {
        const auto task = monitor->start(plan.id, plan.hash, "x");
        ASSERT_TRUE(task) << plan.title;
        const TaskView end = endOf(task->id);
        EXPECT_EQ(end.state, "done") << plan.title << (end.problem ? end.problem->text : "");
    }
    const TaskView all = monitor->tasks().front();
    const auto report = std::get<std::shared_ptr<const VerifyView>>(*all.result);
    EXPECT_EQ(report->steps.back().step, 14) << "the step came behind the plan";
}

TEST_F(TasksOfAMonitor, LossesAreAcceptedAsThePlanNamesThem)
{
    const std::string id = followed(bucket.source());
    ASSERT_EQ(endOf(start(id, VerifyArgs { "", 2 }).id).state, "done");
    const auto lose = [&](const char* key) {
        const std::uint64_t before = monitor->run(id)->run->revision;
        std::filesystem::remove(bucket.file(key));
        runWhen(id, [&](const RunSnapshot& run) { return run.run->revision > before && run.run->settled; });
    };
    const auto lossesOf = [](const PlanView& plan) {
        for (const auto& [fact, value] : plan.act.value_or(ActPlanView()).effects) {
            if (fact == "losses that are accepted")
                return value;
        }
        return std::string();
    };
    lose("deltas/step_000015.safetensors");
    EXPECT_EQ(lossesOf(planOf(id, VerifyArgs { "", 2 })), "") << "nothing is accepted that nobody asked for";
    const PlanView first = planOf(id, VerifyArgs { "", 2, true });
    EXPECT_EQ(lossesOf(first), "0:15");
    lose("deltas/step_000009.safetensors");
    const PlanView second = planOf(id, VerifyArgs { "", 2, true });
    EXPECT_EQ(lossesOf(second), "0:9, 0:15");
    const auto ended = [&](const PlanView& plan) { return endOf(monitor->start(plan.id, plan.hash, "x")->id); };
    EXPECT_EQ(ended(first).problem.value_or(ProblemView()).code, "DS-EXISTS") << "it does not name the second loss";
    EXPECT_EQ(ended(second).state, "done");
    EXPECT_EQ(lossesOf(planOf(id, VerifyArgs { "", 2, true })), "") << "they were accepted";
}

TEST_F(TasksOfAMonitor, APlanDoesNothing)
{
    const std::string id = followed(bucket.source());
    ASSERT_TRUE(monitor->plan(id, materialize("12", "a/b"), "somebody"));
    EXPECT_FALSE(std::filesystem::exists(home.path("out")));
    EXPECT_TRUE(monitor->tasks().empty());
    EXPECT_EQ(monitor->plan("nobody", VerifyArgs(), "somebody").error().code, Code::NotFound);
    EXPECT_EQ(monitor->plan(id, materialize("12", "../x"), "somebody").error().code, Code::Usage);
}

// --- where checkpoints go --------------------------------------------------------------------------------------------

TEST_F(TasksOfAMonitor, NoLinkBelowTheOutputFolderIsFollowed)
{
    const std::string id = followed(bucket.source());
    std::filesystem::create_directories(home.path("out"));
    std::filesystem::create_directories(home.path("elsewhere"));
    std::filesystem::create_directory_symlink(home.path("elsewhere"), home.path("out/link"));
    const auto refused = monitor->plan(id, materialize("12", "link/a"), "somebody");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::Auth);
    EXPECT_EQ(refused.error().text, "\"link\" is a symbolic link, and none is followed here");
    EXPECT_TRUE(monitor->plan(id, materialize("12", "folder/a"), "somebody"));
}

TEST_F(TasksOfAMonitor, AFolderThatBecomesALinkBehindThePlanIsNotFollowedEither)
{
    const std::string id = followed(bucket.source());
    std::filesystem::create_directories(home.path("out/folder"));
    std::filesystem::create_directories(home.path("elsewhere"));
    const PlanView plan = planOf(id, materialize("12", "folder/deep/a"));
    std::filesystem::remove(home.path("out/folder"));
    std::filesystem::create_directory_symlink(home.path("elsewhere"), home.path("out/folder"));
    const auto task = monitor->start(plan.id, plan.hash, "somebody");
    ASSERT_TRUE(task);
    const TaskView end = endOf(task->id);
    ASSERT_TRUE(end.problem);
    EXPECT_EQ(end.problem->code, "DS-AUTH");
    EXPECT_TRUE(std::filesystem::is_empty(home.path("elsewhere")));
}

TEST_F(TasksOfAMonitor, TheOutputFolderItselfMayBeALink)
{
    std::filesystem::create_directories(home.path("elsewhere"));
    std::filesystem::create_directory_symlink(home.path("elsewhere"), home.path("out"));
    const TaskView task = start(followed(bucket.source()), materialize("12", "new/a"));
    EXPECT_EQ(endOf(task.id).state, "done");
    EXPECT_TRUE(std::filesystem::exists(home.path("elsewhere/new/a/model.safetensors")));
}

// --- what may come between -------------------------------------------------------------------------------------------

TEST_F(TasksOfAMonitor, APausedTaskWaitsAndGoesOn)
{
    const std::string run = followed(largeRun());
    const std::string task = start(run, materialize("1", "large")).id;
    const auto paused = monitor->pause(task);
    ASSERT_TRUE(paused);
    EXPECT_EQ(paused->state, "paused");
    EXPECT_EQ(endOf(start(run, materialize("1", "later")).id).state, "done");
    EXPECT_EQ(monitor->task(task)->state, "paused");
    EXPECT_FALSE(std::filesystem::exists(home.path("out/large")));
    EXPECT_EQ(monitor->resume(task)->state, "running");
    EXPECT_EQ(endOf(task).state, "done");
    EXPECT_TRUE(std::filesystem::exists(home.path("out/large")));
}

TEST_F(TasksOfAMonitor, ACanceledTaskIsResumable)
{
    const std::string task = start(followed(largeRun()), materialize("1", "large")).id;
    EXPECT_EQ(monitor->cancel(task)->state, "canceling");
    const TaskView canceled = endOf(task);
    EXPECT_EQ(canceled.state, "canceled");
    EXPECT_FALSE(canceled.problem);
    EXPECT_TRUE(canceled.resumable);
    EXPECT_FALSE(std::filesystem::exists(home.path("out/large")));
    EXPECT_EQ(monitor->resume(task)->state, "queued");
    EXPECT_EQ(endOf(task).state, "done");
    EXPECT_TRUE(std::filesystem::exists(home.path("out/large")));
}

TEST_F(TasksOfAMonitor, ATaskThatIsOverStaysAsItIs)
{
    const std::string task = start(followed(bucket.source()), VerifyArgs { "", 1 }).id;
    endOf(task);
    EXPECT_EQ(monitor->pause(task)->state, "done");
    EXPECT_EQ(monitor->cancel(task)->state, "done");
    EXPECT_EQ(monitor->resume(task)->state, "done");
}

TEST_F(TasksOfAMonitor, ATaskThatIsNotThereIsNotFound)
{
    EXPECT_EQ(monitor->pause("t1").error().code, Code::NotFound);
    EXPECT_EQ(monitor->cancel("t1").error().code, Code::NotFound);
    EXPECT_EQ(monitor->resume("").error().code, Code::NotFound);
    EXPECT_EQ(monitor->task("t1"), std::nullopt);
}

} // namespace
} // namespace deltascope::app
