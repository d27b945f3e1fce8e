#include "candidate_runs.h"

#include "format/common/checkpoint_folders.h"
#include "format/common/name_stem.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace deltascope {

namespace {

constexpr std::size_t MostRuns = 8;

using Stems = std::set<std::string, std::less<>>;

Stems stemsOf(const std::vector<VersionObjects>& versions)
{
    Stems stems;
    for (const VersionObjects& version : versions)
        stems.emplace(nameBeforeNumber(version.name));
    return stems;
}

/// Where versions stand alone, a run has one stem for each value of a metric in its names, but one shape.
Stems shapesOf(const Layout& layout, const std::vector<VersionObjects>& versions)
{
    Stems shapes;
    for (const VersionObjects& version : versions) {
        if (layout.standAlone() && !stepFolderOf(version.name, version.step).empty())
            shapes.insert(shapeOfRun(version.name, version.step));
    }
    return shapes;
}

std::string_view folderAround(std::string_view name)
{
    const std::size_t slash = name.rfind('/');
    return name.substr(0, slash == std::string_view::npos ? 0 : slash);
}

/// Folders of checkpoints whose steps are taken: a critic beside a policy is no run of its own, nor is a model without
/// a step beside a run of steps.
class TakenSteps {
public:
    void add(const std::vector<VersionObjects>& versions)
    {
        for (const VersionObjects& version : versions) {
            const std::string_view folder = stepFolderOf(version.name, version.step);
            m_folders.emplace(folder);
            m_hasSteps = m_hasSteps || !folder.empty();
        }
    }
    bool hold(const Layout& layout, const std::vector<VersionObjects>& versions) const
    {
        return layout.standAlone() && !m_folders.empty()
            && std::all_of(versions.begin(), versions.end(), [&](const VersionObjects& version) {
                   const std::string_view folder = stepFolderOf(version.name, version.step);
                   const bool isPlain = layout.holdsAdapters() ? m_hasSteps : !layout.linksByIds();
                   return folder.empty() ? isPlain && version.step == 0 : m_folders.contains(folder);
               });
    }

private:
    Stems m_folders;
    bool m_hasSteps = false;
};

/// The folder that all stems share.
std::string sharedFolder(const Stems& stems)
{
    std::string_view shared = *stems.begin();
    for (const std::string& stem : stems) {
        const auto differs = std::mismatch(shared.begin(), shared.end(), stem.begin(), stem.end());
        shared = shared.substr(0, static_cast<std::size_t>(differs.first - shared.begin()));
    }
    return std::string(folderAround(shared));
}

template <class Each> void forEachKey(const VersionObjects& version, Each each)
{
    for (const ObjectInfo& object : version.objects)
        each(object.key);
    for (const VersionObjects& form : version.otherForms)
        forEachKey(form, each);
}

std::set<std::string_view> keysOf(const std::vector<VersionObjects>& versions)
{
    std::set<std::string_view> keys;
    for (const VersionObjects& version : versions)
        forEachKey(version, [&](const std::string& key) { keys.insert(key); });
    return keys;
}

/// Whether all versions are called like another model than the one that is trained, or lie in folders that are.
bool isOfOtherModel(const Layout& layout, const std::vector<VersionObjects>& versions)
{
    return layout.standAlone() && std::all_of(versions.begin(), versions.end(), [](const VersionObjects& version) {
               return liesAsOtherModel(version.name, version.step);
           });
}

/// The same for the names of the steps alone: "checkpoint-10-ema" is no run beside "checkpoint-10".
bool areNamedAsOtherModel(const Layout& layout, const std::vector<VersionObjects>& versions)
{
    return layout.standAlone() && std::all_of(versions.begin(), versions.end(), [](const VersionObjects& version) {
               return isNamedAsOtherModel(version.name, version.step);
           });
}

/// The lowest folder whose address shows these versions: a run of TRL that holds anchors alone shares "run/anchors",
/// and its address is "run".
std::string folderOf(const Layout& layout, const Stems& stems, const std::vector<VersionObjects>& versions,
                     const std::vector<ObjectInfo>& listing)
{
    const std::set<std::string_view> keys = keysOf(versions);
    std::string folder = sharedFolder(stems);
    for (; !folder.empty(); folder.resize(folderAround(folder).size())) {
        std::vector<ObjectInfo> inside;
        for (const ObjectInfo& object : listing) {
            if (!keys.contains(object.key))
                continue;
            inside.push_back(object);
            inside.back().key.erase(0, folder.size() + 1);
        }
        if (layout.group(inside).size() == versions.size())
            break;
    }
    return folder;
}

/// A run that shares its folder with another one is named by what the names of its versions begin with.
void namePlaces(std::vector<CandidateRun>& runs, const std::vector<Stems>& stems)
{
    std::map<std::string, std::size_t> perFolder;
    for (const CandidateRun& run : runs)
        ++perFolder[run.place.place];
    for (std::size_t i = 0; i < runs.size(); ++i) {
        RunPlace& place = runs[i].place;
        place.isFolder = perFolder[place.place] == 1;
        if (!place.isFolder)
            place.place = *stems[i].begin();
    }
}

std::int64_t publishedUs(const CandidateRun& run)
{
    std::int64_t newest = 0;
    for (const VersionObjects& version : run.versions)
        newest = std::max(newest, version.publishedUs());
    return newest;
}

bool isSourceItself(const RunPlace& place) { return place.isFolder && place.place.empty(); }

std::string nameOf(const RunPlace& place)
{
    if (isSourceItself(place))
        return "the folder itself";
    return place.isFolder ? place.place : place.place + "*";
}

std::string nameAndSteps(const RunPlace& place)
{
    return place.first == place.last ? fmt::format("{} (step {})", nameOf(place), place.first)
                                     : fmt::format("{} (steps {} to {})", nameOf(place), place.first, place.last);
}

/// How to see a run that is not shown.
std::string wayTo(const RunPlace& place, const std::string& source)
{
    if (place.isFolder)
        return fmt::format("Open the folder {} below {} to see it.", place.place, source);
    return fmt::format("It shares its folder with another run: open one of the folders {}* below {} to see that "
                       "version alone, or move the run into a folder of its own.",
                       place.place, source);
}

}

