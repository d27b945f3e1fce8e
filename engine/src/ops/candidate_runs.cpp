#include "candidate_runs.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <string_view>
#include <utility>

namespace deltascope {

namespace {

constexpr std::size_t MostRuns = 8;
constexpr std::string_view Digits = "0123456789";

/// What stands in front of the number in a name: "aa/deltas/step_" of "aa/deltas/step_000012.safetensors".
std::string_view stemOf(std::string_view name)
{
    const std::size_t last = name.find_last_of(Digits);
    if (last == std::string_view::npos)
        return name;
    const std::size_t before = name.substr(0, last).find_last_not_of(Digits);
    return name.substr(0, before == std::string_view::npos ? 0 : before + 1);
}

using Stems = std::set<std::string, std::less<>>;

Stems stemsOf(const std::vector<VersionObjects>& versions)
{
    Stems stems;
    for (const VersionObjects& version : versions)
        stems.emplace(stemOf(version.name));
    return stems;
}

/// The folder that all stems share, or the stem itself where there is one: several may lie in its folder.
std::string placeOf(const Stems& stems)
{
    if (stems.size() == 1)
        return *stems.begin();
    std::string_view shared = *stems.begin();
    for (const std::string& stem : stems) {
        const auto differs = std::mismatch(shared.begin(), shared.end(), stem.begin(), stem.end());
        shared = shared.substr(0, static_cast<std::size_t>(differs.first - shared.begin()));
    }
    const std::size_t slash = shared.rfind('/');
    return std::string(shared.substr(0, slash == std::string_view::npos ? 0 : slash));
}

template <class Each> void forEachKey(const VersionObjects& version, Each each)
{
    for (const ObjectInfo& object : version.objects)
        each(object.key);
    for (const VersionObjects& form : version.otherForms)
        forEachKey(form, each);
}

void removeUsed(std::vector<ObjectInfo>& listing, const std::vector<VersionObjects>& versions)
{
    std::set<std::string_view> used;
    for (const VersionObjects& version : versions)
        forEachKey(version, [&](const std::string& key) { used.insert(key); });
    std::erase_if(listing, [&](const ObjectInfo& object) { return used.contains(object.key); });
}

std::int64_t publishedUs(const CandidateRun& run)
{
    std::int64_t newest = 0;
    for (const VersionObjects& version : run.versions)
        newest = std::max(newest, version.publishedUs());
    return newest;
}

std::string stepsText(const CandidateRun& run)
{
    const std::int64_t first = run.versions.front().step;
    const std::int64_t last = run.versions.back().step;
    return first == last ? fmt::format("step {}", first) : fmt::format("steps {} to {}", first, last);
}

std::string nameOf(const CandidateRun& run) { return run.place.empty() ? std::string("the folder itself") : run.place; }

}

Result<std::vector<CandidateRun>> candidateRuns(const Layout& layout, const std::string& source,
                                                const std::vector<ObjectInfo>& listing)
{
    std::vector<CandidateRun> runs;
    Stems known;
    std::vector<ObjectInfo> rest = listing;
    for (;;) {
        std::vector<VersionObjects> versions = layout.group(rest);
        if (versions.empty())
            break;
        removeUsed(rest, versions);
        const Stems stems = stemsOf(versions);
        const bool isOfKnown =
            std::any_of(stems.begin(), stems.end(), [&](const std::string& stem) { return known.contains(stem); });
        known.insert(stems.begin(), stems.end());
        if (!isOfKnown)
            runs.push_back({ placeOf(stems), std::move(versions) });
        if (runs.size() > MostRuns) {
            std::vector<std::string> names;
            for (const CandidateRun& run : runs)
                names.push_back(nameOf(run));
            return fail(Code::Usage, fmt::format("more than {} runs lie here: {}, …", MostRuns, fmt::join(names, ", ")),
                        source, "Name the folder of one of them.");
        }
    }
    std::stable_sort(runs.begin(), runs.end(), [](const CandidateRun& a, const CandidateRun& b) {
        return std::pair(a.versions.size(), publishedUs(a)) > std::pair(b.versions.size(), publishedUs(b));
    });
    return runs;
}

std::vector<Error> otherRuns(const std::string& source, const std::vector<CandidateRun>& candidates)
{
    std::vector<Error> notices;
    for (std::size_t i = 1; i < candidates.size(); ++i)
        notices.push_back(
            Error { Code::Fork,
                    fmt::format("{} runs lie here: {} ({}) is shown, {} ({}) is not looked at", candidates.size(),
                                nameOf(candidates.front()), stepsText(candidates.front()), nameOf(candidates[i]),
                                stepsText(candidates[i])),
                    candidates[i].versions.back().name,
                    {},
                    fmt::format("Open the folder of the other one below {} to see it.", source) });
    return notices;
}

} // namespace deltascope
