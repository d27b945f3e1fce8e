#include "deltascope/engine/operations.h"

#include "replay_audit.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

namespace {

bool usable(const Version& version)
{
    return version.summary && !version.failure && !version.beingWritten && !(version.facts && version.facts->damage);
}

/// A complete state and everything that can be replayed on it, up to and including the next complete anchor.
struct Stretch {
    Plan plan;
    bool fromAnchor() const { return !plan.fromExternalBase; }
    /// The versions that replaying it tells something about: of the first anchor only whether it has its recorded root.
    std::vector<std::size_t> judged(const Run& run) const
    {
        const bool skipsFirst =
            fromAnchor() && (plan.links.empty() || run.versions[plan.links.front()].summary->root.empty());
        return { plan.links.begin() + (skipsFirst && !plan.links.empty() ? 1 : 0), plan.links.end() };
    }
};

/// Whether an anchor holds the same tensors as the full state that a stretch starts from; else comparing them means
/// nothing.
bool isOfSameModel(const Run& run, const Plan& stretch, const Version& anchor)
{
    const VersionSummary& first =
        stretch.fromExternalBase ? run.base->summary : *run.versions[stretch.links.front()].summary;
    return first.nameSet == anchor.summary->nameSet;
}

std::vector<Stretch> stretchesOf(const Run& run)
{
    std::vector<Stretch> stretches;
    if (run.layout->standAlone())
        return stretches;
    Stretch current;
    bool open = false;
    const auto close = [&] {
        if (open && !current.judged(run).empty())
            stretches.push_back(current);
        current = {};
        open = false;
    };
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        const Version& version = run.versions[i];
        if (i > 0 && run.versions[i - 1].epoch != version.epoch)
            close();
        if (!usable(version)) {
            close();
            continue;
        }
        if (version.kind == VersionKind::Anchor) {
            if (open && isOfSameModel(run, current.plan, version))
                current.plan.links.push_back(i);
            close();
            current.plan.links.push_back(i);
            open = true;
        } else if (open && version.base && !current.plan.links.empty() && *version.base == current.plan.links.back()) {
            current.plan.links.push_back(i);
        } else {
            close();
            if (version.onExternalBase && run.base) {
                current.plan.fromExternalBase = true;
                current.plan.links.push_back(i);
                open = true;
            }
        }
    }
    close();
    return stretches;
}

/// Replays the stretch over all tensors. Errors carry the step of the link that failed.
Result<void> replayStretch(Workbench& bench, const Chain& chain, ReplayAudit& audit, TaskContext& task)
{
    std::vector<const TensorInfo*> tensors;
    for (const TensorInfo& tensor : chain.tensors())
        tensors.push_back(&tensor);
    std::stable_sort(tensors.begin(), tensors.end(),
                     [](const TensorInfo* a, const TensorInfo* b) { return a->bytes() > b->bytes(); });
    return forEachParallel(bench.threads, tensors.size(), task, [&](std::size_t i) -> Result<void> {
        ReplayAudit::Tensor watcher(audit, *tensors[i], true);
        ReplayOptions options;
        options.scratchFolder = bench.scratchFolder;
        options.observer = &watcher;
        DS_TRY(TensorReplay replay, TensorReplay::open(chain, *tensors[i], std::move(options), task));
        for (;;) {
            DS_TRY(const ByteSpan block, replay.next(task));
            if (block.empty())
                break;
            task.addDone(block.size());
        }
        watcher.finish();
        return {};
    });
}

bool isDamage(Code code)
{
    return code == Code::Hostile || code == Code::Truncated || code == Code::BaseMismatch || code == Code::Unsupported
        || code == Code::Digest || code == Code::DuplicateName || code == Code::Unfinished || code == Code::NotFound;
}

/// A cache: that it cannot be written must not stop the work.
void remember(Workbench& bench, const Run& run, const std::vector<std::string>& keys, std::size_t version,
              const std::vector<TensorCount>& counts)
{
    if (bench.catalog)
        static_cast<void>(bench.catalog->putFacts(catalogKey(run), run.versions[version].objects.name,
                                                  Catalog::KnownFacts { keys[version], *run.versions[version].facts },
                                                  counts));
}

