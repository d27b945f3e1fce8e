#include "format/common/checkpoint_folders.h"

#include "format/common/checkpoint_names.h"
#include "format/common/counted_steps.h"
#include "format/common/object_names.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>

namespace deltascope {

namespace {

/// How well a place inside a step fits for the model that is trained. Less is better.
enum class Place : std::uint8_t { StepItself, Policy, Unknown, OtherModel };

Place placeOf(const std::vector<std::string_view>& below)
{
    Place place = below.empty() ? Place::StepItself : Place::Unknown;
    for (const std::string_view component : below) {
        if (namesOtherModel(component))
            return Place::OtherModel;
        if (namesPolicy(component))
            place = Place::Policy;
    }
    return place;
}

struct Candidate {
    std::string_view path;
    std::vector<std::string_view> components;
    std::vector<std::optional<StepName>> names; ///< of the components
};

/// Candidates whose paths differ in nothing but the numbers of steps.
using SameShape = std::vector<Candidate>;

/// Whether a folder is hidden, or was not finished: "tmp_step_10", or "tmp" inside of a step. Whole runs may be called
/// so.
bool isUnfinished(const Candidate& candidate)
{
    bool isInStep = false;
    for (std::size_t at = 0; at < candidate.components.size(); ++at) {
        const std::string_view component = candidate.components[at];
        if (component.starts_with('.') || isUnfinishedStepName(component) || (isInStep && isUnfinishedName(component)))
            return true;
        isInStep = isInStep || candidate.names[at];
    }
    return false;
}

std::map<std::string, SameShape> byShape(const std::vector<std::string_view>& folders)
{
    const CountedSteps counted(folders);
    std::map<std::string, SameShape> shapes;
    for (const std::string_view path : folders) {
        Candidate candidate { path, componentsOf(path), {} };
        std::string shape;
        for (const std::string_view component : candidate.components) {
            const auto begin = static_cast<std::size_t>(component.data() - path.data());
            std::optional<StepName> name = stepNameOf(component);
            candidate.names.push_back(name ? std::move(name) : counted.nameOf(path.substr(0, begin), component));
            shape.append(candidate.names.back() ? candidate.names.back()->pattern : component).append("/");
        }
        if (!isUnfinished(candidate))
            shapes[shape].push_back(std::move(candidate));
    }
    return shapes;
}

/// The component that gives the steps: the innermost one that varies; where none does, the innermost one that is not
/// zero ("iter_0000000" is always there). Nothing where no name has a step word.
std::optional<std::size_t> stepComponent(const SameShape& same)
{
    std::optional<std::size_t> nonzero;
    std::optional<std::size_t> any;
    for (std::size_t at = same.front().names.size(); at-- > 0;) {
        if (!same.front().names[at])
            continue;
        const std::int64_t first = same.front().names[at]->step;
        if (std::any_of(same.begin(), same.end(), [&](const Candidate& one) { return one.names[at]->step != first; }))
            return at;
        any = any ? any : at;
        nonzero = nonzero || first == 0 ? nonzero : at;
    }
    return nonzero ? nonzero : any;
}

/// Folders of one run, at one place in each step.
struct Family {
    std::string above; ///< the folder that holds the steps
    std::string pattern;
    std::string below;
    Place place = Place::Unknown;
    bool isOther = false; ///< the step or a folder above it is called like another model
    bool forLoaders = false; ///< its name says that other programs load it
    bool isModel = false; ///< its name says that it is the model
    std::vector<CheckpointFolder> steps;

