#include "mirror_kinship.h"

#include "deltascope/engine/plan.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace deltascope {

namespace {

constexpr std::uint64_t SampleBytes = 64 * 1024;
/// Of another run nearly all bytes are other ones; one in so many is rot.
constexpr std::uint64_t RotShare = 100;

const ObjectInfo* largestFile(const VersionObjects& version)
{
    const ObjectInfo* largest = nullptr;
    for (const ObjectInfo& object : version.objects) {
        if (object.oddity.empty() && (!largest || object.sizeBytes > largest->sizeBytes))
            largest = &object;
    }
    return largest && largest->sizeBytes > 0 ? largest : nullptr;
}

/// A version that both sides have under one name.
struct Pair {
    std::int64_t step = 0;
    const ObjectInfo* here = nullptr; ///< its largest object
    const ObjectInfo* there = nullptr; ///< the same one in the mirror
};

std::vector<Pair> pairsOf(const std::vector<VersionObjects>& versions, const std::vector<VersionObjects>& held)
{
    std::vector<Pair> pairs;
    for (const VersionObjects& version : versions) {
        const ObjectInfo* const here = version.mirror.empty() ? largestFile(version) : nullptr;
        const auto same = std::find_if(held.begin(), held.end(),
                                       [&](const VersionObjects& other) { return other.name == version.name; });
        if (!here || same == held.end())
            continue;
        const auto there = std::find_if(same->objects.begin(), same->objects.end(), [&](const ObjectInfo& object) {
            return object.key == here->key && object.oddity.empty() && object.sizeBytes > 0;
        });
        if (there != same->objects.end())
            pairs.push_back(Pair { version.step, here, &*there });
    }
    return pairs;
}

class Kinship {
public:
    Kinship(const ObjectStore& source, const ObjectStore& mirror, TaskContext& task)
        : m_source(source)
        , m_mirror(mirror)
        , m_task(task)
    {
    }

    /// Whether a version has other bytes in the mirror. An object that cannot be read tells nothing.
    Result<bool> isOther(const Pair& pair)
    {
        Result<bool> other = compare(pair);
        if (!other && speaksOfAnObject(other.error().code))
            return false;
        return other;
    }

private:
    Result<bool> compare(const Pair& pair)
    {
        const std::uint64_t common = std::min(pair.here->sizeBytes, pair.there->sizeBytes);
        const std::uint64_t length = std::min(SampleBytes, common);
        std::vector<std::uint64_t> begins { 0 };
        if (pair.here->sizeBytes
            == pair.there->sizeBytes) // else one of them is cut, and the headers are all that counts
            begins.insert(begins.end(), { (common - length) / 2, common - length });
        std::uint64_t different = 0;
        for (const std::uint64_t begin : begins) {
            DS_CHECK(m_task.checkpoint());
            std::vector<std::byte> here(length);
            std::vector<std::byte> there(length);
            DS_CHECK(m_source.read(*pair.here, begin, here, m_task));
            DS_CHECK(m_mirror.read(*pair.there, begin, there, m_task));
            for (std::size_t i = 0; i < length; ++i)
                different += here[i] != there[i] ? 1 : 0;
        }
        return different * RotShare > length * begins.size();
    }

    const ObjectStore& m_source;
    const ObjectStore& m_mirror;
    TaskContext& m_task;
};

}

Result<std::optional<Error>> leaveOutOtherRun(const ObjectStore& source, const std::vector<VersionObjects>& versions,
                                              const ObjectStore& mirror, std::vector<VersionObjects>& held,
                                              TaskContext& task)
{
    const std::vector<Pair> pairs = pairsOf(versions, held);
    if (pairs.empty())
        return std::optional<Error>();
    Kinship kinship(source, mirror, task);
    DS_TRY(const bool endsOtherwise, kinship.isOther(pairs.back()));
    if (!endsOtherwise)
        return std::optional<Error>();
    std::size_t equal = 0; // so many are equal in front, as far as halving finds them
    std::size_t other = pairs.size() - 1;
    while (equal < other) {
        const std::size_t middle = equal + (other - equal) / 2;
        DS_TRY(const bool differs, kinship.isOther(pairs[middle]));
        (differs ? other : equal) = differs ? middle : middle + 1;
    }
    const bool reachesFurther = held.back().step > pairs.back().step;
    if (other + 1 == pairs.size() && !reachesFurther)
        return std::optional<Error>();
    const std::int64_t first = pairs[other].step;
    const std::int64_t last = pairs.back().step;
    std::erase_if(held,
                  [&](const VersionObjects& version) { return other == 0 || version.step > pairs[other - 1].step; });
    return std::optional(Error {
        Code::Mirror,
        fmt::format(
            "the mirror is of an earlier or another run: {} other bytes there than here, and nothing of it{} is "
            "used",
            first == last ? fmt::format("step {} has", first) : fmt::format("steps {} to {} have", first, last),
            other == 0 ? std::string() : fmt::format(" behind step {}", pairs[other - 1].step)),
        mirror.uri(), first, "Name a mirror of this run, or read the mirror as a source of its own." });
}

} // namespace deltascope
