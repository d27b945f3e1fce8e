#include "lineage/links.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace deltascope {

namespace {

/// Finds the base by the root of its state, whatever the numbers say. Nothing where no version in front carries a root.
std::optional<BaseLink> linkByRoot(const Run& run, std::size_t at, const std::string& root)
{
    bool known = false;
    for (std::size_t other = at; other-- > 0 && run.versions[other].epoch == run.versions[at].epoch;) {
        const Version& candidate = run.versions[other];
        if (!candidate.summary || candidate.summary->root.empty())
            continue;
        known = true;
        if (candidate.summary->root == root)
            return BaseLink { other, candidate.step() };
    }
    return known ? std::optional(BaseLink { {}, run.versions[at].step() - 1 }) : std::nullopt;
}

/// Whether a later run has written over what a step of an earlier one builds on: then that is no state outside.
bool isWrittenOver(const Run& run, int epoch, std::int64_t step) { return behindWrittenOver(run, epoch, step) > step; }

BaseLink linkByNumber(const Run& run, std::size_t at, std::int64_t declared, bool isFirst)
{
    const Version& version = run.versions[at];
    const auto own = run.versions.begin() + static_cast<std::ptrdiff_t>(at);
    const auto found = std::partition_point(run.versions.begin(), own, [&](const Version& other) {
        return other.epoch < version.epoch || (other.epoch == version.epoch && other.step() < declared);
    });
    if (found != own && found->epoch == version.epoch && found->step() == declared
        && !isWrittenOver(run, version.epoch, declared))
        return BaseLink { static_cast<std::size_t>(found - run.versions.begin()), declared };
    BaseLink missing { {}, declared };
    if (isFirst && run.layout->needsExternalBase())
        missing.onExternalBase =
            (declared == 0 || declared == version.step() - 1) && !isWrittenOver(run, version.epoch, declared);
    return missing;
}

}

std::int64_t behindWrittenOver(const Run& run, int epoch, std::int64_t step)
{
    std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
    std::int64_t highest = std::numeric_limits<std::int64_t>::min();
    for (auto end = run.versions.end(); end != run.versions.begin() && std::prev(end)->epoch > epoch;) {
        const int later = std::prev(end)->epoch;
        const auto first = std::partition_point(run.versions.begin(), end,
                                                [&](const Version& version) { return version.epoch < later; });
        lowest = std::min(lowest, first->step());
        highest = std::max(highest, std::prev(end)->step());
        end = first;
    }
    return lowest <= step && step <= highest ? highest + 1 : step;
}

BaseLink linkOf(const Run& run, std::size_t at, const std::optional<VersionSummary>& summary,
                std::optional<std::size_t> previous)
{
    const Version& version = run.versions[at];
    if (previous && isWrittenOver(run, version.epoch, run.versions[*previous].step()))
        previous.reset(); // what stood between them may be gone
    if (summary && !summary->baseRoot.empty()) {
        if (const std::optional<BaseLink> found = linkByRoot(run, at, summary->baseRoot))
            return *found;
    }
    if (summary && summary->baseById == BaseById::Outside)
        return { {}, summary->declaredBase, true };
    if (summary && summary->baseById == BaseById::Missing)
        return {};
    if (summary && summary->declaredBase)
        return linkByNumber(run, at, *summary->declaredBase, !previous);
    if (previous) {
        const std::int64_t before = run.versions[*previous].step();
        const bool skips = before + 1 != version.step();
        return { previous, before, false, skips && !run.layout->numbersMaySkip() };
    }
    BaseLink first { {}, version.step() - 1 };
    if (run.layout->needsExternalBase()) { // other layouts bring their first state: a checkpoint given beside is none
                                           // of the chain
        first.onExternalBase = !isWrittenOver(run, version.epoch, *first.baseStep);
        first.acrossGap = *first.baseStep > 0;
    }
    return first;
}

} // namespace deltascope
