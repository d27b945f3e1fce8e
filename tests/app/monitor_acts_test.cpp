#include "monitor_fixture.h"

#include <algorithm>

// Acts that change a run, through a monitor: a plan that reads states, its task, and what stands beside the run then.

namespace deltascope::app {
namespace {

class ActsOfAMonitor : public MonitorFixture {
protected:
    ActsOfAMonitor() { open(0); }

    TaskView carriedOut(const PlanView& plan)
    {
        const auto task = monitor->start(plan.id, plan.hash, "kim");
        EXPECT_TRUE(task) << task.error().text;
        return task ? endOf(task->id) : TaskView();
    }
    Code refusalOf(const std::string& run, const ActRequest& request) const
    {
        const auto plan = monitor->plan(run, request, "kim");
        EXPECT_FALSE(plan);
        return plan ? Code::Internal : plan.error().code;
    }
    std::string rootOf(std::int64_t step)
    {
        return viewOf<DigestView>(service->digest({ bucket.source(), std::to_string(step) }, false))->root;
    }
    std::shared_ptr<const AnnotationsView> annotations()
    {
        return viewOf<AnnotationsView>(service->annotations(bucket.source()));
    }
    /// The run once it has a step.
    Snapshot runWith(const std::string& id, std::int64_t step)
    {
        return runWhen(id, [step](const RunSnapshot& now) {
            return now.run && !now.run->epochs.empty() && now.run->epochs.back().steps.back().step == step;
        });
    }
    static ActRequest rollBackTo(const std::string& step) { return { "rollback", { { "step", step } } }; }

