#include "deltascope/engine/evidence.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace deltascope {

std::string_view word(Evidence evidence) noexcept
{
    switch (evidence) {
    case Evidence::Digest:
        return "digest";
    case Evidence::Root:
        return "root";
    case Evidence::Anchor:
        return "anchor";
    case Evidence::Base:
        return "base";
    case Evidence::Weak:
        return "weak";
    case Evidence::FirstSight:
        return "first_sight";
    case Evidence::None:
        break;
    }
    return "none";
}

void TensorGroup::add(std::string_view name)
{
    ++tensors;
    if (names.size() == MostNames && names.back() <= name)
        return;
    names.emplace(std::upper_bound(names.begin(), names.end(), name), name);
    if (names.size() > MostNames)
        names.pop_back();
}

void ComparedTensors::add(Compared compared, std::string_view name)
{
    switch (compared) {
    case Compared::Digest:
        ++digest;
        break;
    case Compared::Root:
        ++root;
        break;
    case Compared::Weak:
        weak.add(name);
        break;
    case Compared::Start:
        start.add(name);
        break;
    case Compared::Nothing:
        nothing.add(name);
        break;
    }
}

std::uint32_t Coverage::tensors() const noexcept { return std::accumulate(counts.begin(), counts.end(), 0U); }

bool Coverage::isVerified() const noexcept
{
    const std::uint32_t recorded = of(Evidence::Digest) + of(Evidence::Root);
    return recorded > 0 && recorded + of(Evidence::Base) == tensors();
}

bool Coverage::isConsistent() const noexcept
{
    const std::uint32_t compared =
        of(Evidence::Digest) + of(Evidence::Root) + of(Evidence::Anchor) + of(Evidence::Weak);
    return compared > 0 && compared + of(Evidence::Base) == tensors();
}

Coverage coverageOf(const ComparedTensors& compared, const EvidenceAround& around)
{
    std::array<std::pair<Evidence, const TensorGroup*>, 3> groups { { { around.replayed, &compared.nothing },
                                                                      { Evidence::Weak, &compared.weak },
                                                                      { around.start, &compared.start } } };
    Coverage coverage;
    coverage.counts[static_cast<std::size_t>(Evidence::Digest)] = compared.digest;
    coverage.counts[static_cast<std::size_t>(Evidence::Root)] = compared.root;
    std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [evidence, group] : groups) {
        coverage.counts[static_cast<std::size_t>(evidence)] += group->tensors;
        if (evidence == Evidence::Digest || evidence == Evidence::Root)
            continue;
        const std::size_t room = TensorGroup::MostNames - coverage.weakest.size();
        const auto end = group->names.begin() + static_cast<std::ptrdiff_t>(std::min(room, group->names.size()));
        coverage.weakest.insert(coverage.weakest.end(), group->names.begin(), end);
    }
    return coverage;
}

} // namespace deltascope
