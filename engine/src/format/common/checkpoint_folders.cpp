#include "format/common/checkpoint_folders.h"

#include "deltascope/base/ascii.h"
#include "format/common/object_names.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>

namespace deltascope {

namespace {

constexpr std::size_t MostBelowStep = 4; ///< components between a step and its weights

constexpr std::array<std::string_view, 21> StepWords = {
    "checkpoint", "checkpoints", "ckpt",       "chkpt",   "step",   "steps",  "iter",
    "iters",      "iteration",   "iterations", "epoch",   "epochs", "update", "updates",
    "round",      "rollout",     "batch",      "episode", "save",   "ba",     "ep",
};
constexpr std::array<std::string_view, 6> UnfinishedWords = { "tmp", "temp", "partial", "incomplete", "bak", "backup" };
constexpr std::array<std::string_view, 17> OtherModels = {
    "critic",    "value", "reward", "rm",  "ref",     "reference", "optimizer", "optimizers", "optim",
    "scheduler", "ema",   "best",   "old", "teacher", "target",    "draft",     "averaged",
};
constexpr std::array<std::string_view, 10> Policies = {
    "actor", "policy", "model", "student", "huggingface", "hf", "weights", "consolidated", "generator", "lora",
};
constexpr std::array<std::string_view, 3> ForLoaders = { "huggingface", "hf", "consolidated" };

template <std::size_t N> bool isOneOf(const std::array<std::string_view, N>& words, std::string_view word)
{
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// ASCII alone, as the words are.
std::string toLower(std::string_view text)
{
    std::string lower(text);
    for (char& c : lower)
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return lower;
}

bool isLetter(char c) { return c >= 'a' && c <= 'z'; }

/// Stretches of letters.
std::vector<std::string_view> wordsOf(std::string_view lower)
{
    std::vector<std::string_view> words;
    for (std::size_t at = 0; at < lower.size();) {
        std::size_t end = at;
        while (end < lower.size() && isLetter(lower[end]))
            ++end;
        if (end > at)
            words.push_back(lower.substr(at, end - at));
        at = std::max(end, at + 1);
    }
    return words;
}

template <std::size_t N> bool hasWord(std::string_view name, const std::array<std::string_view, N>& wanted)
{
    const std::string lower = toLower(name);
    const std::vector<std::string_view> words = wordsOf(lower);
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return isOneOf(wanted, word); });
}

bool isStepWord(std::string_view word)
{
    return isOneOf(StepWords, word) || word.ends_with("step") || word.ends_with("checkpoint");
}

/// A name with its step taken out: the same for all folders of a run.
struct StepName {
    std::int64_t step = 0;
    std::string pattern; ///< "#" of "global_step_10", "#_hf" of "global_step10_hf"
};

/// Without step words and their numbers: "run-a" of "run-a-epoch_1_". `lower`: what stands before the last step word.
std::string prefixOf(std::string_view lower)
{
    std::string prefix;
    std::string_view word;
    for (std::size_t at = 0; at < lower.size();) {
        const std::size_t begin = at;
        const bool letters = isLetter(lower[at]);
        const bool digits = isDigit(lower[at]);
        while (at < lower.size() && (letters ? isLetter(lower[at]) : digits ? isDigit(lower[at]) : at == begin))
            ++at;
        const std::string_view part = lower.substr(begin, at - begin);
        if (letters)
            word = part;
        const bool ofStep = digits && isStepWord(word);
        if ((letters && !isStepWord(part) && part != "global") || (digits && !ofStep))
            prefix.append(part).append("-");
    }
    return prefix;
}

std::optional<StepName> stepNameOf(std::string_view component)
{
    if (component.empty() || component.front() == '.' || hasWord(component, UnfinishedWords))
        return std::nullopt;
    const std::string lower = toLower(component);
    std::optional<StepName> found;
    for (std::size_t at = 0; at < lower.size();) {
        const std::size_t word = at;
        while (at < lower.size() && isLetter(lower[at]))
            ++at;
        if (at == word) {
            ++at;
            continue;
        }
        const std::size_t wordEnd = at;
        const std::size_t digits =
            at + (at < lower.size() && std::string_view("-_=").find(lower[at]) != std::string_view::npos ? 1 : 0);
        std::size_t end = digits;
        while (end < lower.size() && isDigit(lower[end]))
            ++end;
        if (end == digits || !isStepWord(std::string_view(lower).substr(word, wordEnd - word)))
            continue;
        at = end;
        if (end < lower.size() && isLetter(lower[end])) // "step10k": of another step word at most
            continue;
        const std::optional<std::int64_t> step = parseNumber(std::string_view(lower).substr(digits, end - digits));
        if (!step)
            continue;
        std::string pattern = prefixOf(std::string_view(lower).substr(0, word)) + '#';
        for (const char c : std::string_view(lower).substr(end)) {
            if (!isDigit(c))
                pattern += c;
            else if (pattern.back() != '#')
                pattern += '#';
        }
        found = StepName { *step, std::move(pattern) };
    }
    return found;
}

std::vector<std::string_view> componentsOf(std::string_view path)
{
    std::vector<std::string_view> components;
    while (!path.empty()) {
        const std::size_t slash = std::min(path.find('/'), path.size());
        components.push_back(path.substr(0, slash));
        path.remove_prefix(std::min(slash + 1, path.size()));
    }
    return components;
}

/// How well a place inside a step fits for the model that is trained. Less is better.
enum class Place : std::uint8_t { StepItself, Policy, Unknown, OtherModel };

Place placeOf(const std::vector<std::string_view>& below)
{
    Place place = below.empty() ? Place::StepItself : Place::Unknown;
    for (const std::string_view component : below) {
        if (hasWord(component, OtherModels))
            return Place::OtherModel;
        if (hasWord(component, Policies))
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

std::map<std::string, SameShape> byShape(const std::vector<std::string_view>& folders)
{
    std::map<std::string, SameShape> shapes;
    for (const std::string_view path : folders) {
        Candidate candidate { path, componentsOf(path), {} };
        if (std::any_of(candidate.components.begin(), candidate.components.end(),
                        [](std::string_view component) { return component.starts_with('.'); }))
            continue;
        std::string shape;
        for (const std::string_view component : candidate.components) {
            candidate.names.push_back(stepNameOf(component));
            shape.append(candidate.names.back() ? candidate.names.back()->pattern : component).append("/");
        }
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
    bool forLoaders = false; ///< its name says that other programs load it
    std::vector<CheckpointFolder> steps;

    auto rank() const
    {
        return std::tuple(place, !forLoaders, -static_cast<std::ptrdiff_t>(steps.size()), pattern.size(),
                          std::count(below.begin(), below.end(), '/'), pattern, below);
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

std::vector<Family> familiesOf(const std::vector<std::string_view>& folders)
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
            const Place place = hasWord(candidate.components[*at], OtherModels) ? Place::OtherModel : placeOf(below);
            if (place == Place::OtherModel || below.size() > MostBelowStep)
                continue;
            const StepName& name = *candidate.names[*at];
            Family family { joined(candidate, 0, *at, repeats),
                            name.pattern,
                            joined(candidate, *at + 1, parts, repeats),
                            place,
                            false,
                            {} };
            family.forLoaders = std::any_of(below.begin(), below.end(),
                                            [](std::string_view part) { return hasWord(part, ForLoaders); });
            const std::string key = fmt::format("{}/{}/{}", family.above, family.pattern, family.below);
            families.try_emplace(key, std::move(family))
                .first->second.steps.push_back({ name.step, std::string(candidate.path) });
        }
    }
    std::vector<Family> out;
    for (auto& [key, family] : families)
        out.push_back(std::move(family));
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
        if (other.above == read.above && (isPlace || isName))
            return besideRead(read.steps.back().folder, other.steps.back().folder, read.steps.back().step);
    }
    return std::nullopt;
}

/// A policy in a source without steps.
CheckpointFolders policyOf(const std::vector<std::string_view>& folders)
{
    std::vector<std::pair<bool, std::string_view>> policies;
    for (const std::string_view folder : folders) {
        const std::vector<std::string_view> components = componentsOf(folder);
        const bool isHidden = std::any_of(components.begin(), components.end(),
                                          [](std::string_view component) { return component.starts_with('.'); });
        if (!isHidden && components.size() <= MostBelowStep && placeOf(components) == Place::Policy)
            policies.emplace_back(!std::any_of(components.begin(), components.end(),
                                               [](std::string_view part) { return hasWord(part, ForLoaders); }),
                                  folder);
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
    for (std::string_view folder = path; !folder.empty(); folder = splitKey(folder).folder) {
        if (stepInName(splitKey(folder).file) == step)
            return folder;
    }
    return {};
}

std::string_view stepFolderOf(std::string_view path)
{
    for (std::string_view folder = path; !folder.empty(); folder = splitKey(folder).folder) {
        if (stepInName(splitKey(folder).file))
            return folder;
    }
    return {};
}

CheckpointFolders chooseCheckpoints(const std::vector<std::string_view>& folders)
{
    CheckpointFolders out;
    const bool hasRoot = std::find(folders.begin(), folders.end(), std::string_view()) != folders.end();
    std::vector<Family> families = familiesOf(folders);
    for (Family& family : families)
        std::stable_sort(family.steps.begin(), family.steps.end(),
                         [](const CheckpointFolder& a, const CheckpointFolder& b) { return a.step < b.step; });
    const auto best = std::min_element(families.begin(), families.end(), [](const Family& a, const Family& b) {
        return a.above != b.above ? isBetterRoot(a.above, b.above) : a.rank() < b.rank();
    });
    if (hasRoot)
        out.steps.push_back({});
    if (best != families.end() && (!hasRoot || best->above.empty())) {
        out.beside = besideFamily(*best, families);
        out.steps.insert(out.steps.end(), best->steps.begin(), best->steps.end());
    } else if (!hasRoot && best == families.end()) {
        return policyOf(folders);
    }
    return out;
}

} // namespace deltascope