Result<std::vector<CandidateRun>> candidateRuns(const Layout& layout, const std::string& source,
                                                const std::vector<ObjectInfo>& listing)
{
    std::vector<CandidateRun> runs;
    std::vector<Stems> stemsOfRuns;
    Stems known;
    TakenSteps taken;
    std::vector<ObjectInfo> rest = listing;
    for (;;) {
        std::vector<VersionObjects> versions = layout.group(rest);
        if (versions.empty())
            break;
        const std::set<std::string_view> used = keysOf(versions);
        std::erase_if(rest, [&](const ObjectInfo& object) { return used.contains(object.key); });
        Stems stems = stemsOf(versions);
        const Stems shapes = shapesOf(layout, versions);
        const auto isKnown = [&](const std::string& name) { return known.contains(name); };
        const bool isOfKnown =
            std::any_of(stems.begin(), stems.end(), isKnown) || std::any_of(shapes.begin(), shapes.end(), isKnown);
        const bool isInside = taken.hold(layout, versions) || (!runs.empty() && areNamedAsOtherModel(layout, versions));
        known.insert(stems.begin(), stems.end());
        known.insert(shapes.begin(), shapes.end());
        taken.add(versions);
        if (isOfKnown || isInside)
            continue;
        RunPlace place { {}, true, versions.size(), versions.front().step, versions.back().step };
        runs.push_back({ std::move(place), std::move(versions) });
        stemsOfRuns.push_back(std::move(stems));
        if (runs.size() > MostRuns)
            break;
    }
    if (runs.size() < 2)
        return runs;
    for (std::size_t i = 0; i < runs.size(); ++i)
        runs[i].place.place = folderOf(layout, stemsOfRuns[i], runs[i].versions, listing);
    namePlaces(runs, stemsOfRuns);
    if (runs.size() > MostRuns) {
        std::vector<std::string> names;
        for (const CandidateRun& run : runs)
            names.push_back(nameOf(run.place));
        return fail(Code::Usage, fmt::format("more than {} runs lie here: {}, …", MostRuns, fmt::join(names, ", ")),
                    source, "Name the folder of one of them.");
    }
    const auto rank = [&](const CandidateRun& run) {
        return std::tuple(!isOfOtherModel(layout, run.versions), isSourceItself(run.place), run.versions.size(),
                          publishedUs(run));
    };
    std::stable_sort(runs.begin(), runs.end(),
                     [&](const CandidateRun& a, const CandidateRun& b) { return rank(a) > rank(b); });
    return runs;
}

std::vector<RunPlace> placesOf(const std::vector<CandidateRun>& candidates)
{
    std::vector<RunPlace> places;
    for (const CandidateRun& run : candidates)
        places.push_back(run.place);
    return places.size() > 1 ? places : std::vector<RunPlace>();
}

std::vector<Error> otherRuns(const std::string& source, const std::vector<CandidateRun>& candidates)
{
    std::vector<Error> notices;
    for (std::size_t i = 1; i < candidates.size(); ++i)
        notices.push_back(
            Error { Code::Fork,
                    fmt::format("{} runs lie here: {} is shown, {} is not looked at", candidates.size(),
                                nameAndSteps(candidates.front().place), nameAndSteps(candidates[i].place)),
                    candidates[i].versions.back().name,
                    {},
                    wayTo(candidates[i].place, source) });
    return notices;
}

} // namespace deltascope
