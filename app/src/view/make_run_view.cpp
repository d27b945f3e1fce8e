#include "make_views.h"

#include "deltascope/base/address.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace deltascope::app {

namespace {

std::vector<ProblemView> problemViews(const std::vector<Error>& problems)
{
    std::vector<ProblemView> views;
    views.reserve(problems.size());
    for (const Error& problem : problems)
        views.push_back(problemView(problem));
    return views;
}

std::string runName(std::string uri)
{
    uri.resize(std::min(uri.find('?'), uri.size())); // behind it stands how the store is reached; in keys it is escaped
    const std::size_t end = uri.find_last_not_of('/');
    const std::size_t slash = uri.rfind('/', end);
    std::string name;
    for (std::size_t i = slash + 1; i <= end; ++i) { // a URI escapes what a person wants to read
        unsigned byte = 0;
        const char* digits = uri.data() + i + 1;
        if (uri[i] == '%' && i + 2 <= end && std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
            name += static_cast<char>(byte);
            i += 2;
        } else {
            name += uri[i];
        }
    }
    return name;
}

StepView gapView(const Gap& gap)
{
    StepView view;
    view.epoch = gap.epoch;
    view.step = gap.first;
    view.lastMissing = gap.last;
    view.kind = view.state = "gap";
    view.restore.reason = "no object has this number";
    return view;
}

}

StepView makeStepView(const Run& run, const Version& version, const Planner& planner)
{
    StepView view;
    view.epoch = version.epoch;
    view.step = version.step();
    view.name = version.objects.name;
    view.kind = word(version.kind);
    view.state = word(version.state);
    view.baseStep = version.baseStep;
    view.totalElements = run.totalElementsOf(version);
    if (version.kind == VersionKind::Anchor && version.summary) {
        view.changedElements = version.summary->storedElements;
        if (version.facts)
            view.changedVsPrevious = version.facts->changedVsPrevious;
    } else if (version.ownFormObstacle && version.summary && version.summary->countsKnown) {
        view.changedElements = version.summary->storedElements; // what it changed from cannot be read any more
    } else if (version.facts && version.facts->replayed && !version.facts->damage && run.countsOnItsBase(version)) {
        view.changedElements = view.changedVsPrevious = version.facts->changedElements;
    }
    if (view.changedVsPrevious && view.totalElements.value_or(0) > 0)
        view.changedFraction = static_cast<double>(*view.changedVsPrevious) / static_cast<double>(*view.totalElements);
    if (version.summary && version.summary->countsKnown)
        view.claimedElements = version.summary->storedElements;
    view.wireBytes = version.objects.wireBytes();
    if (!version.otherForms.empty())
        view.forms = makeFormViews(version, planner);
    view.publishedUs = version.objects.publishedUs();
    view.restorable = !version.obstacle;
    view.proven = version.proven;
    if (const Result<Plan> plan = planner.planFor(version)) {
        view.restore.deltas = plan->deltas();
        view.restore.bytes = plan->readBytes;
    } else {
        view.restore.reason = plan.error().text;
        if (version.obstacle && &run.versions[version.obstacleAt] != &version)
            view.restore.blockedBy = run.versions[version.obstacleAt].step();
    }
    for (const ObjectInfo& object : version.objects.objects)
        view.objects.push_back(ObjectView { object.key, object.sizeBytes, object.modifiedUs });
    view.problems = problemViews(version.problems);
    if (version.besideSteps)
        view.role = run.isFinalSave(version) ? "final_save" : "older_model";
    const auto index = static_cast<std::size_t>(&version - run.versions.data());
    if (const std::optional<std::size_t> restored = restoredVersion(run, index))
        view.restores = run.versions[*restored].step();
    if (version.summary) {
        view.branchOf = version.summary->branch;
        view.id = version.summary->id;
    }
    return view;
}

RunView makeEmptyRunView(const std::string& uri, const Error& why)
{
    RunView view;
    view.source = uri;
    view.run = runName(uri);
    view.problems.push_back(problemView(why));
    return view;
}

