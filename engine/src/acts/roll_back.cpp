#include "deltascope/engine/roll_back.h"

#include "acts/act_parts.h"
#include "acts/producers.h"
#include "publish/newest_version.h"
#include "publish/writer_choice.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace deltascope {

namespace {

/// The run, its newest version and the one whose state is to be restored.
struct Scene {
    Run run;
    const Version* head = nullptr;
    const Version* target = nullptr;
    const Version* leftover = nullptr; ///< what an earlier call left unfinished behind the head; null: nothing
    PublishOptions publishing;
};

std::string materializeLine(const Run& run, const Version& version)
{
    return fmt::format("deltascope materialize {}@{} -o DIR", run.store->uri(), version.step());
}

/// What can be done where nothing can be published.
tl::unexpected<Error> cannotPublish(const Run& run, const Version& target)
{
    static const std::map<std::string_view, std::string_view> Ways {
        { "skyrl", "its engines follow strictly ascending versions: materialize the step into a new sync folder" },
        { "grail", "its windows are signed and named by block: materialize the step" },
        { "modelexpress", "its server decides what is loaded: publish the materialized checkpoint with its client" },
        { "hf", "engines load a path: materialize the step, and let them load that folder" },
        { "dcp", "engines load a path: materialize the step, and let them load that folder" },
    };
    const auto way = Ways.find(run.layout->word());
    return fail(Error {
        Code::Unsupported,
        fmt::format("a roll back cannot be published in {}: {}", run.layout->word(),
                    way == Ways.end() ? "its trainer names what engines load: materialize the step" : way->second),
        run.store->uri(), target.step(), materializeLine(run, target) });
}

/// As the newest delta was written, so that its readers know how to read what is written.
PublishOptions publishingOf(const Run& run, const Version& head)
{
    PublishOptions options;
    options.layout = run.layout->word();
    options.anchorEvery = 0;
    options.actor = "rollback";
    if (head.kind != VersionKind::Delta || !head.summary)
        return options;
    PublishOptions same = options;
    same.encoding = head.summary->encoding;
    if (options.layout == "slime-v2")
        same.checksum = word(head.summary->digests);
    return WriterChoice::of(same, {}) ? same : options;
}

/// Whether the version is unfinished, and a roll back that did not end well began to write it. What was written long
/// behind the last word of that roll back may be somebody else's, until nobody has touched it for long.
Result<bool> isOurLeftover(Workbench& bench, const ObjectStore& source, const Version& version, TaskContext& task)
{
    if (!version.failure || version.failure->code != Code::Unfinished)
        return false;
    DS_TRY(const std::vector<JournalEntry> journal, readJournal(source, bench.shadowFolder, task));
    const std::optional<JournalEntry> entry = newestEntry(journal, "rollback", version.objects.name);
    if (!entry || entry->phase == "done")
        return false;
    constexpr std::int64_t Meanwhile = 60'000'000; ///< microseconds from a word to the put behind it
    std::int64_t touchedUs = 0;
    for (const ObjectInfo& object : version.objects.objects)
        touchedUs = std::max(touchedUs, object.modifiedUs);
    return !version.beingWritten || touchedUs <= entry->tUs + Meanwhile;
}

/// The newest version, or the one before it where the newest is what an earlier call left unfinished. Null: none.
Result<const Version*> finishedHead(Workbench& bench, const Run& run, TaskContext& task)
{
    const Version* const newest = newestVersion(run);
    if (!newest || newest == run.versions.data() || (newest - 1)->epoch != newest->epoch)
        return newest;
    DS_TRY(const bool isLeftover, isOurLeftover(bench, *run.store, *newest, task));
    return isLeftover ? newest - 1 : newest;
}

Error cannotGoOnFrom(const Scene& scene, const Error& obstacle)
{
    return { obstacle.code, "a roll back is a delta from the newest step, which cannot be rebuilt: " + obstacle.text,
             obstacle.where, obstacle.step, materializeLine(scene.run, *scene.target) };
}

Result<Scene> openScene(Workbench& bench, const std::shared_ptr<ObjectStore>& source, const OpenOptions& options,
                        const ChooseVersion& choose, TaskContext& task)
{
    Scene scene;
    DS_TRY(scene.run, openRun(bench, source, options, task));
    DS_TRY(scene.target, choose(scene.run));
    DS_TRY(scene.head, finishedHead(bench, scene.run, task));
    if (const Version* const newest = newestVersion(scene.run); newest != scene.head)
        scene.leftover = newest;
    if (scene.run.recordsLost)
        return fail(*scene.run.recordsLost);
    if (scene.target->epoch != scene.head->epoch) // `ds.restores` is a step number, and those may begin again
        return fail(
            Error { Code::Unsupported,
                    fmt::format("step {} is one of epoch {}, and a roll back restores a step of the newest epoch, {}",
                                scene.target->step(), scene.target->epoch, scene.head->epoch),
                    source->uri(), scene.target->step(),
                    fmt::format("deltascope branch {}@{}:{} --into DIR begins a new run with its state", source->uri(),
                                scene.target->epoch, scene.target->step()) });
    scene.publishing = publishingOf(scene.run, *scene.head);
    if (!WriterChoice::of(scene.publishing, {}))
        return cannotPublish(scene.run, *scene.target);
    if (scene.target->obstacle)
        return fail(*scene.target->obstacle);
    if (scene.head->obstacle)
        return fail(cannotGoOnFrom(scene, *scene.head->obstacle));
    if (!scene.head->objects.mirror.empty())
        return fail(Error { Code::Vanished,
                            fmt::format("step {}, the newest, is gone from the source and is read from the mirror {}: "
                                        "nothing can be published behind it",
                                        scene.head->step(), scene.head->objects.mirror),
                            source->uri(), scene.head->step(),
                            "Copy its objects back into the source first. Or rebuild the step: "
                                + materializeLine(scene.run, *scene.target) });
    if (scene.head == scene.target)
        return fail(Error { Code::Usage, fmt::format("step {} is the newest step already", scene.target->step()),
                            source->uri(), scene.target->step(), "name an earlier step" });
    return scene;
}

/// Whether the newest version restores the target, as its publisher's roots say.
bool isRestored(const Scene& scene)
{
    const std::optional<VersionSummary>& head = scene.head->summary;
    const std::optional<VersionSummary>& target = scene.target->summary;
    return head && target && head->restores == scene.target->step() && !head->root.empty()
        && (target->root.empty() || target->root == head->root);
}

std::string rootOf(const Version& version) { return version.summary ? version.summary->root : std::string(); }

/// What is going to be done, as facts.
Result<ActPlan> factsOf(const Scene& scene)
{
    ActPlan plan;
    plan.kind = "rollback";
    plan.arguments = { { "epoch", std::to_string(scene.target->epoch) },
                       { "step", std::to_string(scene.target->step()) } };
    DS_TRY(plan.reads, objectsRead(scene.run, { scene.head, scene.target }));
    DS_TRY(const WriterChoice writers, WriterChoice::of(scene.publishing, {}));
    const std::int64_t step = scene.head->step() + 1;
    for (const std::string& key : writers.deltaKeys(step))
        plan.writes.push_back({ {}, key, {}, 0 });
    plan.beside = { { "journal", "2" }, { "lease", "1" }, { "spans", "1" } };
    plan.effects = { { "newest step", fmt::format("{} to {}", scene.head->step(), step) },
                     { "state", fmt::format("of step {}", scene.target->step()) },
                     { "root", rootOf(*scene.target) } };
    plan.undo = "rollback";
    if (!scene.run.store->traits().conditionalPut)
        plan.warnings.push_back(Error { Code::Unsupported,
                                        "the store cannot put under a condition: another publisher would be noticed "
                                        "only after it wrote the same step",
                                        scene.run.store->uri(), step, "make sure that nobody else publishes there" });
    plan.unknown = { fmt::format("which engines load step {}, and when: they follow their trainer or a number", step),
                     "whether the trainer can go on behind it: it keeps its own state until it loads the step" };
    return plan;
}

/// Does `act` with both states, and with other ways to them where a form proves damaged.
template <class Act>
auto withStates(Workbench& bench, const Scene& scene, const Act& act, TaskContext& task)
    -> decltype(act(std::declval<const PathState&>(), std::declval<const PathState&>()))
{
    using Outcome = decltype(act(std::declval<const PathState&>(), std::declval<const PathState&>()));
    DS_TRY(FallbackPlans from, FallbackPlans::of(scene.run, *scene.head));
    DS_TRY(FallbackPlans to, FallbackPlans::of(scene.run, *scene.target));
    return tryPlans(from, [&](const Plan& fromPlan) -> Outcome {
        return tryPlans(to, [&](const Plan& toPlan) -> Outcome {
            DS_TRY(const PathPtr a, openChecked(bench, scene.run, fromPlan, false, task));
            DS_TRY(const PathPtr b, openChecked(bench, scene.run, toPlan, false, task));
            return act(*a, *b);
        });
    });
}

std::string storyText(std::int64_t step, std::int64_t restored)
{
    return fmt::format("step {} restores step {}", step, restored);
}

/// The last word about a version of a call that was killed or failed behind its put; nothing where the call is done.
Result<std::optional<JournalEntry>> openStory(Workbench& bench, const ObjectStore& source, const Version& written,
                                              TaskContext& task)
{
    DS_TRY(const std::vector<JournalEntry> journal, readJournal(source, bench.shadowFolder, task));
    std::optional<JournalEntry> last = newestEntry(journal, "rollback", written.objects.objects.back().key);
    if (last && last->phase == "done")
        last.reset();
    return last;
}

/// Ends the story of a call that was killed or failed behind its put.
Result<void> finishStory(Workbench& bench, const std::shared_ptr<ObjectStore>& source, const Version& written,
                         const ActOptions& how, TaskContext& task)
{
    DS_TRY(const std::optional<std::string> holder, leaseHolder(bench, *source, task));
    if (holder) // it may be the call itself, which has not come to its end
        return {};
    DS_TRY(const std::optional<JournalEntry> last, openStory(bench, *source, written, task));
    if (!last)
        return {};
    JournalEntry entry = *last;
    entry.phase = "done";
    entry.text = storyText(written.step(), *written.summary->restores);
    Beside beside(source, { how.by, bench.shadowFolder, bench.nowUs });
    DS_CHECK(beside.append(std::move(entry), task));
    return {};
}

/// That nobody else has published behind the head meanwhile. What was written is removed if somebody has.
Result<void> expectSoleWriter(const std::shared_ptr<ObjectStore>& source, Workbench& bench, const OpenOptions& options,
                              const PublishedVersion& own, TaskContext& task)
{
    DS_TRY(const Run now, openRun(bench, source, options, task));
    for (const Version& version : now.versions) {
        if (version.epoch != now.epochs() - 1 || version.step() < own.step)
            continue;
        const bool isOwn = std::all_of(own.objects.begin(), own.objects.end(), [&](const ObjectInfo& object) {
            return std::any_of(version.objects.objects.begin(), version.objects.objects.end(),
                               [&](const ObjectInfo& there) { return there.identity == object.identity; });
        });
        if (isOwn)
            continue;
        std::string fate = "is removed";
        for (const Result<void>& removed : source->remove({ own.objects.rbegin(), own.objects.rend() }, task)) {
            if (!removed && removed.error().code != Code::NotFound && removed.error().code != Code::Rewritten)
                fate = "could not be removed: " + removed.error().text;
        }
        return fail(
            Error { Code::Exists,
                    fmt::format("step {} has two writers: {} was published at the same time. What the roll back "
                                "wrote {}",
                                own.step, version.objects.name, fate),
                    source->uri(), own.step, "Stop whoever publishes there, then repeat this." });
    }
    return {};
}

/// That the version that was written can be read, and leads to the state that was meant.
Result<void> expectReadsBack(Workbench& bench, const std::shared_ptr<ObjectStore>& source, const OpenOptions& options,
                             std::int64_t step, TaskContext& task)
{
    DS_TRY(Run now, openRun(bench, source, options, task));
    const Version* version = now.find(step);
    if (!version)
        return fail(Error { Code::NotFound, "the step that was published is not there", source->uri(), step, {} });
    return expectOwnRoot(bench, now, *version, task);
}

} // namespace

