#include "stands_on_rewritten.h"

#include "deltascope/base/address.h"
#include "stretches.h"

#include <algorithm>
#include <string>
#include <vector>

namespace deltascope {

namespace {

/// `rewritten`: State::rewritten().
bool holds(const PathState& path, std::size_t link, const std::vector<std::string>& rewritten)
{
    const OpenVersion& version = *path.links()[link];
    const Address place = version.store->uri();
    return std::any_of(version.objects.objects.begin(), version.objects.objects.end(), [&](const ObjectInfo& object) {
        const std::string name = path.versionOf(link) ? object.key : place.below(object.key).text();
        return std::find(rewritten.begin(), rewritten.end(), name) != rewritten.end();
    });
}

bool standsOn(const PathState& path, std::size_t link, const std::vector<std::string>& rewritten)
{
    while (!rewritten.empty() && link > 0 && !path.isComplete(link)) {
        if (holds(path, --link, rewritten))
            return true;
    }
    return false;
}

}

bool standsOnRewritten(const PathState& path, std::size_t link) { return standsOn(path, link, path.rewritten()); }

Workbench withoutRecords(const Workbench& bench)
{
    Workbench unheld = bench;
    if (bench.records)
        unheld.catalog = nullptr;
    unheld.records = nullptr;
    return unheld;
}

std::size_t firstRewritten(const PathState& path)
{
    const std::vector<std::string> rewritten = path.rewritten();
    std::size_t link = rewritten.empty() ? path.links().size() : 0;
    while (link < path.links().size() && !holds(path, link, rewritten))
        ++link;
    return link;
}

std::optional<std::size_t> failureOnRewritten(const PathState& path, const ReplayAudit& audit)
{
    const std::vector<std::string> rewritten = path.rewritten();
    for (std::size_t link = 1; link < path.links().size() && !rewritten.empty(); ++link) {
        const VersionFacts facts = audit.factsOf(link, VersionKind::Delta, 0);
        if (failsItsRecord(facts) && standsOn(path, link, rewritten))
            return link;
    }
    return std::nullopt;
}

} // namespace deltascope
