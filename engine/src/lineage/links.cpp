#include "lineage/links.h"

#include <algorithm>

namespace deltascope {

namespace {

/// Finds the base by the root of its state, whatever the numbers say. False where the version before does not carry
/// one.
bool linkByRoot(Run& run, std::size_t at)
{
    Version& version = run.versions[at];
    bool known = false;
    for (std::size_t other = at; other-- > 0 && run.versions[other].epoch == version.epoch;) {
        const Version& candidate = run.versions[other];
        if (!candidate.summary || candidate.summary->root.empty())
            continue;
        known = true;
        if (candidate.summary->root == version.summary->baseRoot) {
            version.base = other;
            version.baseStep = candidate.step();
            return true;
        }
    }
    version.baseStep = version.step() - 1;
    return known;
}

}

void link(Run& run, std::size_t at, std::optional<std::size_t> previous)
{
    Version& version = run.versions[at];
    if (version.kind == VersionKind::Anchor)
        return;
    if (version.summary && !version.summary->baseRoot.empty() && linkByRoot(run, at))
        return;
    const std::optional<std::int64_t> declared = version.summary ? version.summary->declaredBase : std::nullopt;
    if (declared) {
        version.baseStep = declared;
        if (previous && run.versions[*previous].step() == *declared) {
            version.base = previous;
            return;
        }
        for (std::size_t other = at; !version.base && other-- > 0 && run.versions[other].epoch == version.epoch;) {
            if (run.versions[other].step() == *declared)
                version.base = other;
        }
        if (version.base)
            return;
        if (!previous && run.layout->needsExternalBase())
            version.onExternalBase = *declared == 0 || *declared == version.step() - 1;
        return;
    }
    version.baseStep = previous ? run.versions[*previous].step() : version.step() - 1;
    version.base = previous;
    if (previous)
        version.acrossGap = !run.layout->numbersMaySkip()
            && run.versions[*previous].step() + version.objects.emptyBefore + 1 != version.step();
    else if (run.layout->needsExternalBase()) { // other layouts bring their first state: a checkpoint given beside is
                                                // none of the chain
        version.onExternalBase = true;
        version.acrossGap = version.baseStep > version.objects.emptyBefore;
    }
}

void linkOtherForms(Run& run, std::size_t at)
{
    Version& version = run.versions[at];
    const auto own = run.versions.begin() + static_cast<std::ptrdiff_t>(at);
    for (OtherForm& form : version.otherForms) {
        if (!form.summary || form.summary->full)
            continue;
        const std::string& root = form.summary->baseRoot;
        form.baseStep = form.summary->declaredBase.value_or(version.step() - 1);
        const auto fits = [&](const Version& other) {
            return other.epoch == version.epoch
                && (root.empty() ? other.step() == *form.baseStep : other.summary && other.summary->root == root);
        };
        // Most say the number, and versions ascend; a root may stand anywhere.
        auto found = std::partition_point(run.versions.begin(), own, [&](const Version& other) {
            return other.epoch < version.epoch || (other.epoch == version.epoch && other.step() < *form.baseStep);
        });
        if (found != own && !fits(*found) && !root.empty())
            found = std::find_if(run.versions.begin(), own, fits);
        if (found == own || !fits(*found))
            continue;
        form.base = static_cast<std::size_t>(found - run.versions.begin());
        form.baseStep = found->step();
    }
}

} // namespace deltascope
