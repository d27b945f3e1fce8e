#include "restart.h"

#include "catalog/sights.h"
#include "lineage/claims.h"
#include "stands_on_rewritten.h"

#include <algorithm>
#include <map>

namespace deltascope {

namespace {

/// Every delta of the epoch replays, and there is one: an anchor alone could be anything. Of what is there now,
/// whatever is on record.
Result<bool> deltasReplay(const Workbench& bench, const Run& run, std::size_t first, std::size_t last,
                          TaskContext& task)
{
    Workbench unheld = withoutRecords(bench);
    Run replayed = run;
    replayed.baseRewritten.reset();
    for (Version& version : replayed.versions)
        version.rewrittenForms.clear();
    AnalyzeOptions options;
    options.range = { first, last };
    DS_CHECK(analyzeRun(unheld, replayed, options, task));
    bool any = false;
    for (std::size_t i = first; i <= last; ++i) {
        const Version& version = replayed.versions[i];
        if (version.obstacle || version.acrossGap)
            return false;
        if (version.kind != VersionKind::Delta)
            continue;
        if (!version.facts || !version.facts->replayed || version.facts->digestsFailed > 0 || version.noopsUnexplained)
            return false;
        any = true;
    }
    return any;
}

/// The objects of a version in the source itself, those of its other forms included. A form that is not of this run,
/// such as an anchor that an earlier one left under the number of a delta, is no part of it.
std::vector<ObjectInfo> ownObjects(const Version& version)
{
    std::vector<ObjectInfo> objects;
    for (std::size_t number = 0; number < version.forms(); ++number) {
        const VersionObjects& form = version.objectsOf(number);
        const FormFacts* facts = number > 0 ? version.factsOf(number) : nullptr;
        const bool isForeign = number > 0 && (version.otherForms[number - 1].failure || (facts && facts->damage));
        if (form.mirror.empty() && !isForeign)
            objects.insert(objects.end(), form.objects.begin(), form.objects.end());
    }
    return objects;
}

/// An object against the bytes of it that were trusted last.
struct AgainstRecord {
    bool isOnRecord = false;
    bool hasOtherBytes = false;
    bool hasOtherSize = false;
    std::optional<Records::Sight> now; ///< what it has, if that is not trusted yet
};

/// The newest sight of an object that `is` holds for; null: none.
template <class Is> const Records::Sight* newest(const std::vector<Records::Sight>& sights, Is is)
{
    const auto found = std::find_if(sights.rbegin(), sights.rend(), is);
    return found == sights.rend() ? nullptr : &*found;
}

const Records::Sight* sightNow(const std::vector<Records::Sight>& sights, const ObjectInfo& object)
{
    const Records::Sight* const now = sightUnder(sights, object.identity);
    return now && now->hasDigest() ? now : nullptr;
}

AgainstRecord compareWithTrusted(const std::vector<Records::Sight>& sights, const ObjectInfo& object,
                                 std::int64_t beganUs)
{
    const Records::Sight* now = sightNow(sights, object);
    const Records::Sight* trusted =
        newest(sights, [&](const Records::Sight& sight) { return sight.trusted && sight.seenUs < beganUs; });
    AgainstRecord found;
    if (!now || !trusted)
        return found;
    found.isOnRecord = true;
    found.hasOtherBytes = trusted->xxh3 != now->xxh3;
    found.hasOtherSize = trusted->sizeBytes != now->sizeBytes;
    if (!now->trusted)
        found.now = *now;
    return found;
}

}

Result<RestartSights> sightsOfRestart(Workbench& bench, const Run& run, std::size_t first, std::size_t last,
                                      std::int64_t beganUs, TaskContext& task)
{
    const Version& begin = run.versions[first];
    if (begin.kind != VersionKind::Anchor && !begin.onExternalBase)
        return RestartSights();
    std::map<std::string, std::vector<Records::Sight>> onRecord;
    for (std::size_t i = first; i <= last; ++i) {
        for (const ObjectInfo& object : ownObjects(run.versions[i])) {
            DS_TRY(onRecord[object.key], bench.records->sights(run.store->uri(), object.key));
            const Records::Sight* now = sightNow(onRecord[object.key], object);
            if (now && !now->trusted)
                beganUs = std::min(beganUs, now->seenUs);
        }
    }
    RestartSights fresh;
    std::size_t deltas = 0; ///< whose bytes differ from the record
    bool anyOtherSize = false;
    for (std::size_t i = first; i <= last; ++i) {
        const Version& version = run.versions[i];
        if (version.failure || version.beingWritten)
            return RestartSights();
        const std::size_t known = fresh.size();
        bool isOnRecord = false;
        for (const ObjectInfo& object : ownObjects(version)) {
            AgainstRecord found = compareWithTrusted(onRecord[object.key], object, beganUs);
            isOnRecord = isOnRecord || found.isOnRecord;
            anyOtherSize = anyOtherSize || (found.hasOtherSize && version.kind == VersionKind::Delta);
            if (!found.now)
                continue;
            found.now->trusted = true;
            found.now->seenUs = bench.nowUs();
            fresh.emplace_back(object.key, std::move(*found.now));
        }
        const bool isOther = fresh.size() > known;
        if (isOnRecord && !isOther && i != first && !changesNothing(version)) // it survived
            return RestartSights();
        deltas += isOther && version.kind == VersionKind::Delta ? 1 : 0;
    }
    // A single delta of the same length may as well be damaged.
    if (deltas == 0 || (deltas == 1 && !anyOtherSize))
        return RestartSights();
    DS_TRY(const bool replays, deltasReplay(bench, run, first, last, task));
    return replays ? std::move(fresh) : RestartSights();
}

} // namespace deltascope