RunView makeRunView(const Run& run)
{
    RunView view;
    view.source = run.store->uri();
    view.layout = run.layout->word();
    view.run = runName(view.source);
    if (run.base) {
        view.base = run.base->store->uri();
        view.baseBytes = run.base->objects.wireBytes();
    }
    if (const Version* latest = run.latest(); latest && !latest->obstacle)
        view.latest = latest->step();
    for (const RunPlace& place : run.places)
        view.runs.push_back(
            { place.place, place.isFolder, place.versions, place.first, place.last, &place == run.places.data() });
    view.problems = problemViews(run.problems);
    view.events = problemViews(run.events);
    bool replayed = false;
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        const Version& version = run.versions[i];
        replayed = replayed || (version.kind == VersionKind::Delta && version.facts && version.facts->assigned > 0);
        if (const std::optional<Drift> drift = driftAt(run, i))
            view.drift.push_back(
                DriftView { version.epoch, version.step(), drift->differs, drift->zeroSigns, drift->estimate });
    }
    if (replayed)
        view.noopRate = usualNoops(run).share();
    view.ignoredObjects = run.ignoredObjects;
    view.epochs.resize(static_cast<std::size_t>(run.epochs()));
    for (int epoch = 0; epoch < run.epochs(); ++epoch)
        view.epochs[static_cast<std::size_t>(epoch)].epoch = epoch;
    const Planner planner(run);
    for (const Version& version : run.versions) {
        view.epochs[static_cast<std::size_t>(version.epoch)].steps.push_back(makeStepView(run, version, planner));
        view.wireBytes += publishedBytes(version.objects);
        const std::vector<ProblemView> problems = problemViews(version.problems);
        const bool inherits =
            version.obstacle && &run.versions[version.obstacleAt] != &version; // the first of its problems
        view.problems.insert(view.problems.end(), problems.begin() + (inherits ? 1 : 0), problems.end());
    }
    for (const Gap& gap : run.gaps)
        view.epochs[static_cast<std::size_t>(gap.epoch)].steps.push_back(gapView(gap));
    for (EpochView& epoch : view.epochs)
        std::stable_sort(epoch.steps.begin(), epoch.steps.end(),
                         [](const StepView& a, const StepView& b) { return a.step < b.step; });
    return view;
}

bool explains(const Run& run, const Version& version, const std::vector<TensorCount>& counts)
{
    if (!version.facts || version.facts->damage || !version.facts->replayed || !run.countsOnItsBase(version))
        return false;
    const std::optional<std::uint64_t> changed = version.kind == VersionKind::Anchor
        ? version.facts->changedVsPrevious
        : std::optional(version.facts->changedElements);
    std::uint64_t sum = 0;
    for (const TensorCount& count : counts)
        sum += count.changed;
    return changed == sum;
}

StepDetailView makeStepDetailView(const Run& run, const Version& version, const std::vector<TensorInfo>& tensors,
                                  const std::vector<TensorCount>& counts)
{
    StepDetailView view;
    const Planner planner(run);
    view.step = makeStepView(run, version, planner);
    view.step.forms = makeFormViews(version, planner);
    std::vector<const TensorCount*> changed;
    for (const TensorCount& count : counts)
        changed.push_back(&count);
    const auto nameOf = [](const TensorCount* count) -> std::string_view { return count->name; };
    std::ranges::sort(changed, {}, nameOf);
    view.tensors.reserve(tensors.size());
    const bool known = explains(run, version, counts); // then a tensor that is not listed did not change
    for (const TensorInfo& tensor : tensors) {
        TensorCountView row;
        row.name = tensor.name;
        row.dtype = word(tensor.dtype);
        row.shape = tensor.shape;
        row.totalElements = tensor.elements();
        const auto at = std::ranges::lower_bound(changed, std::string_view(tensor.name), {}, nameOf);
        if (known)
            row.changedVsPrevious = at == changed.end() || (*at)->name != tensor.name ? 0 : (*at)->changed;
        row.changedElements =
            version.kind == VersionKind::Anchor ? std::optional(row.totalElements) : row.changedVsPrevious;
        view.tensors.push_back(std::move(row));
    }
    return view;
}

VerifyView makeVerifyView(const Run& run, const VerifyReport& report)
{
    VerifyView view;
    view.source = run.store->uri();
    view.level = report.level;
    view.result = word(report.verdict);
    for (const StepVerdict& step : report.steps) {
        const Version& version = run.versions[step.version];
        StepVerdictView row;
        row.epoch = version.epoch;
        row.step = version.step();
        row.result = word(step.verdict);
        row.digestsChecked = step.digestsChecked;
        if (step.coverage)
            row.coverage = makeCoverageView(*step.coverage);
        row.root = step.root;
        if (step.drift) {
            row.anchorDifference = step.drift->differs;
            row.zeroSigns = step.drift->zeroSigns;
            row.missed = step.drift->missed;
            row.driftEstimate = step.drift->estimate;
        }
        if (step.health)
            row.health = *step.health == StepVerdict::Health::Suspect ? "suspect" : "normal";
        row.problems = problemViews(step.problems);
        view.steps.push_back(std::move(row));
    }
    for (const ConsistentTo& epoch : report.consistentTo)
        view.consistentTo.push_back({ epoch.epoch, epoch.step });
    view.rewritten = report.accepted;
    if (const auto& digests = report.storeDigests; digests && Address(view.source).remote())
        view.storeDigests = StoreDigestsView { digests->equal, digests->uncompared, digests->none };
    view.problems = problemViews(report.problems);
    return view;
}

} // namespace deltascope::app
