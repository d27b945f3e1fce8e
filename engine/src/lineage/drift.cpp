#include "deltascope/engine/lineage.h"

#include <algorithm>
#include <vector>

namespace deltascope {

namespace {

/// Median of the changed elements of the last ten deltas before a version; nothing without facts.
std::optional<std::uint64_t> usualDelta(const Run& run, std::size_t at)
{
    constexpr std::size_t Window = 10;
    std::vector<std::uint64_t> changed;
    for (std::size_t i = at; i-- > 0 && changed.size() < Window && run.versions[i].epoch == run.versions[at].epoch;) {
        if (run.versions[i].kind == VersionKind::Delta && run.versions[i].facts && run.versions[i].facts->replayed)
            changed.push_back(run.versions[i].facts->changedElements);
    }
    if (changed.empty())
        return std::nullopt;
    std::nth_element(changed.begin(), changed.begin() + static_cast<std::ptrdiff_t>(changed.size() / 2), changed.end());
    return changed[changed.size() / 2];
}

}

std::optional<Drift> driftAt(const Run& run, std::size_t at)
{
    const Version& version = run.versions[at];
    if (!version.facts)
        return std::nullopt;
    const VersionFacts& facts = *version.facts;
    if (facts.fullFormDiffers)
        return Drift { *facts.fullFormDiffers, facts.zeroSigns, *facts.fullFormDiffers - facts.zeroSigns };
    if (version.kind != VersionKind::Anchor || !facts.changedVsPrevious)
        return std::nullopt;
    Drift drift { *facts.changedVsPrevious, facts.zeroSigns, std::nullopt };
    const std::uint64_t inValue = drift.differs - drift.zeroSigns;
    if (const std::optional<std::uint64_t> usual = usualDelta(run, at))
        drift.estimate = inValue - std::min(inValue, *usual);
    return drift;
}

} // namespace deltascope