Result<const Version*> stateBeforeRollBack(Workbench& bench, const Run& run, TaskContext& task)
{
    DS_TRY(const Version* const head, finishedHead(bench, run, task));
    if (!head || !head->summary || !head->summary->restores || !head->base)
        return fail(Error {
            Code::NotFound,
            head ? fmt::format("the newest step, {}, is no roll back: there is nothing to undo", head->step())
                 : "the source holds no version",
            run.store->uri(), std::nullopt, "deltascope rollback SOURCE@STEP restores any earlier step of its epoch" });
    const Version& before = run.versions[*head->base];
    const bool isUndo = before.summary && before.summary->restores && before.base
        && restoredVersion(run, static_cast<std::size_t>(head - run.versions.data())) == before.base;
    if (!isUndo)
        return &before;
    DS_TRY(const std::optional<JournalEntry> unfinished, openStory(bench, *run.store, *head, task));
    return unfinished ? &run.versions[*before.base] : &before;
}

Result<RollBackPlan> planRollBack(Workbench& bench, std::shared_ptr<ObjectStore> source, const OpenOptions& options,
                                  const ChooseVersion& target, TaskContext& task)
{
    const TaskContext::Patience patience(task);
    DS_TRY(Scene scene, openScene(bench, source, options, target, task));
    RollBackPlan plan;
    plan.from = scene.head->step();
    plan.to = scene.target->step();
    plan.step = plan.from + 1;
    DS_TRY(plan.act, factsOf(scene));
    plan.isDone = isRestored(scene);
    DS_TRY(plan.evidence, verifyTarget(bench, scene.run, *scene.target, plan.act.warnings, task));
    if (const Result<void> sound = expectReplays(bench, scene.run, *scene.head, task); !sound)
        return fail(cannotGoOnFrom(scene, sound.error()));
    if (plan.isDone)
        return plan;
    DS_CHECK(expectNoProducer(bench, scene.run, scene.leftover, task));
    const auto compare = [&](const PathState& from, const PathState& to) {
        return diffStates(bench, from, to, std::nullopt, task);
    };
    DS_TRY(plan.difference, withStates(bench, scene, compare, task));
    if (plan.difference.equal())
        return fail(Error {
            Code::Usage,
            fmt::format("step {} has the state of step {} already: there is nothing to roll back", plan.from, plan.to),
            source->uri(),
            plan.to,
            {} });
    DS_TRY(const WriterChoice writers, WriterChoice::of(scene.publishing, {}));
    for (const TensorDiff& tensor : plan.difference.tensors) {
        Result<void> carried = tensor.different > 0 ? writers.expectCarries(tensor.tensor) : Result<void>();
        if (carried)
            continue;
        carried.error().where = source->uri();
        carried.error().action = materializeLine(scene.run, *scene.target);
        return fail(std::move(carried.error()));
    }
    return plan;
}

