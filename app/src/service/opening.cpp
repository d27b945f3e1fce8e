#include "opening.h"
#include "deltascope/engine/rewritten_parts.h"

#include "address.h"
#include "annotation_jobs.h"
#include "view/make_views.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <tuple>

namespace deltascope::app {

Result<EpochChoice> epochChoice(const std::string& word)
{
    if (word.empty() || word == "auto")
        return EpochChoice::Auto;
    if (word == "times")
        return EpochChoice::Times;
    if (word == "one")
        return EpochChoice::One;
    return fail(Code::Usage, "epochs are auto, times or one, not " + word);
}

Result<Run> openRequested(Workbench& bench, const SourceRequest& request, TaskContext& task,
                          std::optional<KeptLook> look, bool acceptLosses)
{
    DS_TRY(std::shared_ptr<ObjectStore> store, bench.stores->open(request.source));
    OpenOptions options;
    options.layout = request.layout;
    DS_TRY(options.epochs, epochChoice(request.epochs));
    options.mirrors = request.mirrors;
    options.searchDepth = request.searchDepth;
    options.acceptLosses = acceptLosses;
    if (look) {
        options.listing = &look->listing;
        options.changed = look->changed;
    }
    if (!request.base.isEmpty()) {
        DS_TRY(options.base, bench.stores->open(request.base));
    }
    return openRun(bench, std::move(store), options, task);
}

namespace {

/// Whether its publisher recorded what the state behind it can be compared with.
bool recordsItsState(const Version& version)
{
    const std::optional<VersionSummary>& summary = version.summary;
    return summary && (!summary->root.empty() || !summary->stateDigest.empty());
}

/// Whether the source itself holds it in several forms.
bool hasFormsOfItsOwn(const Version& version)
{
    return std::any_of(version.objects.otherForms.begin(), version.objects.otherForms.end(),
                       [](const VersionObjects& form) { return form.mirror.empty(); });
}

}

Result<void> compareFormsOnTheWay(Workbench& bench, Run& run, const Version& version, TaskContext& task)
{
    std::vector<std::size_t> open;
    std::optional<std::size_t> at = static_cast<std::size_t>(&version - run.versions.data());
    while (at) {
        const Version& passed = run.versions[*at];
        if (hasFormsOfItsOwn(passed) && !passed.facts)
            open.push_back(*at);
        at = recordsItsState(version) ? std::nullopt : passed.base;
    }
    AnalyzeOptions options;
    for (auto next = open.rbegin(); next != open.rend(); ++next) { // each stands on those in front of it
        options.range = { *next, *next };
        DS_CHECK(analyzeRun(bench, run, options, task));
    }
    return {};
}

namespace {

constexpr std::string_view FileEnd = ".safetensors";

/// The store around a single file, and its key there.
Result<std::pair<std::shared_ptr<ObjectStore>, std::string>> openAround(Workbench& bench, const Address& file)
{
    if (file.remote()) {
        RemotePlace folder = *file.remote();
        const std::size_t slash = folder.prefix.rfind('/');
        const std::string key = folder.prefix.substr(slash == std::string::npos ? 0 : slash + 1);
        folder.prefix.resize(slash == std::string::npos ? 0 : slash);
        DS_TRY(std::shared_ptr<ObjectStore> store, bench.stores->open(folder.text()));
        return std::pair(std::move(store), key);
    }
    DS_TRY(const std::filesystem::path path, file.path());
    DS_TRY(std::shared_ptr<ObjectStore> store,
           bench.stores->open(path.parent_path().empty() ? "." : path.parent_path().string()));
    return std::pair(std::move(store), path.filename().string());
}

}

bool isSingleFile(const VersionRequest& request)
{
    if (!request.version.empty())
        return false;
    if (const std::optional<RemotePlace>& place = request.source.source.remote())
        return place->prefix.ends_with(FileEnd);
    const Result<std::string>& path = request.source.source.path();
    std::error_code ignored;
    return path && std::filesystem::is_regular_file(*path, ignored);
}

std::vector<Error> OpenState::notices() const
{
    std::vector<Error> notices;
    if (run)
        notices = doubtsOfChoice(*run);
    if (version)
        std::copy_if(version->problems.begin(), version->problems.end(), std::back_inserter(notices),
                     [](const Error& problem) { return problem.code == Code::TwoModels; });
    if (plans)
        notices.insert(notices.end(), plans->replaced().begin(), plans->replaced().end());
    return notices;
}

namespace {

Result<void> openChain(Workbench& bench, OpenState& state, TaskContext& task)
{
    DS_TRY(PathPtr opened, tryPlans(*state.plans, [&](const Plan& plan) {
               return openChecked(bench, *state.run, plan, state.acceptRewritten, task);
           }));
    state.path = opened.get();
    state.state = std::move(opened);
    return {};
}

}

Result<OpenState> chooseState(Workbench& bench, const VersionRequest& request, bool acrossGap, TaskContext& task)
{
    OpenState state;
    if (isSingleFile(request)) {
        DS_TRY(const auto around, openAround(bench, request.source.source));
        const ReadRules rules { bench.threads, bench.records, request.acceptRewritten, Replaced::Followed };
        DS_TRY(FileState file, FileState::open(around.first, around.second, task, rules));
        auto opened = std::make_shared<const FileState>(std::move(file));
        state.file = opened.get();
        state.state = std::move(opened);
        return state;
    }
    DS_TRY(Run run, openRequested(bench, request.source, task));
    DS_TRY(const Version* version, findVersion(bench, run, request.version, task));
    DS_CHECK(compareFormsOnTheWay(bench, run, *version, task));
    state.run = std::make_unique<const Run>(std::move(run)); // the versions stay where they are
    state.version = version;
    state.chosen = choiceText(*state.run, *state.version, request.version);
    DS_TRY(state.plans, FallbackPlans::of(*state.run, *state.version, { acrossGap, StateChoice::Served, {} }));
    state.acceptRewritten = request.acceptRewritten;
    return state;
}

Result<void> readState(Workbench& bench, OpenState& state, TaskContext& task)
{
    return state.state ? Result<void>() : openChain(bench, state, task);
}

Result<OpenState> openState(Workbench& bench, const VersionRequest& request, bool acrossGap, TaskContext& task)
{
    DS_TRY(OpenState state, chooseState(bench, request, acrossGap, task));
    DS_CHECK(readState(bench, state, task));
    return state;
}

Result<void> moveOn(Workbench& bench, std::initializer_list<OpenState*> states, const Error& error, TaskContext& task)
{
    bool any = false;
    for (OpenState* state : states) {
        if (!state->plans || !state->plans->moveOn(error))
            continue;
        any = true;
        DS_CHECK(openChain(bench, *state, task));
    }
    return any ? Result<void>() : fail(error);
}

Result<void> readAll(LogReader& logs, TaskContext& task)
{
    for (bool more = true; more;) {
        DS_TRY(more, logs.read(task));
    }
    return {};
}

void addLogProblems(std::vector<ProblemView>& problems, const LogReader& logs)
{
    for (const Error& problem : logs.problems())
        problems.push_back(problemView(problem));
}

std::vector<StoreMeterView> meterViews(const Stores& stores)
{
    std::vector<StoreMeterView> views;
    for (const StoreMeter& meter : stores.meters())
        views.push_back({ meter.uri, meter.wire.requests, meter.wire.retries, meter.wire.bytesIn, meter.wire.bytesOut,
                          meter.bytesFromCache });
    return views;
}

std::optional<StoreMeterView> meterOf(const Stores& stores, const std::string& uri)
{
    for (StoreMeterView& view : meterViews(stores)) {
        if (view.source == uri)
            return std::move(view);
    }
    return std::nullopt;
}

namespace {

/// The steps of versions, by epoch, number and name of their objects.
std::map<std::tuple<std::size_t, std::int64_t, std::string_view>, StepView*> stepsOfVersions(RunView& view)
{
    std::map<std::tuple<std::size_t, std::int64_t, std::string_view>, StepView*> steps;
    for (std::size_t epoch = 0; epoch < view.epochs.size(); ++epoch) {
        for (StepView& step : view.epochs[epoch].steps) {
            if (step.state != "gap")
                steps.emplace(std::tuple(epoch, step.step, std::string_view(step.name)), &step);
        }
    }
    return steps;
}

/// Says at the steps whose own objects were rewritten, or whose base was, that they are refused; what builds on them is
/// refused with them. The newest step that is offered is one that is not. What is counted against such states is not
/// known.
void addRefused(RunView& view, const Run& run, const SeenChanges& changes)
{
    const std::map<std::size_t, Error>& refused = changes.refused;
    const auto steps = stepsOfVersions(view);
    const auto stepOf = [&](const Version& version) -> StepView* {
        const auto step = steps.find({ static_cast<std::size_t>(version.epoch), version.step(), version.objects.name });
        return step == steps.end() ? nullptr : step->second;
    };
    for (const auto& [at, rewritten] : refused) {
        const Version& version = run.versions[at];
        StepView* const step = stepOf(version);
        if (step && (rewritten.step == version.step() || (!rewritten.step && version.onExternalBase)))
            step->problems.push_back(problemView(rewritten));
    }
    for (const std::size_t at : changes.miscounted) {
        if (StepView* const step = stepOf(run.versions[at]))
            forgetCounts(*step);
    }
    const WaysAround ways(run, changes);
    for (std::size_t at = 0; at < run.versions.size(); ++at) {
        if (StepView* const step = stepOf(run.versions[at]))
            ways.show(*step, at);
    }
    const auto isOffered = [&](const Version& version) {
        const auto at = static_cast<std::size_t>(&version - run.versions.data());
        return version.epoch + 1 == run.epochs() && !version.obstacle && !refused.contains(at);
    };
    const auto latest = std::find_if(run.versions.rbegin(), run.versions.rend(), isOffered);
    view.latest = latest == run.versions.rend() ? std::nullopt : std::optional(latest->step());
}

}

RunView runViewOf(const Run& run, const SeenChanges& changes, const Annotations& annotations, const Trace& trace,
                  const LogReader& logs, std::uint64_t revision, std::int64_t nowUs)
{
    RunView view = makeRunView(run);
    addAnnotations(view, run, annotations);
    const std::vector<Span> logged = logs.spans();
    addTrace(view, trace, logged, nowUs);
    const Pauses pauses = pausesOf(run, trace, logged);
    for (EpochView& epoch : view.epochs) {
        for (StepView& step : epoch.steps)
            addPause(step, pauses);
    }
    addLogProblems(view.problems, logs);
    for (const Error& change : changes.told)
        view.problems.push_back(problemView(change));
    if (anyRewritten(run))
        addRefused(view, run, changes);
    view.revision = revision;
    return view;
}

} // namespace deltascope::app
