#include "audit/tensor_drift.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

namespace deltascope {

namespace {

constexpr std::size_t DriftWindow = 10; ///< deltas that touch a tensor
constexpr std::size_t Named = 10;

/// Changed elements of the last deltas that touch a tensor.
struct Touches {
    std::size_t deltas = 0; ///< at most DriftWindow
    std::array<std::uint64_t, 2> largest {}; ///< descending

    void add(std::uint64_t changed) noexcept
    {
        if (deltas == DriftWindow)
            return;
        ++deltas;
        if (changed > largest[0])
            largest = { changed, largest[0] };
        else
            largest[1] = std::max(largest[1], changed);
    }
};

using ByTensor = std::map<std::string_view, Touches>;

ByTensor touchesBefore(const PathState& chain, const std::vector<LinkAudit>& links, std::size_t anchor,
                       const HealthBook* health)
{
    ByTensor touches;
    for (std::size_t link = anchor; link-- > 0;) {
        if (chain.links()[link]->index.full || (health && health->restored.contains(link)))
            continue;
        for (const TensorCount& count : links[link].changed)
            touches[count.name].add(count.changed);
    }
    return touches;
}

}

std::vector<TensorDrift> driftedTensors(const PathState& chain, const std::vector<LinkAudit>& links, std::size_t anchor,
                                        const HealthBook* health)
{
    constexpr std::uint64_t Slack = 16;
    const ByTensor touches = touchesBefore(chain, links, anchor, health);
    std::map<std::string_view, std::uint64_t> zeroSigns;
    for (const TensorCount& count : links[anchor].zeroSigns)
        zeroSigns[count.name] = count.changed;

    std::vector<TensorDrift> drifted;
    for (const TensorCount& count : links[anchor].changed) {
        const auto own = touches.find(count.name);
        if (own == touches.end() || own->second.deltas < 2)
            continue;
        const auto signs = zeroSigns.find(count.name);
        const std::uint64_t differs = count.changed - (signs == zeroSigns.end() ? 0 : signs->second);
        const std::uint64_t usual = own->second.largest[1];
        if (differs > 3 * usual + Slack)
            drifted.push_back(TensorDrift { count.name, differs, usual, 0 });
    }
    std::sort(drifted.begin(), drifted.end(), [](const TensorDrift& a, const TensorDrift& b) {
        const auto share = [](const TensorDrift& drift) {
            return static_cast<double>(drift.differs) / static_cast<double>(drift.usual);
        };
        return share(a) != share(b) ? share(a) > share(b) : a.name < b.name;
    });
    for (const TensorDrift& far : links[anchor].farMoved) {
        const bool told = std::any_of(drifted.begin(), drifted.end(),
                                      [&](const TensorDrift& other) { return other.name == far.name; });
        if (!told)
            drifted.push_back(far);
    }
    drifted.resize(std::min(drifted.size(), Named));
    return drifted;
}

} // namespace deltascope
