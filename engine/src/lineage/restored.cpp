#include "lineage/restored.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>

namespace deltascope {

namespace {

/// Whether two versions have one state: as their publishers recorded it, else as a replay of both showed. Nothing where
/// neither tells.
std::optional<bool> haveOneState(const Version& version, const Version& restored)
{
    if (restored.summary && !restored.summary->root.empty() && !version.summary->root.empty())
        return restored.summary->root == version.summary->root;
    return version.facts ? version.facts->restores : std::nullopt;
}

/// Whether retention may have removed the step that a version says it restores: then nothing speaks against it.
bool mayBeRetired(const Run& run, const Version& version, std::int64_t step)
{
    const auto first = std::find_if(run.versions.begin(), run.versions.end(),
                                    [&](const Version& other) { return other.epoch == version.epoch; });
    const bool isGone = std::any_of(run.gone.begin(), run.gone.end(), [&](const GoneVersion& gone) {
        return gone.epoch == version.epoch && gone.step == step;
    });
    return step < first->step() || isGone;
}

/// Why a version does not restore the step that it names.
std::optional<std::string> contradictionOf(const Run& run, std::size_t at)
{
    const Version& version = run.versions[at];
    const std::int64_t step = *version.summary->restores;
    if (step >= version.step())
        return "and that is no earlier step";
    if (const std::optional<std::size_t> restored = namedAsRestored(run, at))
        return haveOneState(version, run.versions[*restored]) == false ? std::optional("and its state is another one")
                                                                       : std::nullopt;
    return mayBeRetired(run, version, step) ? std::nullopt : std::optional("and there is no such step");
}

}

std::optional<std::size_t> namedAsRestored(const Run& run, std::size_t at)
{
    const Version& version = run.versions[at];
    if (!version.summary || !version.summary->restores)
        return std::nullopt;
    for (std::size_t i = at; i-- > 0 && run.versions[i].epoch == version.epoch;) {
        if (run.versions[i].step() == *version.summary->restores)
            return i;
    }
    return std::nullopt;
}

std::optional<std::size_t> restoredVersion(const Run& run, std::size_t at)
{
    const std::optional<std::size_t> restored = namedAsRestored(run, at);
    return restored && haveOneState(run.versions[at], run.versions[*restored]).value_or(true) ? restored : std::nullopt;
}

void assessRestored(Run& run)
{
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        Version& version = run.versions[i];
        if (!version.summary || !version.summary->restores)
            continue;
        if (const std::optional<std::string> contradiction = contradictionOf(run, i))
            version.problems.push_back(Error { Code::Claim,
                                               fmt::format("step {} says that it restores step {}, {}", version.step(),
                                                           *version.summary->restores, *contradiction),
                                               version.objects.name,
                                               version.step(),
                                               {} });
    }
}

} // namespace deltascope
