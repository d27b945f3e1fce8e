#include "restart.h"

#include <algorithm>

namespace deltascope {

namespace {

/// Every delta of the epoch replays, and there is one: an anchor alone could be anything.
Result<bool> deltasReplay(Workbench& bench, const Run& run, std::size_t first, std::size_t last, TaskContext& task)
{
    Run replayed = run;
    AnalyzeOptions options;
    options.range = { first, last };
    DS_CHECK(analyzeRun(bench, replayed, options, task));
    bool any = false;
    for (std::size_t i = first; i <= last; ++i) {
        const Version& version = replayed.versions[i];
        if (version.obstacle || version.acrossGap)
            return false;
        if (version.kind != VersionKind::Delta)
            continue;
        if (!version.facts || !version.facts->replayed || version.facts->digestsFailed > 0 || version.facts->noops > 0)
            return false;
        any = true;
    }
    return any;
}

/// What is on record of an object, against the time at which the run is thought to have started again.
struct RestartedObject {
    bool fits = true;
    std::optional<Records::Sight> now; ///< not trusted yet
};

RestartedObject judgeRestarted(const ObjectInfo& object, const std::vector<Records::Sight>& sights,
                               std::int64_t beganUs)
{
    RestartedObject judged;
    const auto now = std::find_if(sights.rbegin(), sights.rend(),
                                  [&](const Records::Sight& sight) { return sight.identity == object.identity; });
    if (now == sights.rend()) {
        judged.fits = false;
        return judged;
    }
    for (const Records::Sight& sight : sights) {
        const bool same = sight.xxh3 == now->xxh3;
        const bool seenBefore = sight.seenUs < beganUs;
        if (sight.trusted && same == seenBefore) // it survived the restart, or was rewritten behind it
            judged.fits = false;
    }
    if (!now->trusted)
        judged.now = *now;
    return judged;
}

}

Result<RestartSights> sightsOfRestart(Workbench& bench, const Run& run, std::size_t first, std::size_t last,
                                      const std::function<bool(std::size_t version)>& isRewritten, TaskContext& task)
{
    const Version& begin = run.versions[first];
    const bool canBegin = begin.kind == VersionKind::Anchor || begin.onExternalBase;
    if (!canBegin || !isRewritten(first))
        return RestartSights();
    const std::int64_t beganUs = begin.objects.publishedUs();
    RestartSights fresh;
    for (std::size_t i = first; i <= last; ++i) {
        const Version& version = run.versions[i];
        if (version.failure || version.beingWritten || !version.otherForms.empty())
            return RestartSights();
        for (const ObjectInfo& object : version.objects.objects) {
            DS_TRY(const std::vector<Records::Sight> sights, bench.records->sights(run.store->uri(), object.key));
            RestartedObject judged = judgeRestarted(object, sights, beganUs);
            if (!judged.fits)
                return RestartSights();
            if (!judged.now)
                continue;
            judged.now->trusted = true;
            judged.now->seenUs = bench.nowUs();
            fresh.emplace_back(object.key, std::move(*judged.now));
        }
    }
    DS_TRY(const bool replays, deltasReplay(bench, run, first, last, task));
    return replays ? std::move(fresh) : RestartSights();
}

} // namespace deltascope
