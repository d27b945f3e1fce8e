#include "publish/run_end.h"

#include "acts/act_parts.h"
#include "deltascope/engine/beside_keys.h"
#include "deltascope/engine/cost.h"
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
    if (newest.summary) {
        end.root = newest.summary->root;
        end.base = newest.summary->baseRoot;
        end.origin = newest.summary->origin;
    }
    const Version* const before = &newest == run.versions.data() ? nullptr : &newest - 1;
    if (newest.kind == VersionKind::Anchor && before && before->epoch == newest.epoch && before->summary)
        end.base = before->summary->root;
    end.beginsEpoch = before && before->epoch != newest.epoch;
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

Result<RunEnd> take(const Run& run, const Version& newest, const PublishOptions& options)
{
    if (newest.obstacle && !options.newEpoch)
        return fail(Error { newest.obstacle->code, "the run cannot be continued: " + newest.obstacle->text,
                            newest.obstacle->where, newest.obstacle->step,
                            "mend the run, or begin a new epoch behind it with --new-epoch" });
    RunEnd end = endBehind(run, newest);
    const bool goesOn = newest.summary && !newest.summary->run.empty() && !options.newEpoch;
    end.runId = goesOn ? newest.summary->run : newRunId();
    end.epoch = newest.epoch + (options.newEpoch ? 1 : 0);
    end.epochBegun = !options.newEpoch;
    if (options.newEpoch)
        end.origin.clear(); // its trainer starts counting again
    else if (end.root.empty()) {
        DS_TRY(end.stateReads, objectsRead(run, { &newest }));
    }
    return end;
}

RunEnd beginning()
{
    RunEnd end;
    end.runId = newRunId();
    return end;
}

/// The newest version was never committed: the one before it is the end, and its leftovers are replaced.
Result<RunEnd> endBefore(const Run& run, const Version& unfinished, const PublishOptions& options)
{
    const Version* before = nullptr;
    for (const Version& version : run.versions)
        before = version.epoch == unfinished.epoch && version.step() < unfinished.step() ? &version : before;
    Result<RunEnd> end = before ? take(run, *before, options) : beginning();
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

Result<RunEnd> findRunEnd(Workbench& bench, const std::shared_ptr<ObjectStore>& store, const OpenOptions& base,
                          const PublishOptions& options, const WriterChoice& writers, TaskContext& task)
{
    if (!store)
        return beginning();
    DS_TRY(std::vector<ObjectInfo> listing, listAll(*store, "", task));
    std::erase_if(listing, [](const ObjectInfo& object) { return object.key.starts_with(beside::Root); });
    if (listing.empty())
        return beginning();
    DS_TRY(const Run run, openRun(bench, store, base, task));
    if (run.layout->word() != options.layout)
        return fail(Code::Usage,
                    fmt::format("the source holds a run in {}, not in {}", run.layout->word(), options.layout),
                    store->uri());
    const Version* newest = newestVersion(run);
    if (!newest) // only what an interrupted publisher left of its first version
        return beginning();
    const std::vector<std::string> keys = writers.committingKeys(newest->step());
    const bool atTop =
        std::any_of(newest->objects.objects.begin(), newest->objects.objects.end(), [&](const ObjectInfo& object) {
            return std::find(keys.begin(), keys.end(), object.key) != keys.end();
        });
    if (!atTop && newest->failure && newest->failure->code == Code::Unfinished)
        return endBefore(run, *newest, options);
    if (!atTop)
        return fail(Code::Usage, fmt::format("the run lies in a folder of the source, at {}", newest->objects.name),
                    store->uri(), "publish into the folder that holds the run itself");
    return take(run, *newest, options);
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
