#include "publishing.h"

#include "act_plan_view.h"
#include "opening.h"
#include "view/make_views.h"

#include "deltascope/engine/publish_step.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>

namespace deltascope::app {

namespace {

constexpr std::size_t MostKept = 200; ///< steps and notices of a long publication

Result<PublishOptions> optionsOf(const PublishRequest& request)
{
    PublishOptions options;
    options.layout = request.into.layout;
    options.encoding = request.encoding;
    options.checksum = request.checksum;
    options.anchorEvery = request.anchorEvery;
    options.anchorWhenCheaper = request.anchorWhenCheaper;
    options.restoresPerAnchor = request.restoresPerAnchor;
    options.newEpoch = request.newEpoch;
    options.allowSuspect = request.allowSuspect;
    options.acceptRewritten = request.acceptRewritten;
    DS_TRY(options.prefixes, parsePrefixMap(request.mapPrefix));
    return options;
}

/// Opens the run to publish into; a missing folder is an empty run. A plan makes no folder: null.
Result<std::shared_ptr<ObjectStore>> openInto(const Workbench& bench, const PublishRequest& request, bool isPlan)
{
    std::error_code ignored; // what cannot be made fails when it is opened
    if (const Result<std::string>& path = request.into.source.path()) {
        if (isPlan && !std::filesystem::exists(*path, ignored))
            return std::shared_ptr<ObjectStore>();
        std::filesystem::create_directory(*path, ignored);
    }
    return bench.stores->open(request.into.source, { request.soleWriter });
}

Result<OpenOptions> baseOf(const Workbench& bench, const PublishRequest& request)
{
    OpenOptions base;
    base.layout = request.into.layout;
    if (!request.into.base.isEmpty()) {
        DS_TRY(base.base, bench.stores->open(request.into.base));
    }
    return base;
}

/// The name of a checkpoint folder; a step of another run has none that could be found again.
std::string originOf(const VersionRequest& request)
{
    const std::filesystem::path path(request.source.source.absolute().text());
    return request.version.empty() ? path.filename().string() : std::string();
}

/// A published version as the run shows it, with what only its publisher knows.
StepView stepOf(const Run& run, const PublishedVersion& version)
{
    StepView view;
    view.kind = version.anchor ? "anchor" : "delta";
    if (const Version* step = run.find(version.step))
        view = makeStepView(run, *step, Planner(run));
    view.step = version.step;
    view.changedElements = version.changedElements;
    if (!version.anchor)
        view.changedVsPrevious = version.changedElements;
    view.totalElements = version.totalElements;
    if (view.changedVsPrevious && version.totalElements > 0)
        view.changedFraction =
            static_cast<double>(*view.changedVsPrevious) / static_cast<double>(version.totalElements);
    return view;
}

template <class T> void keepNewest(std::vector<T>& list)
{
    if (list.size() > MostKept)
        list.erase(list.begin(), list.end() - MostKept);
}

void addNotice(PublishView& view, std::string text)
{
    view.notices.push_back(std::move(text));
    ++view.noticesInAll;
    keepNewest(view.notices);
}

/// What nothing but the user's word keeps from going wrong.
void warnOfOthers(PublishView& view, const ObjectStore& into)
{
    if (!into.traits().conditionalPut)
        addNotice(
            view,
            "the store cannot put under a condition: a second publisher would not be noticed, and versions record "
            "that there is none by the word of --sole-writer alone");
}

/// That the settings of adapters stay behind; once.
void warnOfSettings(PublishView& view, bool isAdapter)
{
    const std::string text = "these are adapters (PEFT), and adapter_config.json is not part of what is published: who "
                             "loads them takes r, lora_alpha and the other settings from elsewhere";
    if (isAdapter && std::find(view.notices.begin(), view.notices.end(), text) == view.notices.end())
        addNotice(view, text);
}

std::string anchorNotice(std::int64_t step, const std::string& reason)
{
    return fmt::format("step {} is an anchor: {}", step, reason);
}

void addStep(PublishView& view, const Run& run, const PublishedVersion& version)
{
    if (version.wasThere) {
        addNotice(view,
                  fmt::format("{} is already published, as step {}; nothing was put",
                              version.origin.empty() ? "the state" : version.origin, version.step));
        return;
    }
    warnOfSettings(view, version.isAdapter);
    view.nothingChanged = version.objects.empty();
    if (version.objects.empty()) {
        addNotice(view,
                  fmt::format("{}nothing changed since step {}, and {} has no form for an empty step",
                              version.origin.empty() ? std::string() : version.origin + ": ", version.step - 1,
                              view.layout));
        return;
    }
    view.steps.push_back(stepOf(run, version));
    ++view.stepsInAll;
    keepNewest(view.steps);
    if (!version.anchorReason.empty() && version.step > 1)
        addNotice(view, anchorNotice(version.step, version.anchorReason));
}

/// The publication itself has succeeded.
std::string notLookedAt(const Error& error)
{
    return fmt::format("published, and the run could not be looked at behind that: {}", error.text);
}

/// A step that is to be published, before its states are read.
struct Publication {
    std::shared_ptr<ObjectStore> into; ///< null: the folder is not there yet
    OpenOptions base;
    PublishOptions options;
    std::unique_ptr<OpenState> from, to; ///< `step` reads them
    StepToPublish step;
};

StepState stepStateOf(Workbench& bench, const VersionRequest& request, OpenState& state)
{
    StepState step = state.file ? StepState::ofFile(state.file->store(), state.file->object())
                                : StepState::of({ *state.run, *state.version, state.plans->plan() });
    step.origin = originOf(request);
    step.open = [&bench, &state](TaskContext& task) -> Result<const State*> {
        DS_CHECK(readState(bench, state, task));
        return state.state.get();
    };
    return step;
}

Result<Publication> openPublication(Workbench& bench, const PublishRequest& request, bool isPlan, TaskContext& task)
{
    Publication publication;
    DS_TRY(publication.options, optionsOf(request));
    DS_TRY(OpenState from, chooseState(bench, request.from, false, task));
    DS_TRY(OpenState to, chooseState(bench, request.to, false, task));
    publication.from = std::make_unique<OpenState>(std::move(from));
    publication.to = std::make_unique<OpenState>(std::move(to));
    publication.step = { request.into.source.canonical().text(), stepStateOf(bench, request.from, *publication.from),
                         stepStateOf(bench, request.to, *publication.to) };
    DS_TRY(publication.into, openInto(bench, request, isPlan));
    DS_TRY(publication.base, baseOf(bench, request));
    if (publication.options.layout.empty() && publication.into) { // that of the run
        DS_TRY(const Run run, openRun(bench, publication.into, publication.base, task));
        publication.options.layout = publication.base.layout = run.layout->word();
    }
    return publication;
}

PublishView viewOf(const Publication& publication)
{
    PublishView view;
    view.source = publication.into ? publication.into->uri() : publication.step.into;
    view.run = std::filesystem::path(view.source).filename().string();
    view.layout = publication.options.layout;
    return view;
}

}

Result<PublishView> planPublication(Workbench& bench, const PublishRequest& request, TaskContext& task)
{
    DS_TRY(const Publication publication, openPublication(bench, request, true, task));
    DS_TRY(const PublishPlan plan,
           planPublish(bench, publication.into, publication.base, publication.step, publication.options, task));
    PublishView view = viewOf(publication);
    view.isDone = false;
    view.newest = plan.head;
    view.stateBytes = plan.stateBytes;
    view.plan = makeActPlanView(plan.act);
    warnOfSettings(view, plan.isAdapter);
    for (const DueVersion& version : plan.versions) {
        if (!version.anchorReason.empty() && version.step > 1)
            addNotice(view, anchorNotice(version.step, version.anchorReason));
    }
    return view;
}

Result<PublishView> publishOnce(Workbench& bench, const PublishRequest& request, const std::string& planHash,
                                TaskContext& task)
{
    const auto began = std::chrono::steady_clock::now();
    DS_TRY(Publication publication, openPublication(bench, request, false, task));
    PublishView view = viewOf(publication);
    warnOfOthers(view, *publication.into);
    publication.options.lease.onWaiting = [&](const std::string& text) { addNotice(view, text); };
    DS_TRY(
        const std::vector<PublishedVersion> versions,
        publishStep(bench, publication.into, publication.base, publication.step, publication.options, planHash, task));
    std::vector<Error> notices = publication.from->notices();
    for (Error& notice : publication.to->notices())
        notices.push_back(std::move(notice));
    view.reads = makeReadsView({ publication.from->state.get(), publication.to->state.get() }, std::move(notices));
    for (const ProblemView& notice : view.reads.notices)
        addNotice(view, fmt::format("{}: {}", notice.where, notice.text));
    const bool nothing = std::all_of(versions.begin(), versions.end(),
                                     [](const PublishedVersion& version) { return version.objects.empty(); });
    const Result<Run> run = nothing ? Run() : openRun(bench, publication.into, publication.base, task);
    for (const PublishedVersion& version : versions)
        addStep(view, run ? *run : Run(), version);
    if (!run)
        addNotice(view, notLookedAt(run.error()));
    view.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return view;
}

Result<PublishView> publishFolder(Workbench& bench, const PublishRequest& request,
                                  const std::function<void(const PublishView&)>& onChange, TaskContext& task)
{
    DS_TRY(PublishOptions publishing, optionsOf(request));
    DS_TRY(const std::shared_ptr<ObjectStore> checkpoints, bench.stores->open(request.watchFolder));
    DS_TRY(const std::shared_ptr<ObjectStore> into, openInto(bench, request, false));
    DS_TRY(const OpenOptions base, baseOf(bench, request));
    PublishView view;
    view.source = into->uri();
    view.layout = request.into.layout;
    view.watched = checkpoints->uri();
    warnOfOthers(view, *into);
    publishing.lease.onWaiting = [&](const std::string& text) {
        addNotice(view, text);
        onChange(view);
    };
    DS_TRY(Publisher publisher, Publisher::open(bench, into, base, publishing, task));
    onChange(view);
    FollowOptions options;
    options.marker = request.marker;
    options.searchDepth = request.into.searchDepth;
    options.quietSeconds = request.quietSeconds;
    options.settleSeconds = request.settleSeconds;
    options.acceptRewritten = request.acceptRewritten;
    options.once = request.once;
    options.onVersion = [&](const PublishedVersion& version) {
        const Result<Run> run = openRun(bench, into, base, task);
        addStep(view, run ? *run : Run(), version);
        if (!run)
            addNotice(view, notLookedAt(run.error()));
        onChange(view);
    };
    options.onSkipped = [&](const std::vector<std::string>& names, const std::string& why) {
        addNotice(view, fmt::format("{}: {}", fmt::join(names, ", "), why));
        onChange(view);
    };
    options.onWaiting = [&](const std::string& text) {
        addNotice(view, text);
        onChange(view);
    };
    const Result<void> outcome = publishWatched(bench, checkpoints, publisher, options, task);
    if (!outcome && outcome.error().code != Code::Canceled)
        return fail(outcome.error());
    return view;
}

} // namespace deltascope::app
