#include "format/common/shard_names.h"

#include "format/common/object_names.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

namespace deltascope {

namespace {

constexpr std::string_view End = ".safetensors";
constexpr std::string_view Of = "-of-";
/// Larger counts are no shards, and missing ones are listed one by one.
constexpr std::uint64_t MostShards = 100'000;

struct ShardName {
    std::string_view stem; ///< folder and name in front of the numbers
    std::uint64_t number = 0;
    std::uint64_t count = 0;
    std::string_view digits; ///< of the number
    std::string_view end; ///< "-of-00003"
};

std::optional<ShardName> parseShardName(std::string_view key)
{
    if (!key.ends_with(End))
        return std::nullopt;
    key.remove_suffix(End.size());
    const std::size_t of = key.rfind(Of);
    if (of == std::string_view::npos)
        return std::nullopt;
    const std::optional<std::int64_t> count = parseNumber(key.substr(of + Of.size()));
    const std::size_t dash = key.rfind('-', of - 1);
    if (!count || of == 0 || dash == std::string_view::npos)
        return std::nullopt;
    const std::optional<std::int64_t> number = parseNumber(key.substr(dash + 1, of - dash - 1));
    if (!number || *count < 1 || *count > static_cast<std::int64_t>(MostShards) || *number > *count)
        return std::nullopt;
    return ShardName { key.substr(0, dash), static_cast<std::uint64_t>(*number), static_cast<std::uint64_t>(*count),
                       key.substr(dash + 1, of - dash - 1), key.substr(of) };
}

/// The numbers that are missing from 0…count-1 or 1…count, whichever fits better.
std::vector<std::uint64_t> missingOf(const std::set<std::uint64_t>& numbers, std::uint64_t count)
{
    const std::uint64_t first = numbers.contains(0) ? 0 : 1;
    std::vector<std::uint64_t> missing;
    for (std::uint64_t number = first; number < first + count; ++number) {
        if (!numbers.contains(number))
            missing.push_back(number);
    }
    return missing;
}

/// "2, 5 to 7"
std::string rangesOf(const std::vector<std::uint64_t>& numbers)
{
    std::string text;
    for (std::size_t first = 0; first < numbers.size();) {
        std::size_t last = first;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1)
            ++last;
        text += fmt::format("{}{}", text.empty() ? "" : ", ", numbers[first]);
        if (last > first)
            text += fmt::format("{}{}", last == first + 1 ? ", " : " to ", numbers[last]);
        first = last + 1;
    }
    return text;
}

/// Shards that were saved over those of another save, up to a stop, lie apart in time; those of one save follow each
/// other, however slowly. `times`: of the shards of one count, in microseconds.
std::optional<Error> pauseBetween(std::vector<std::int64_t> times, std::string_view stem, std::int64_t step)
{
    constexpr std::int64_t Hour = 3'600'000'000;
    constexpr std::int64_t Longer = 10; ///< times the usual interval
    std::sort(times.begin(), times.end());
    std::vector<std::int64_t> intervals;
    for (std::size_t i = 1; i < times.size(); ++i)
        intervals.push_back(times[i] - times[i - 1]);
    if (intervals.empty())
        return std::nullopt;
    const auto longest = std::max_element(intervals.begin(), intervals.end());
    const std::int64_t pause = *longest;
    const auto earlier = longest - intervals.begin() + 1;
    intervals.erase(longest);
    std::nth_element(intervals.begin(), intervals.begin() + static_cast<std::ptrdiff_t>(intervals.size() / 2),
                     intervals.end());
    const std::int64_t usual = intervals.empty() ? 0 : intervals[intervals.size() / 2];
    if (pause < Hour || pause / Longer < usual)
        return std::nullopt;
    return Error { Code::Unproven,
                   fmt::format("{} of its {} shards were written {:.1f} hours before the others: they may be of two "
                               "saves, one over the other",
                               earlier, times.size(), static_cast<double>(pause) / static_cast<double>(Hour)),
                   std::string(stem), step,
                   "Compare the shards with those of where they were saved; a download that went on later looks the "
                   "same." };
}

}

std::optional<CountedShards> countShards(const VersionObjects& version, std::string_view folder)
{
    std::optional<ShardName> first;
    std::set<std::uint64_t> numbers;
    CountedShards out;
    for (const ObjectInfo& object : version.objects) {
        const std::optional<ShardName> name = parseShardName(object.key);
        if (!name || splitKey(object.key).folder != folder)
            continue;
        if (first && (name->stem != first->stem || name->count != first->count))
            return std::nullopt;
        first = first ? first : name;
        numbers.insert(name->number);
        out.files.emplace_back(splitKey(object.key).file);
    }
    if (!first)
        return std::nullopt;
    out.count = first->count;
    for (const std::uint64_t number : missingOf(numbers, first->count))
        out.missing.push_back(
            fmt::format("{}-{:0{}}{}{}", splitKey(first->stem).file, number, first->digits.size(), first->end, End));
    return out;
}

std::vector<Error> shardProblems(const VersionObjects& version)
{
    std::map<std::string_view, std::map<std::uint64_t, std::set<std::uint64_t>>> saves; ///< stem, count -> numbers
    std::map<std::string_view, std::vector<std::int64_t>> times; ///< stem -> of its shards
    for (const ObjectInfo& object : version.objects) {
        if (const std::optional<ShardName> name = parseShardName(object.key)) {
            saves[name->stem][name->count].insert(name->number);
            times[name->stem].push_back(object.modifiedUs);
        }
    }
    std::vector<Error> problems;
    for (const auto& [stem, byCount] : saves) {
        std::vector<std::string> found;
        for (const auto& [count, numbers] : byCount)
            found.push_back(fmt::format("{} of {}", numbers.size(), count));
        if (found.size() > 1)
            problems.push_back(
                Error { Code::Stray,
                        fmt::format("the folder holds shards of {} saves ({})", found.size(), fmt::join(found, ", ")),
                        std::string(stem),
                        version.step,
                        {} });
        const bool anyComplete = std::any_of(byCount.begin(), byCount.end(), [](const auto& save) {
            return missingOf(save.second, save.first).empty();
        });
        if (anyComplete && found.size() == 1) {
            if (std::optional<Error> pause = pauseBetween(times[stem], stem, version.step))
                problems.push_back(std::move(*pause));
        }
        if (anyComplete)
            continue;
        const auto& [count, numbers] = *byCount.begin();
        const std::vector<std::uint64_t> missing = missingOf(numbers, count);
        problems.push_back(
            Error { Code::MissingTensor,
                    fmt::format("the names of its shards say that there are {}; {} of them {} not here "
                                "(number {})",
                                count, missing.size(), missing.size() == 1 ? "is" : "are", rangesOf(missing)),
                    std::string(stem),
                    version.step,
                    {} });
    }
    return problems;
}

} // namespace deltascope