    auto rank() const
    {
        return std::tuple(place, !forLoaders, -static_cast<std::ptrdiff_t>(steps.size()), pattern.size(),
                          std::count(below.begin(), below.end(), '/'), !isModel, pattern, below);
    }
};

/// Components whose number is that of the step in each candidate: "iter_10" of "step_10/iter_10".
std::vector<bool> repeatTheStep(const SameShape& same, std::size_t step)
{
    std::vector<bool> repeats;
    for (std::size_t at = 0; at < same.front().names.size(); ++at)
        repeats.push_back(std::all_of(same.begin(), same.end(), [&](const Candidate& one) {
            return one.names[at] && one.names[at]->step == one.names[step]->step;
        }));
    return repeats;
}

std::string joined(const Candidate& candidate, std::size_t begin, std::size_t end, const std::vector<bool>& repeats)
{
    std::string text;
    for (std::size_t i = begin; i < end; ++i)
        text.append(text.empty() ? "" : "/").append(repeats[i] ? candidate.names[i]->pattern : candidate.components[i]);
    return text;
}

/// "step=20-last" beside "step=20" is the same save.
void dropLastTwins(std::vector<CheckpointFolder>& steps)
{
    constexpr std::string_view Last = "-last";
    std::set<std::string, std::less<>> folders;
    for (const CheckpointFolder& step : steps)
        folders.insert(step.folder);
    std::erase_if(steps, [&](const CheckpointFolder& step) {
        for (std::size_t at = step.folder.find(Last); at != std::string::npos; at = step.folder.find(Last, at + 1)) {
            const std::string_view rest = std::string_view(step.folder).substr(at + Last.size());
            if ((rest.empty() || rest.front() == '/') && folders.contains(step.folder.substr(0, at).append(rest)))
                return true;
        }
        return false;
    });
}

/// Whether a step of this name below these folders is of another model, or of a run that was not finished.
bool isOfOtherModel(const std::vector<std::string_view>& components, std::size_t step)
{
    const auto at = components.begin() + static_cast<std::ptrdiff_t>(step);
    return namesOtherModel(*at) || std::any_of(components.begin(), at, [](std::string_view above) {
               return namesRunOfOtherModel(above) || isUnfinishedName(above);
           });
}

std::vector<Family> familiesOf(const std::vector<std::string_view>& folders, std::size_t searchDepth)
{
    std::map<std::string, Family> families;
    for (const auto& [shape, same] : byShape(folders)) {
        const std::optional<std::size_t> at = stepComponent(same);
        if (!at)
            continue;
        const std::vector<bool> repeats = repeatTheStep(same, *at);
        for (const Candidate& candidate : same) {
            const std::size_t parts = candidate.components.size();
            const std::vector<std::string_view> below(
                candidate.components.begin() + static_cast<std::ptrdiff_t>(*at) + 1, candidate.components.end());
            const Place place = placeOf(below);
            if (place == Place::OtherModel || below.size() > searchDepth)
                continue;
            const StepName& name = *candidate.names[*at];
            Family family;
            family.above = joined(candidate, 0, *at, repeats);
            family.pattern = name.pattern;
            family.below = joined(candidate, *at + 1, parts, repeats);
            family.place = place;
            family.isOther = isOfOtherModel(candidate.components, *at);
            family.forLoaders = std::any_of(below.begin(), below.end(), namesFormForLoaders);
            family.isModel = std::any_of(below.begin(), below.end(), namesModel);
            const std::string key = fmt::format("{}/{}/{}", family.above, family.pattern, family.below);
            families.try_emplace(key, std::move(family))
                .first->second.steps.push_back({ name.step, std::string(candidate.path) });
        }
    }
    std::vector<Family> out;
    for (auto& [key, family] : families) {
        std::stable_sort(family.steps.begin(), family.steps.end(),
                         [](const CheckpointFolder& a, const CheckpointFolder& b) { return a.step < b.step; });
        dropLastTwins(family.steps);
        out.push_back(std::move(family));
    }
    return out;
}

Error besideRead(const std::string& read, const std::string& notRead, std::int64_t step)
{
    return Error { Code::Fork, fmt::format("several models lie side by side: {} is read, {} is not", read, notRead),
                   notRead, step, fmt::format("Open the folder {} to see the other one.", notRead) };
}

/// A model that lies beside those that are read, and fits as well.
std::optional<Error> besideFamily(const Family& read, const std::vector<Family>& all)
{
    for (const Family& other : all) {
        const bool isPlace = other.pattern == read.pattern && other.below != read.below && other.place == read.place
            && read.place != Place::StepItself;
        const bool isName =
            other.pattern.substr(0, other.pattern.find('#')) == read.pattern.substr(0, read.pattern.find('#'))
            && other.pattern != read.pattern && other.below == read.below;
        if (other.above == read.above && other.isOther == read.isOther && (isPlace || isName))
            return besideRead(read.steps.back().folder, other.steps.back().folder, read.steps.back().step);
    }
    return std::nullopt;
}

/// A policy in a source without steps.
CheckpointFolders policyOf(const std::vector<std::string_view>& folders, std::size_t searchDepth)
{
    std::vector<std::pair<bool, std::string_view>> policies;
    for (const std::string_view folder : folders) {
        const std::vector<std::string_view> components = componentsOf(folder);
        if (components.size() <= searchDepth && placeOf(components) == Place::Policy
            && std::none_of(components.begin(), components.end(), isUnfinishedName))
            policies.emplace_back(std::none_of(components.begin(), components.end(), namesFormForLoaders), folder);
    }
    CheckpointFolders out;
    std::sort(policies.begin(), policies.end());
    if (policies.empty())
        return out;
    const std::string read(policies.front().second);
    out.steps.push_back({ 0, read });
    if (policies.size() > 1 && policies[0].first == policies[1].first)
        out.beside = besideRead(read, std::string(policies[1].second), 0);
    return out;
}

} // namespace

std::optional<std::int64_t> stepInName(std::string_view component)
{
    const std::optional<StepName> name = stepNameOf(component);
    return name ? std::optional(name->step) : std::nullopt;
}

std::string_view stepFolderOf(std::string_view path, std::int64_t step)
{
    std::string_view counted;
    for (std::string_view folder = path; !folder.empty(); folder = splitKey(folder).folder) {
        const std::string_view name = splitKey(folder).file;
        if (stepInName(name) == step)
            return folder;
        const std::optional<StepName> number = countedNameOf(name);
        if (counted.empty() && number && number->step == step)
            counted = folder;
    }
    return counted;
}

std::string_view stepFolderOf(std::string_view path)
{
    for (std::string_view folder = path; !folder.empty(); folder = splitKey(folder).folder) {
        if (stepInName(splitKey(folder).file))
            return folder;
    }
    return {};
}

std::string shapeOfRun(std::string_view path, std::int64_t step)
{
    const std::string_view folder = stepFolderOf(path, step);
    const SplitKey parts = splitKey(folder);
    const std::optional<StepName> named = stepNameOf(parts.file);
    const std::optional<StepName> name = named ? named : countedNameOf(parts.file);
    return fmt::format("{}/{}{}", parts.folder, name ? name->pattern : std::string(), path.substr(folder.size()));
}

bool liesAsOtherModel(std::string_view path, std::int64_t step)
{
    const std::string_view folder = stepFolderOf(path, step);
    if (folder.empty())
        return false;
    const std::vector<std::string_view> components = componentsOf(folder);
    return isOfOtherModel(components, components.size() - 1);
}

bool isNamedAsOtherModel(std::string_view path, std::int64_t step)
{
    return namesOtherModel(splitKey(stepFolderOf(path, step)).file);
}

CheckpointFolders chooseCheckpoints(const std::vector<std::string_view>& folders, std::size_t searchDepth)
{
    CheckpointFolders out;
    const bool hasRoot = std::find(folders.begin(), folders.end(), std::string_view()) != folders.end();
    const std::vector<Family> families = familiesOf(folders, searchDepth);
    const auto best = std::min_element(families.begin(), families.end(), [](const Family& a, const Family& b) {
        if (a.isOther != b.isOther)
            return b.isOther;
        return a.above != b.above ? isBetterRoot(a.above, b.above) : a.rank() < b.rank();
    });
    if (hasRoot)
        out.steps.push_back({});
    if (best != families.end() && (!hasRoot || best->above.empty())) {
        out.beside = besideFamily(*best, families);
        out.steps.insert(out.steps.end(), best->steps.begin(), best->steps.end());
    } else if (!hasRoot && best == families.end()) {
        return policyOf(folders, searchDepth);
    }
    return out;
}

} // namespace deltascope
