#include "publish/run_end.h"

#include "acts/act_parts.h"
#include "deltascope/engine/beside_keys.h"
#include "deltascope/engine/cost.h"
#include "format/common/object_names.h"
#include "ops/open_base.h"
#include "ops/output_layout.h"
#include "publish/newest_version.h"

#include <algorithm>
#include <fmt/format.h>
#include <random>

namespace deltascope {

namespace {

std::string newRunId()
{
    std::random_device random;
    return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

RunEnd endBehind(const Run& run, const Version& newest)
{
    RunEnd end;
    end.step = newest.step();
    end.identity = newest.objects.identity();
    end.publishedUs = newest.objects.publishedUs();
    if (newest.summary) {
        end.root = newest.summary->root;
        end.base = newest.summary->baseRoot;
        end.origin = newest.summary->origin;
    }
    const Version* const before = &newest == run.versions.data() ? nullptr : &newest - 1;
    if (newest.kind == VersionKind::Anchor && before && before->epoch == newest.epoch && before->summary)
        end.base = before->summary->root;
    end.beginsEpoch = before && before->epoch != newest.epoch;
    for (const Version& version : run.versions) {
        if (version.epoch == newest.epoch && version.summary)
            end.origins[version.summary->origin] = { version.summary->root, version.objects.publishedUs() };
    }
    for (auto at = static_cast<std::size_t>(&newest - run.versions.data());; --at) {
        const Version& version = run.versions[at];
        if (version.kind == VersionKind::Anchor)
            break;
        ++end.versionsSinceAnchor;
        end.deltaBytes += version.objects.wireBytes();
        if (at == 0 || run.versions[at - 1].epoch != newest.epoch)
            break;
    }
    return end;
}

/// Replays the first delta onto the external base that a version builds on, once: the catalog keeps what that shows.
/// The base may be another checkpoint, from which no step can be rebuilt.
Result<void> expectBaseOfFirstDelta(Workbench& bench, Run& run, const Version& newest, TaskContext& task)
{
    const Result<Plan> plan = planFor(run, newest);
    if (!plan || !plan->fromExternalBase) // no plan: the version has an obstacle
        return {};
    const std::size_t first = plan->links.front().version;
    if (run.versions[first].facts)
        return {};
    std::optional<Error> unknown;
    AnalyzeOptions options;
    options.range = { first, first };
    options.until = first;
    options.onSkipped = [&](const Error& error) { unknown = error; };
    DS_CHECK(analyzeRun(bench, run, options, task));
    return unknown ? Result<void>(fail(std::move(*unknown))) : Result<void>();
}

Result<RunEnd> take(Workbench& bench, Run& run, const Version& newest, const PublishOptions& options,
                    const WriterChoice& writers, TaskContext& task)
{
    if (!options.newEpoch)
        DS_CHECK(expectBaseOfFirstDelta(bench, run, newest, task));
    if (newest.obstacle && !options.newEpoch)
        return fail(cannotGoOn(*newest.obstacle, writers));
    RunEnd end = endBehind(run, newest);
    const bool goesOn = newest.summary && !newest.summary->run.empty() && !options.newEpoch;
    end.runId = goesOn ? newest.summary->run : newRunId();
    end.epoch = newest.epoch + (options.newEpoch ? 1 : 0);
    end.epochBegun = !options.newEpoch;
    if (options.newEpoch) { // its trainer starts counting again
        end.origin.clear();
        end.origins.clear();
    } else if (end.root.empty()) {
        DS_TRY(end.stateReads, objectsRead(run, { &newest }));
    } else {
        for (const ObjectInfo& object : newest.objects.objects)
            end.newestReads.push_back({ run.store->uri(), object.key, object.identity, object.sizeBytes });
    }
    return end;
}

/// What is read of a base that was given: a state to publish from in another place is compared with it.
Result<RunEnd> beginning(Workbench& bench, const OpenOptions& base, const WriterChoice& writers, TaskContext& task)
{
    RunEnd end;
    end.runId = newRunId();
    if (writers.hasAnchors() || !base.base)
        return end;
    DS_TRY(const ExternalBase on, openBase(bench, base.base, task));
    for (const ObjectInfo& object : on.objects.objects) {
        if (!isTrainerState(splitKey(object.key).file))
            end.stateReads.push_back({ on.store->uri(), object.key, object.identity, object.sizeBytes });
    }
    return end;
}

/// The newest version was never committed: the one before it is the end, and its leftovers are replaced.
Result<RunEnd> endBefore(Workbench& bench, Run& run, const Version& unfinished, const OpenOptions& base,
                         const PublishOptions& options, const WriterChoice& writers, TaskContext& task)
{
    const Version* before = nullptr;
    for (const Version& version : run.versions)
        before = version.epoch == unfinished.epoch && version.step() < unfinished.step() ? &version : before;
    Result<RunEnd> end =
        before ? take(bench, run, *before, options, writers, task) : beginning(bench, base, writers, task);
    if (end)
        end->leftovers = unfinished.objects.objects;
    return end;
}

/// Why the next version is an anchor; nothing if it is a delta.
Result<std::optional<std::string>> anchorReason(const RunEnd& end, const WriterChoice& writers,
                                                const PublishOptions& options,
                                                const std::function<Result<std::uint64_t>()>& stateBytes)
{
    using Reason = std::optional<std::string>;
    if (!writers.hasAnchors())
        return Reason();
    if (end.step == 0)
        return Reason("it is the first version");
    if (!end.epochBegun)
        return Reason("another epoch begins with it");
    if (end.root.empty()) // behind a version of others an anchor would begin another epoch (splitEpochsByRun)
        return Reason();
    if (options.anchorEvery > 0 && end.versionsSinceAnchor + 1 >= options.anchorEvery)
        return Reason(fmt::format("{} versions since the last anchor, one in {} is an anchor", end.versionsSinceAnchor,
                                  options.anchorEvery));
    if (options.anchorWhenCheaper) {
        DS_TRY(const std::uint64_t bytes, stateBytes());
        const AnchorDecision decision = anchorPays(bytes, end.deltaBytes, options.restoresPerAnchor);
        if (decision.pays)
            return Reason(decision.arithmetic);
    }
    return Reason();
}

} // namespace

Error cannotGoOn(const Error& obstacle, const WriterChoice& writers)
{
    if (obstacle.code == Code::BaseMismatch)
        return { obstacle.code, "the run cannot be continued on this base: " + obstacle.text, obstacle.where,
                 obstacle.step, obstacle.action };
    Error error { obstacle.code, "the run cannot be continued: " + obstacle.text, obstacle.where, obstacle.step,
                  writers.hasAnchors()
                      ? "mend the run, or begin a new epoch behind it with --new-epoch"
                      : "mend the run, or publish into a new folder, with the new starting point as --base" };
    if (obstacle.code == Code::BaseMissing)
        error.action = obstacle.action;
    return error;
}

Result<RunEnd> findRunEnd(Workbench& bench, const std::shared_ptr<ObjectStore>& store, const OpenOptions& base,
                          const PublishOptions& options, const WriterChoice& writers, TaskContext& task)
{
    if (!store)
        return beginning(bench, base, writers, task);
    DS_TRY(std::vector<ObjectInfo> listing, listAll(*store, "", task));
    std::erase_if(listing, [](const ObjectInfo& object) { return object.key.starts_with(beside::Root); });
    if (listing.empty())
        return beginning(bench, base, writers, task);
    Result<Run> opened = openRun(bench, store, base, task);
    if (!opened && opened.error().code == Code::Layout)
        opened.error().action =
            fmt::format("publish into an empty folder, or into one that holds a run in {}", options.layout);
    DS_TRY(Run run, std::move(opened));
    if (run.layout->word() != options.layout)
        return fail(Code::Usage,
                    fmt::format("the source holds a run in {}, not in {}", run.layout->word(), options.layout),
                    store->uri());
    const Version* newest = newestVersion(run);
    if (!newest) // only what an interrupted publisher left of its first version
        return beginning(bench, base, writers, task);
    const std::vector<std::string> keys = writers.committingKeys(newest->step());
    const bool atTop =
        std::any_of(newest->objects.objects.begin(), newest->objects.objects.end(), [&](const ObjectInfo& object) {
            return std::find(keys.begin(), keys.end(), object.key) != keys.end();
        });
    if (!atTop && newest->failure && newest->failure->code == Code::Vanished)
        return fail(cannotGoOn(*newest->failure, writers));
    if (!atTop && newest->failure && newest->failure->code == Code::Unfinished)
        return endBefore(bench, run, *newest, base, options, writers, task);
    if (!atTop)
        return fail(Code::Usage, fmt::format("the run lies in a folder of the source, at {}", newest->objects.name),
                    store->uri(), "publish into the folder that holds the run itself");
    return take(bench, run, *newest, options, writers, task);
}

Result<DueVersion> dueVersion(const RunEnd& end, const WriterChoice& writers, const PublishOptions& options,
                              const std::function<Result<std::uint64_t>()>& stateBytes)
{
    DueVersion due;
    due.step = end.step + 1;
    DS_TRY(const std::optional<std::string> reason, anchorReason(end, writers, options, stateBytes));
    due.anchor = reason.has_value();
    due.anchorReason = reason.value_or(std::string());
    due.keys = due.anchor ? std::vector { writers.anchorKey(due.step) } : writers.deltaKeys(due.step);
    return due;
}

DueVersion deltaBehindFirst(const WriterChoice& writers)
{
    const std::int64_t step = writers.firstStep() + 1;
    return { step, false, {}, writers.deltaKeys(step) };
}

} // namespace deltascope