/// Analyzes one stretch; damage cuts it short and becomes a fact of the version.
Result<void> analyzeStretch(Workbench& bench, Run& run, Stretch stretch, const std::vector<std::string>& keys,
                            const AnalyzeOptions& options, TaskContext& task)
{
    while (!stretch.judged(run).empty()) {
        Result<Chain> chain = Chain::open(run, stretch.plan, task);
        Result<void> outcome;
        std::optional<ReplayAudit> audit;
        if (chain) {
            audit.emplace(*chain, true);
            outcome = replayStretch(bench, *chain, *audit, task);
        } else {
            outcome = fail(std::move(chain.error()));
        }
        if (outcome) {
            audit->finishRoots();
            for (std::size_t link = 0; link < chain->links().size(); ++link) {
                const std::optional<std::size_t> at = chain->versionOf(link);
                if (!at)
                    continue;
                Version& version = run.versions[*at];
                if (link == 0 && (version.facts || version.summary->root.empty()))
                    continue; // its own stretch has told all
                version.facts = audit->factsOf(link, version.kind, version.summary->storedElements);
                remember(bench, run, keys, *at, audit->links()[link].changed);
                if (options.onCounts)
                    options.onCounts(*at, audit->links()[link].changed);
            }
            return {};
        }
        const Error& error = outcome.error();
        const auto broken = std::find_if(stretch.plan.links.begin(), stretch.plan.links.end(), [&](std::size_t at) {
            return error.step && run.versions[at].step() == *error.step;
        });
        if (!isDamage(error.code) || broken == stretch.plan.links.end())
            return fail(std::move(outcome.error()));
        VersionFacts facts;
        facts.damage = error;
        run.versions[*broken].facts = facts;
        remember(bench, run, keys, *broken, {});
        if (broken == stretch.plan.links.begin() && stretch.fromAnchor())
            return {};
        stretch.plan.links.erase(broken, stretch.plan.links.end());
    }
    return {};
}

}

Result<void> analyzeRun(Workbench& bench, Run& run, const AnalyzeOptions& options, TaskContext& task)
{
    const std::vector<std::string> keys = chainKeys(run);
    std::vector<Stretch> work;
    std::uint64_t bytes = 0;
    for (Stretch& stretch : stretchesOf(run)) {
        const std::vector<std::size_t> judged = stretch.judged(run);
        const bool wanted = std::any_of(judged.begin(), judged.end(), [&](std::size_t at) {
            const bool inRange = !options.range || (at >= options.range->first && at <= options.range->second);
            return inRange && (options.again || !run.versions[at].facts);
        });
        if (!wanted)
            continue;
        bytes += run.totalElementsOf(run.versions[judged.front()]).value_or(0) * 2;
        work.push_back(std::move(stretch));
    }
    task.beginPhase("replay", bytes);
    for (const Stretch& stretch : work)
        DS_CHECK(analyzeStretch(bench, run, stretch, keys, options, task));
    assess(run);
    return {};
}

Result<void> judgeChain(Workbench& bench, const Run& run, const Version& version, TaskContext& task)
{
    Run judged = run;
    AnalyzeOptions options;
    const auto ofEpoch = [&](const Version& other) { return other.epoch == version.epoch; };
    const auto first = std::find_if(run.versions.begin(), run.versions.end(), ofEpoch);
    const auto behind = std::find_if_not(first, run.versions.end(), ofEpoch);
    options.range = { static_cast<std::size_t>(first - run.versions.begin()),
                      static_cast<std::size_t>(behind - run.versions.begin()) - 1 };
    DS_CHECK(analyzeRun(bench, judged, options, task));
    const Version& verdict = judged.versions[static_cast<std::size_t>(&version - run.versions.data())];
    if (verdict.obstacle)
        return fail(*verdict.obstacle);
    return {};
}

} // namespace deltascope
