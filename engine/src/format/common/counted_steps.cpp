#include "format/common/counted_steps.h"

#include <algorithm>
#include <cstdint>

namespace deltascope {

namespace {

constexpr std::size_t LeastSteps = 2;

/// What lies in one folder and has one pattern.
struct Neighbours {
    std::set<std::int64_t> numbers;
    bool isBare = false; ///< they are the whole names
    bool isInStep = false; ///< in a folder whose path has a step word
};

bool isYear(std::int64_t number) { return number >= 1990 && number < 2100; }

bool isDay(std::int64_t number)
{
    const std::int64_t month = number / 100 % 100;
    const std::int64_t day = number % 100;
    return isYear(number / 10'000) && month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

bool areRanks(const std::set<std::int64_t>& numbers)
{
    return *numbers.begin() == 0 && *numbers.rbegin() == static_cast<std::int64_t>(numbers.size()) - 1;
}

bool areSteps(const std::set<std::int64_t>& numbers)
{
    return numbers.size() >= LeastSteps && !areRanks(numbers) && !std::all_of(numbers.begin(), numbers.end(), isYear)
        && !std::all_of(numbers.begin(), numbers.end(), isDay);
}

}

CountedSteps::CountedSteps(const std::vector<std::string_view>& folders)
{
    std::map<std::string, Neighbours> found;
    std::set<std::string_view> mixed; // folders in which other names lie
    bool hasStepWord = false;
    for (const std::string_view path : folders) {
        bool isInStep = false;
        for (const std::string_view component : componentsOf(path)) {
            const std::string_view above = path.substr(0, static_cast<std::size_t>(component.data() - path.data()));
            const std::optional<StepName> counted = countedNameOf(component);
            if (!counted || counted->pattern != "#")
                mixed.insert(above);
            if (counted) {
                Neighbours& neighbours = found[std::string(above) + counted->pattern];
                neighbours.numbers.insert(counted->step);
                neighbours.isBare = counted->pattern == "#";
                neighbours.isInStep = neighbours.isInStep || isInStep;
            }
            isInStep = isInStep || stepNameOf(component) || isUnfinishedStepName(component);
        }
        hasStepWord = hasStepWord || isInStep;
    }
    for (const auto& [key, neighbours] : found) {
        const bool isAlone = !hasStepWord && !mixed.contains(std::string_view(key).substr(0, key.size() - 1));
        if (areSteps(neighbours.numbers) && (neighbours.isBare ? isAlone : !neighbours.isInStep))
            m_steps.insert(key);
    }
}

std::optional<StepName> CountedSteps::nameOf(std::string_view above, std::string_view component) const
{
    std::optional<StepName> counted = countedNameOf(component);
    return counted && m_steps.contains(std::string(above) + counted->pattern) ? counted : std::nullopt;
}

} // namespace deltascope