    BucketCopy bucket { "trl-v2-gap" };
};

TEST_F(ActsOfAMonitor, ARollBackIsPlannedCarriedOutAndUndone)
{
    const std::string run = followed(bucket.source());
    const std::int64_t newest = monitor->run(run)->run->epochs.back().steps.back().step;
    const std::string target = rootOf(12);
    const std::string before = rootOf(newest);

    const PlanView plan = planOf(run, rollBackTo("12"));
    ASSERT_EQ(plan.state, "ready") << (plan.problem ? plan.problem->text : "");
    EXPECT_EQ(plan.kind, "rollback");
    EXPECT_EQ(plan.title, "Roll back bucket to step 12");
    EXPECT_EQ(plan.confirm, "bucket");
    EXPECT_EQ(plan.undo, "undo");
    ASSERT_TRUE(plan.act);
    ASSERT_EQ(plan.act->writes.size(), 1U);
    EXPECT_TRUE(plan.act->deletes.empty());
    EXPECT_FALSE(plan.act->reads.empty());
    ASSERT_FALSE(plan.changes.empty());
    for (const ChangedTensorView& tensor : plan.changes) {
        EXPECT_GT(tensor.changed, 0U) << tensor.name;
        EXPECT_LE(tensor.changed, tensor.elements) << tensor.name;
    }
    EXPECT_EQ(rootOf(newest), before) << "a plan writes nothing";
    EXPECT_FALSE(std::filesystem::exists(bucket.file(plan.act->writes[0].key)));

    const TaskView task = carriedOut(plan);
    ASSERT_EQ(task.state, "done") << (task.problem ? task.problem->text : "");
    EXPECT_EQ(task.plan.undo, "undo");
    EXPECT_TRUE(std::filesystem::exists(bucket.file(plan.act->writes[0].key)));
    EXPECT_EQ(rootOf(newest + 1), target);

    runWith(run, newest + 1);
    const PlanView back = planOf(run, { "undo", {} });
    ASSERT_EQ(back.state, "ready") << (back.problem ? back.problem->text : "");
    EXPECT_EQ(carriedOut(back).state, "done");
    EXPECT_EQ(rootOf(newest + 2), before);
}

TEST_F(ActsOfAMonitor, APlanThatIsNotMadeYetCannotBeCarriedOut)
{
    const auto plan = monitor->plan(followed(bucket.source()), rollBackTo("12"), "kim");
    ASSERT_TRUE(plan) << plan.error().text;
    EXPECT_EQ(plan->state, "planning");
    EXPECT_EQ(plan->hash, "");
    EXPECT_FALSE(monitor->start(plan->id, plan->hash, "kim"));
    const PlanView now = made(plan->id);
    EXPECT_EQ(now.state, "ready");
    EXPECT_FALSE(monitor->start(now.id, plan->hash, "kim")) << "the hash of a plan that nobody has looked at";
}

TEST_F(ActsOfAMonitor, ALayoutThatNobodyFollowsByNumbersSaysWhatToDoInstead)
{
    const BucketCopy other("grail");
    const std::string run = followed(other.source());
    const StepView& step = monitor->run(run)->run->epochs.back().steps.front();
    const PlanView plan = planOf(run, rollBackTo(std::to_string(step.step)));
    EXPECT_EQ(plan.state, "failed");
    ASSERT_TRUE(plan.problem);
    EXPECT_EQ(plan.problem->code, "DS-UNSUPPORTED");
    EXPECT_NE(plan.problem->remedy.find("materialize"), std::string::npos) << plan.problem->remedy;
    EXPECT_EQ(monitor->start(plan.id, plan.hash, "kim").error().code, Code::Usage);
}

TEST_F(ActsOfAMonitor, ARunThatChangedSinceIsNotRolledBack)
{
    const std::string run = followed(bucket.source());
    const std::int64_t newest = monitor->run(run)->run->epochs.back().steps.back().step;
    const PlanView first = planOf(run, rollBackTo("12"));
    const PlanView second = planOf(run, rollBackTo("11"));
    ASSERT_EQ(first.state, "ready");
    ASSERT_EQ(second.state, "ready");
    ASSERT_EQ(carriedOut(first).state, "done");
    const TaskView task = carriedOut(second);
    EXPECT_EQ(task.state, "failed");
    EXPECT_TRUE(task.problem);
    EXPECT_EQ(rootOf(newest + 1), rootOf(12));
}

TEST_F(ActsOfAMonitor, ADroppedPlanIsForgotten)
{
    const std::string run = followed(bucket.source());
    const auto plan = monitor->plan(run, rollBackTo("12"), "kim");
    ASSERT_TRUE(plan);
    monitor->dropPlan(plan->id);
    monitor->dropPlan(plan->id);
    EXPECT_EQ(monitor->planned(plan->id).error().code, Code::NotFound);
    EXPECT_EQ(monitor->start(plan->id, plan->hash, "kim").error().code, Code::NotFound);
}

TEST_F(ActsOfAMonitor, NothingIsUndoneWhereNothingWasRolledBack)
{
    const PlanView plan = planOf(followed(bucket.source()), { "undo", {} });
    EXPECT_EQ(plan.state, "failed");
    ASSERT_TRUE(plan.problem);
    EXPECT_EQ(plan.problem->code, "DS-NOT-FOUND");
}

TEST_F(ActsOfAMonitor, NamesPinsAndNotesStandBesideTheRun)
{
    const std::string run = followed(bucket.source());
    const auto act = [&](ActRequest request) {
        const PlanView plan = planOf(run, request);
        EXPECT_EQ(plan.state, "ready");
        const TaskView task = carriedOut(plan);
        EXPECT_EQ(task.state, "done") << plan.title << (task.problem ? ": " + task.problem->text : "");
    };
    act({ "ref", { { "step", std::string("12") }, { "name", std::string("good") }, { "why", std::string("best") } } });
    act({ "pin", { { "step", std::string("11") } } });
    act({ "note", { { "step", std::string("12") }, { "text", std::string("reward collapses behind it") } } });
    auto beside = annotations();
    ASSERT_EQ(beside->refs.size(), 2U);
    EXPECT_EQ(beside->refs[0].word, "good");
    EXPECT_EQ(beside->refs[0].step, 12);
    EXPECT_EQ(beside->refs[1].word, "pin/step-11");
    ASSERT_EQ(beside->notes.size(), 1U);
    EXPECT_EQ(beside->notes[0].text, "reward collapses behind it");
    ASSERT_EQ(beside->journal.size(), 3U);
    EXPECT_TRUE(beside->journal[0].by.starts_with("kim (")) << beside->journal[0].by;

    act({ "unref", { { "name", std::string("good") } } });
    act({ "unpin", { { "name", std::string("step-11") } } });
    beside = annotations();
    EXPECT_TRUE(beside->refs.empty());
    EXPECT_EQ(beside->journal.size(), 5U);
}

TEST_F(ActsOfAMonitor, ABranchBeginsBelowTheOutputFolder)
{
    const std::string run = followed(bucket.source());
    const ActRequest request { "branch", { { "step", std::string("12") }, { "into", std::string("other") } } };
    const PlanView plan = planOf(run, request);
    ASSERT_EQ(plan.state, "ready") << (plan.problem ? plan.problem->text : "");
    EXPECT_EQ(plan.title, "Branch step 12 of bucket");
    EXPECT_EQ(plan.destination, options.outputFolder + "/other");
    EXPECT_FALSE(std::filesystem::exists(plan.destination)) << "a plan makes no folder";
    std::filesystem::create_directories(options.outputFolder);
    const TaskView task = carriedOut(plan);
    ASSERT_EQ(task.state, "done") << (task.problem ? task.problem->text : "");
    ASSERT_TRUE(task.result);
    EXPECT_EQ(std::get<std::shared_ptr<const BranchView>>(*task.result)->from, 12);
    const auto branch = viewOf<DigestView>(service->digest(VersionRequest::parse(plan.destination), false));
    EXPECT_EQ(branch->root, rootOf(12));
    std::filesystem::create_directory_symlink(home.path("elsewhere"), options.outputFolder + "/link");
    EXPECT_EQ(refusalOf(run, { "branch", { { "step", std::string("12") }, { "into", std::string("../x") } } }),
              Code::Usage);
    EXPECT_EQ(refusalOf(run, { "branch", { { "step", std::string("12") }, { "into", std::string("link/x") } } }),
              Code::Auth);
}

TEST_F(ActsOfAMonitor, AStepIsPublishedFromBelowTheOutputFolder)
{
    const std::string run = followed(bucket.source());
    const std::int64_t newest = monitor->run(run)->run->epochs.back().steps.back().step;
    for (const auto& [step, name] : { std::pair(newest, "from"), std::pair(std::int64_t { 12 }, "to") })
        EXPECT_EQ(carriedOut(planOf(run, MaterializeArgs { std::to_string(step), name })).state, "done");
    const ActRequest request = PublishArgs { "from", "to" };
    const PlanView plan = planOf(run, request);
    ASSERT_EQ(plan.state, "ready") << (plan.problem ? plan.problem->text : "");
    EXPECT_EQ(plan.title, "Publish a step into bucket");
    ASSERT_TRUE(plan.act);
    ASSERT_EQ(plan.act->writes.size(), 1U);
    EXPECT_FALSE(std::filesystem::exists(bucket.file(plan.act->writes[0].key))) << "a plan writes nothing";
    const std::string target = rootOf(12);
    const TaskView task = carriedOut(plan);
    ASSERT_EQ(task.state, "done") << (task.problem ? task.problem->text : "");
    ASSERT_TRUE(task.result);
    EXPECT_EQ(std::get<std::shared_ptr<const PublishView>>(*task.result)->steps.size(), 1U);
    EXPECT_EQ(rootOf(newest + 1), target);

    std::filesystem::create_directory_symlink(bucket.path(), options.outputFolder + "/link");
    EXPECT_EQ(refusalOf(run, PublishArgs { "../from", "to" }), Code::Usage);
    EXPECT_EQ(refusalOf(run, PublishArgs { "from", bucket.path() + "@12" }), Code::Usage);
    EXPECT_EQ(refusalOf(run, PublishArgs { "from", "link@12" }), Code::Auth);
    ActRequest odd = request;
    odd.args["restores"] = std::string("1x");
    EXPECT_EQ(refusalOf(run, odd), Code::Usage);
}

/// A folder that a rebuild left when it was killed before it wrote anything.
std::string leftBy(const std::string& folder, const std::string& name)
{
    std::string path = folder + "/." + name + ".ds-0123456789abcdef-2000000000-0badf00d";
    std::filesystem::create_directories(path);
    return path;
}

TEST_F(ActsOfAMonitor, ADiscardRemovesWhatItsPlanNamesAndTellsWhatStays)
{
    const std::string run = followed(bucket.source());
    const std::string gone = leftBy(options.outputFolder, "a");
    const std::string changed = leftBy(options.outputFolder, "b");
    const std::string kept = leftBy(options.outputFolder + "/sub", "c");
    const PlanView plan = planOf(run, { "discard", {} });
    ASSERT_EQ(plan.state, "ready") << (plan.problem ? plan.problem->text : "");
    ASSERT_EQ(plan.steps.size(), 2U);
    EXPECT_EQ(plan.steps[0].text, "Remove " + gone);
    ASSERT_TRUE(plan.act);
    ASSERT_EQ(plan.act->deletes.size(), 2U);
    EXPECT_EQ(plan.act->deletes[0].store + plan.act->deletes[0].key, gone + "/");
    EXPECT_EQ(plan.cli, "deltascope discard " + options.outputFolder + " --yes");
    std::filesystem::create_directory(changed + "/more");
    const TaskView task = carriedOut(plan);
    ASSERT_EQ(task.state, "done") << (task.problem ? task.problem->text : "");
    const auto view = std::get<std::shared_ptr<const DiscardView>>(*task.result);
    ASSERT_EQ(view->leftovers.size(), 2U);
    EXPECT_TRUE(view->leftovers[0].removed);
    EXPECT_FALSE(view->leftovers[1].removed);
    ASSERT_TRUE(view->leftovers[1].problem);
    EXPECT_EQ(view->leftovers[1].problem->where, changed);
    EXPECT_FALSE(std::filesystem::exists(gone));
    EXPECT_TRUE(std::filesystem::exists(changed) && std::filesystem::exists(kept));
    const PlanView none = planOf(run, { "discard", { { "name", std::string("other") } } });
    ASSERT_EQ(none.state, "ready");
    EXPECT_EQ(none.warnings, std::vector<std::string> { "There is nothing to discard." });
}

TEST_F(ActsOfAMonitor, ADiscardStaysBelowTheOutputFolder)
{
    const std::string run = followed(bucket.source());
    const std::string outside = leftBy(home.path("elsewhere"), "a");
    const std::string inside = leftBy(options.outputFolder + "/sub", "a");
    std::filesystem::create_directory_symlink(home.path("elsewhere"), options.outputFolder + "/link");
    const auto in = [](std::string folder) { return ActRequest { "discard", { { "folder", std::move(folder) } } }; };
    EXPECT_EQ(refusalOf(run, in(home.path("elsewhere"))), Code::Usage);
    EXPECT_EQ(refusalOf(run, in("../elsewhere")), Code::Usage);
    EXPECT_EQ(refusalOf(run, in(options.outputFolder + "/../elsewhere")), Code::Usage);
    const PlanView linked = planOf(run, in("link"));
    ASSERT_TRUE(linked.problem);
    EXPECT_EQ(linked.problem->code, "DS-AUTH");
    for (const std::string& folder : { std::string("sub"), options.outputFolder + "/sub" }) {
        const PlanView plan = planOf(run, in(folder)); // as a task shows it, too
        ASSERT_EQ(plan.steps.size(), 1U) << folder;
        EXPECT_EQ(plan.steps[0].text, "Remove " + inside);
    }
    EXPECT_TRUE(std::filesystem::exists(outside));
}

TEST_F(ActsOfAMonitor, WhatIsNoActOrNoArgumentIsRefused)
{
    const std::string run = followed(bucket.source());
    EXPECT_EQ(refusalOf(run, { "explode", {} }), Code::Usage);
    EXPECT_EQ(refusalOf(run, { "rollback", {} }), Code::Usage);
    EXPECT_EQ(refusalOf(run, { "rollback", { { "step", true } } }), Code::Usage);
    EXPECT_EQ(refusalOf(run, { "rollback", { { "step", std::string("12") }, { "force", true } } }), Code::Usage);
    EXPECT_EQ(refusalOf(run, rollBackTo("4711")), Code::NotFound);
    EXPECT_EQ(refusalOf(run, { "note", { { "step", std::string("12") }, { "text", std::string() } } }), Code::Usage);
    EXPECT_EQ(refusalOf(run, { "pin", { { "step", std::string("12") }, { "name", std::string("no good") } } }),
              Code::Usage);
    EXPECT_EQ(refusalOf(run, { "verify", { { "level", std::int64_t { 5 } } } }), Code::Usage);
    EXPECT_EQ(refusalOf(run, { "materialize", { { "step", std::string("12") }, { "state", std::string("both") } } }),
              Code::Usage);
}

TEST(Acts, EachHasItsKindATitleAndFieldsThatSayWhatTheyAre)
{
    std::vector<std::string_view> kinds;
    for (const ActInfo& act : actInfos()) {
        kinds.push_back(act.kind);
        EXPECT_FALSE(act.title.empty()) << act.kind;
        EXPECT_EQ(act.way == ActWay::OwnCommand, act.help.empty()) << act.kind << ": the others are made commands";
        for (const ActField& field : act.fields) {
            EXPECT_FALSE(field.label.empty()) << act.kind << ' ' << field.name;
            EXPECT_TRUE(field.help.ends_with('.')) << act.kind << ' ' << field.name;
            EXPECT_EQ(field.type == ActField::Type::Choice, !field.choices.empty()) << field.name;
        }
    }
    std::sort(kinds.begin(), kinds.end());
    EXPECT_EQ(std::adjacent_find(kinds.begin(), kinds.end()), kinds.end());
    EXPECT_EQ(kinds.size(), 13U);
}

} // namespace
} // namespace deltascope::app
