#include "deltascope/engine/branch.h"

#include "acts/act_parts.h"
#include "acts/producers.h"
#include "deltascope/engine/beside_keys.h"
#include "publish/writer_choice.h"

#include <fmt/format.h>

namespace deltascope {

namespace {

struct BranchScene {
    Run run;
    const Version* version = nullptr; ///< whose state the branch begins with
    std::string origin; ///< fact::Branch
    PublishOptions publishing;
    std::string key; ///< of the anchor
    bool isDone = false;
};

/// Whether the branch is there already; the place is empty if not. Errors: Exists (it holds something else), those of
/// the store.
Result<bool> isBranchIn(Workbench& bench, const std::shared_ptr<ObjectStore>& into, const BranchScene& scene,
                        TaskContext& task)
{
    DS_TRY(std::vector<ObjectInfo> listing, listAll(*into, "", task));
    std::erase_if(listing, [](const ObjectInfo& object) { return object.key.starts_with(beside::Root); });
    if (listing.empty())
        return false;
    const auto taken = fail(Code::Exists, "a branch begins in an empty place, and something is there already",
                            into->uri(), "name another place");
    const Result<Run> run = openRun(bench, into, {}, task);
    if (run ? run->versions.empty() : run.error().code == Code::Layout)
        return taken;
    DS_CHECK(run);
    const Version& first = run->versions.front();
    if (!first.summary || first.summary->branch != scene.origin || first.objects.name != scene.key)
        return taken;
    return true;
}

Result<BranchScene> openBranchScene(Workbench& bench, const std::shared_ptr<ObjectStore>& source,
                                    const OpenOptions& options, const ChooseVersion& choose, const BranchTarget& target,
                                    TaskContext& task)
{
    BranchScene scene;
    DS_TRY(scene.run, openRun(bench, source, options, task));
    DS_TRY(scene.version, choose(scene.run));
    if (scene.run.recordsLost)
        return fail(*scene.run.recordsLost);
    if (scene.version->obstacle)
        return fail(*scene.version->obstacle);
    scene.origin = fmt::format("{}@{}", source->uri(), scene.version->step());
    scene.publishing.layout = "trl-v2";
    scene.publishing.actor = "branch";
    scene.publishing.branch = scene.origin;
    DS_TRY(const WriterChoice writers, WriterChoice::of(scene.publishing, {}));
    scene.key = writers.anchorKey(writers.firstStep());
    if (target.into) {
        DS_TRY(scene.isDone, isBranchIn(bench, target.into, scene, task));
    }
    return scene;
}

Result<ActPlan> branchFacts(const BranchScene& scene, const BranchTarget& target)
{
    ActPlan plan;
    plan.kind = "branch";
    plan.arguments = { { "epoch", std::to_string(scene.version->epoch) },
                       { "step", std::to_string(scene.version->step()) },
                       { "into", target.address } };
    DS_TRY(plan.reads, objectsRead(scene.run, { scene.version }));
    plan.writes = { { target.address, scene.key, {}, 0 } };
    plan.beside = { { "journal", "2" }, { "lease", "1" }, { "spans", "1" } };
    plan.effects = { { "first step", fmt::format("the state of {}", scene.origin) } };
    plan.unknown = {
        "which trainer goes on from it: deltascope materialize --for-training makes what one resumes from"
    };
    return plan;
}

template <class Act>
auto withBranchState(Workbench& bench, const BranchScene& scene, const Act& act, TaskContext& task)
    -> decltype(act(std::declval<const PathState&>()))
{
    using Outcome = decltype(act(std::declval<const PathState&>()));
    DS_TRY(FallbackPlans plans, FallbackPlans::of(scene.run, *scene.version));
    return tryPlans(plans, [&](const Plan& plan) -> Outcome {
        DS_TRY(const PathPtr path, openChecked(bench, scene.run, plan, false, task));
        return act(*path);
    });
}

/// That the anchor can be read, and has the root that its publisher recorded.
Result<void> expectBranchReadsBack(Workbench& bench, const std::shared_ptr<ObjectStore>& into, TaskContext& task)
{
    DS_TRY(Run run, openRun(bench, into, {}, task));
    return expectOwnRoot(bench, run, run.versions.front(), task);
}

} // namespace

Result<BranchPlan> planBranch(Workbench& bench, std::shared_ptr<ObjectStore> source, const OpenOptions& options,
                              const ChooseVersion& version, const BranchTarget& target, TaskContext& task)
{
    const TaskContext::Patience patience(task);
    DS_TRY(BranchScene scene, openBranchScene(bench, source, options, version, target, task));
    BranchPlan plan;
    plan.from = scene.version->step();
    plan.step = 1;
    plan.isDone = scene.isDone;
    DS_TRY(plan.act, branchFacts(scene, target));
    DS_TRY(plan.evidence, verifyTarget(bench, scene.run, *scene.version, plan.act.warnings, task));
    if (plan.isDone)
        DS_CHECK(expectBranchReadsBack(bench, target.into, task));
    const auto bytesOf = [](const PathState& chain) -> Result<std::uint64_t> { return chain.stateBytes(); };
    DS_TRY(plan.stateBytes, withBranchState(bench, scene, bytesOf, task));
    return plan;
}

Result<Branched> branch(Workbench& bench, std::shared_ptr<ObjectStore> source, const OpenOptions& options,
                        const ChooseVersion& version, const BranchTarget& target, const ActOptions& how,
                        TaskContext& task)
{
    const TaskContext::Patience patience(task);
    DS_TRY(const BranchScene scene, openBranchScene(bench, source, options, version, target, task));
    DS_TRY(const ActPlan plan, branchFacts(scene, target));
    DS_CHECK(expectPlanned(plan, how.planHash, source->uri(), scene.version->step()));
    ActStory story(bench, target.into, how.by, plan,
                   fmt::format("step {} begins with the state of {}", 1, scene.origin));
    Branched done { scene.version->step(), 1, {}, scene.isDone };
    if (scene.isDone) {
        DS_CHECK(expectBranchReadsBack(bench, target.into, task));
        DS_TRY(const std::optional<std::string> holder, leaseHolder(bench, *target.into, task));
        DS_TRY(const std::vector<JournalEntry> journal, readJournal(*target.into, bench.shadowFolder, task));
        const std::optional<JournalEntry> last = newestEntry(journal, plan.kind, scene.key);
        if (!holder && last && last->phase != "done") // its process ended behind the put
            DS_CHECK(story.tell("done", {}, task));
        return done;
    }
    PublishOptions publishing = scene.publishing;
    OpenOptions empty;
    empty.layout = publishing.layout;
    DS_TRY(Publisher publisher, Publisher::open(bench, target.into, empty, publishing, task));
    if (publisher.headStep())
        return fail(Code::Exists, "something was published there since the plan was made", target.into->uri());
    DS_CHECK(story.tell("begun", {}, task));
    const auto publish = [&](const PathState& state) { return publisher.publish(nullptr, state, {}, task); };
    const Result<PublishedVersion> published = withBranchState(bench, scene, publish, task);
    const Result<void> outcome = published
        ? behindPublication(expectBranchReadsBack(bench, target.into, task), *published)
        : fail(published.error());
    if (!outcome) {
        if (!published || !mayStand(outcome.error())) // else the next try ends the story
            static_cast<void>(story.tell("failed", outcome.error().text, task));
        return fail(outcome.error());
    }
    DS_CHECK(story.tell("done", {}, task));
    for (const ObjectInfo& object : published->objects)
        done.keys.push_back(object.key);
    return done;
}

} // namespace deltascope