Result<RolledBack> rollBack(Workbench& bench, std::shared_ptr<ObjectStore> source, const OpenOptions& options,
                            const ChooseVersion& target, const ActOptions& how, TaskContext& task)
{
    const TaskContext::Patience patience(task);
    DS_TRY(Scene scene, openScene(bench, source, options, target, task));
    DS_TRY(const ActPlan plan, factsOf(scene));
    if (isRestored(scene)) {
        DS_CHECK(expectReadsBack(bench, source, options, scene.head->step(), task));
        DS_CHECK(finishStory(bench, source, *scene.head, how, task));
        return RolledBack { scene.head->step() - 1, scene.target->step(), scene.head->step(), 0, {}, true };
    }
    DS_CHECK(expectPlanned(plan, how.planHash, source->uri(), scene.target->step()));
    DS_CHECK(expectNoProducer(bench, scene.run, scene.leftover, task));
    PublishOptions publishing = scene.publishing;
    publishing.restores = scene.target->step();
    OpenOptions base = options;
    base.layout = publishing.layout;
    base.mirrors.reset();
    DS_TRY(Publisher publisher, Publisher::open(bench, source, base, publishing, task));
    if (publisher.headStep() != scene.head->step())
        return fail(Error { Code::Exists, "something was published since the plan was made", source->uri(),
                            publisher.headStep(), "Look at the plan again, and repeat this." });
    ActStory story(bench, source, how.by, plan, storyText(scene.head->step() + 1, scene.target->step()));
    DS_CHECK(story.tell("begun", {}, task));
    const auto publish = [&](const PathState& from, const PathState& to) {
        return publisher.publish(&from, to, publisher.headOrigin(), task);
    };
    const Result<PublishedVersion> version = withStates(bench, scene, publish, task);
    const auto look = [&]() -> Result<void> {
        DS_CHECK(expectSoleWriter(source, bench, base, *version, task));
        return expectReadsBack(bench, source, base, version->step, task);
    };
    const Result<void> outcome = version ? behindPublication(look(), *version) : fail(version.error());
    if (!outcome) {
        if (!version || !mayStand(outcome.error())) // else the next try ends the story
            static_cast<void>(story.tell("failed", outcome.error().text, task));
        return fail(outcome.error());
    }
    DS_CHECK(story.tell("done", {}, task));
    RolledBack done { scene.head->step(), scene.target->step(), version->step, version->changedElements, {}, false };
    for (const ObjectInfo& object : version->objects)
        done.keys.push_back(object.key);
    return done;
}

} // namespace deltascope
