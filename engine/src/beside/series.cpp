#include "beside/series.h"

#include "deltascope/base/bytes.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <random>
#include <thread>
#include <tuple>

namespace deltascope {

namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t Digits = 8;
constexpr std::uint64_t MostNumber = 99'999'999;
constexpr std::size_t SuffixDigits = 8;
constexpr std::string_view End = ".json";
constexpr int MostTries = 16;
/// Two writers that list within this time see each other's objects, if each waits as long behind its put.
constexpr milliseconds Settles { 1'000 };

std::optional<SeriesObject> parse(const ObjectInfo& object, std::string_view folder)
{
    std::string_view name = object.key;
    if (!name.starts_with(folder))
        return std::nullopt;
    name.remove_prefix(folder.size());
    if (!name.ends_with(End))
        return std::nullopt;
    name.remove_suffix(End.size());
    const bool hasSuffix = name.size() == Digits + 1 + SuffixDigits && name[Digits] == '-';
    if (!hasSuffix && name.size() != Digits)
        return std::nullopt;
    const std::optional<std::int64_t> number = parseNumber(name.substr(0, Digits));
    const std::string_view suffix = hasSuffix ? name.substr(Digits + 1) : std::string_view();
    if (!number || *number < 1 || suffix.find_first_not_of("0123456789abcdef") != std::string_view::npos)
        return std::nullopt;
    return SeriesObject { static_cast<std::uint64_t>(*number), std::string(suffix), object };
}

tl::unexpected<Error> movedSince(const std::string& folder)
{
    return fail(Code::Exists, "somebody else has changed it since: nothing was written", folder,
                "look at what it is now, and repeat the command if that is still what you want");
}

std::uint64_t highest(const std::vector<SeriesObject>& objects)
{
    const SeriesObject* const newest = Series::newest(objects);
    return newest ? newest->number : 0;
}

std::string randomSuffix()
{
    std::random_device random;
    return fmt::format("{:08x}", random());
}

Result<void> wait(milliseconds time, TaskContext& task)
{
    constexpr milliseconds Look { 20 };
    for (const auto end = SteadyClock::now() + time; SteadyClock::now() < end;) {
        DS_CHECK(task.going());
        std::this_thread::sleep_for(Look);
    }
    return {};
}

} // namespace

std::vector<SeriesObject> Series::in(const std::vector<ObjectInfo>& listing, std::string_view folder)
{
    std::vector<SeriesObject> objects;
    for (const ObjectInfo& object : listing) {
        if (std::optional<SeriesObject> parsed = parse(object, folder))
            objects.push_back(std::move(*parsed));
    }
    std::sort(objects.begin(), objects.end(), [](const SeriesObject& a, const SeriesObject& b) {
        return std::tie(a.number, a.suffix) < std::tie(b.number, b.suffix);
    });
    return objects;
}

const SeriesObject* Series::newest(const std::vector<SeriesObject>& objects) noexcept
{
    if (objects.empty())
        return nullptr;
    const auto first = std::find_if(objects.begin(), objects.end(),
                                    [&](const SeriesObject& object) { return object.number == objects.back().number; });
    return &*first;
}

std::string Series::keyOf(std::uint64_t number, std::string_view suffix) const
{
    return fmt::format("{}{:08}{}{}{}", m_folder, number, suffix.empty() ? "" : "-", suffix, End);
}

Result<std::vector<SeriesObject>> Series::list(TaskContext& task) const
{
    DS_TRY(const std::vector<ObjectInfo> listing, listAll(m_store, m_folder, task));
    return in(listing, m_folder);
}

Result<void> Series::put(const std::string& key, const std::string& text, TaskContext& task)
{
    const MemoryPayload bytes(asBytes(text));
    // A key with a suffix is nobody else's: that such a store cannot put under a condition does not matter.
    const PutMode mode = m_store.traits().conditionalPut ? PutMode::IfAbsent : PutMode::Replace;
    DS_TRY([[maybe_unused]] const ObjectInfo object, m_store.put(key, bytes, mode, task));
    return {};
}

Result<std::uint64_t> Series::append(const Text& text, TaskContext& task)
{
    DS_TRY(const std::vector<SeriesObject> objects, list(task));
    std::uint64_t number = highest(objects) + 1;
    for (int tried = 1;; ++tried, ++number) {
        if (number > MostNumber)
            return fail(Code::NoSpace, "all numbers of this folder are used", m_folder);
        const std::string suffix = m_store.traits().conditionalPut ? std::string() : randomSuffix();
        Result<void> done = put(keyOf(number, suffix), text(number), task);
        if (done)
            return number;
        if (done.error().code != Code::Exists || tried == MostTries)
            return fail(std::move(done.error()));
    }
}

Result<std::uint64_t> Series::putBehind(std::uint64_t seen, const Text& text, TaskContext& task)
{
    if (seen >= MostNumber)
        return fail(Code::NoSpace, "all numbers of this folder are used", m_folder);
    if (!m_store.traits().conditionalPut) {
        DS_CHECK(putAndCompare(seen + 1, text, task));
        return seen + 1;
    }
    DS_TRY(const std::vector<SeriesObject> objects, list(task));
    if (highest(objects) != seen)
        return movedSince(m_folder);
    const Result<void> done = put(keyOf(seen + 1, {}), text(seen + 1), task);
    if (!done && done.error().code == Code::Exists)
        return movedSince(m_folder);
    DS_CHECK(done);
    return seen + 1;
}

/// Of objects with one number the one with the smallest suffix counts. A writer that saw the number free lists again
/// once every other one that saw it free has put its own, and knows then whether its own counts.
Result<void> Series::putAndCompare(std::uint64_t number, const Text& text, TaskContext& task)
{
    const auto listed = SteadyClock::now();
    DS_TRY(const std::vector<SeriesObject> before, list(task));
    if (highest(before) + 1 != number)
        return movedSince(m_folder);
    const std::string suffix = randomSuffix();
    const std::string key = keyOf(number, suffix);
    DS_CHECK(put(key, text(number), task));
    const bool wasSlow = SteadyClock::now() - listed > Settles;
    DS_CHECK(wait(Settles, task));
    DS_TRY(const std::vector<SeriesObject> after, list(task));
    const auto own =
        std::find_if(after.begin(), after.end(), [&](const SeriesObject& object) { return object.object.key == key; });
    if (own == after.end())
        return fail(Code::Transient, "the store does not list what was just put", key,
                    "look at what it is now: the change may show later");
    const auto rivals =
        std::count_if(after.begin(), after.end(), [&](const SeriesObject& object) { return object.number >= number; });
    const bool counts = Series::newest(after)->object.key == key;
    if (counts && (rivals == 1 || !wasSlow)) // a slow writer may have come behind the last look of a faster one
        return {};
    static_cast<void>(removeOne(m_store, own->object, task)); // if it stays, it does not count, or says so
    return movedSince(m_folder);
}

} // namespace deltascope
