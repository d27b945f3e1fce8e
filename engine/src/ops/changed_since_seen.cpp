#include "deltascope/engine/operations.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

namespace {

using Sight = Records::Sight;

constexpr std::string_view Action = "verify compares them";

/// What the record says of an object that is there now. Nothing: it has the bytes that were seen first, or none were.
std::optional<Error> changeOf(const std::vector<Sight>& sights, const ObjectInfo& object, const std::string& key,
                              std::int64_t step)
{
    const auto trusted = std::find_if(sights.rbegin(), sights.rend(), [](const Sight& sight) { return sight.trusted; });
    if (trusted == sights.rend())
        return std::nullopt;
    const auto same = std::find_if(sights.rbegin(), sights.rend(),
                                   [&](const Sight& sight) { return sight.identity == object.identity; });
    if (trusted->sizeBytes != object.sizeBytes || (same != sights.rend() && same->xxh3 != trusted->xxh3))
        return Error { Code::Rewritten,
                       "the object was rewritten since it was first seen: what is shown of it is not what is on record",
                       key, step, "verify compares all objects of the run with the record" };
    if (same != sights.rend())
        return std::nullopt;
    return Error { Code::Unproven,
                   "the object was written again since it was first seen, or copied, and its bytes were not compared "
                   "with the record yet: what is shown of it is what is there now",
                   key, step, std::string(Action) };
}

/// A bucket that was copied in its place is one event.
void joinUnproven(std::vector<Error>& changes, const std::string& where)
{
    constexpr std::size_t MostNamed = 3;
    const auto isUnproven = [](const Error& change) { return change.code == Code::Unproven; };
    const auto unproven = std::count_if(changes.begin(), changes.end(), isUnproven);
    if (static_cast<std::size_t>(unproven) <= MostNamed)
        return;
    std::erase_if(changes, isUnproven);
    changes.push_back({ Code::Unproven,
                        fmt::format("{} objects were written again since they were first seen, or copied, and their "
                                    "bytes were not compared with the record yet: what is shown is what is there now",
                                    unproven),
                        where, std::nullopt, std::string(Action) });
}

}

std::vector<Error> changedSinceSeen(const Workbench& bench, const Run& run, const Plan& plan)
{
    std::vector<Error> changes;
    if (!bench.records)
        return changes;
    for (const PlanLink& link : plan.links) {
        const VersionObjects& version = run.versions[link.version].objectsOf(link.form);
        if (!version.mirror.empty())
            continue; // the record is of the source's own objects; reading compares the bytes
        for (const ObjectInfo& object : version.objects) {
            const std::string key(version.inSource(object.key));
            const Result<std::vector<Sight>> sights = bench.records->sights(run.store->uri(), key);
            if (!sights)
                continue; // the run reports what is wrong with the records
            if (std::optional<Error> change = changeOf(*sights, object, key, version.step))
                changes.push_back(std::move(*change));
        }
    }
    joinUnproven(changes, run.store->uri());
    return changes;
}

} // namespace deltascope
