#include "notice_changes.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <string_view>

namespace deltascope {

namespace {

/// Fewer are soon gone by a usual retention.
constexpr std::size_t LeastKnown = 4;

std::optional<Error> rewritten(const Catalog::KnownVersion& known, const VersionObjects& objects)
{
    const std::string identity = objects.identity();
    if (identity == known.identity)
        return std::nullopt;
    const auto before = partsOf(known.identity);
    for (const auto& [key, now] : partsOf(identity)) {
        const auto old = before.find(key);
        if (old != before.end() && old->second != now)
            return Error { Code::Rewritten,
                           fmt::format("step {} is another object than at the last look (identity {} was {}): it was "
                                       "overwritten, as a trainer that starts again does",
                                       objects.step, now, old->second),
                           std::string(key), objects.step,
                           "verify compares its bytes with those of the first sight; what was built from the old one "
                           "keeps its provenance" };
    }
    return std::nullopt;
}

Error massLoss(const ObjectStore& store, std::size_t gone, std::size_t known, const std::string& newest)
{
    return Error { Code::ListSuspect,
                   fmt::format("{} of {} versions that were here at the last look are gone, {} among them: the source "
                               "was emptied, a run begins again in it, or its mount is away",
                               gone, known, newest),
                   store.uri(),
                   {},
                   "Look whether the source is whole before you trust this listing. Nothing that was known of these "
                   "versions is used for what is here now." };
}

/// The last number in a name, by which versions are counted: 12 of "deltas/step_000012.safetensors".
std::int64_t numberIn(std::string_view name)
{
    const std::size_t end = name.find_last_of("0123456789") + 1; // npos + 1 is 0
    const std::size_t begin = name.substr(0, end).find_last_not_of("0123456789") + 1;
    return parseNumber(name.substr(begin, end - begin)).value_or(-1);
}

const std::string& newestOf(const KnownVersions& known)
{
    return std::max_element(known.begin(), known.end(),
                            [](const auto& a, const auto& b) { return numberIn(a.first) < numberIn(b.first); })
        ->first;
}

/// Many steps at once are one event.
void joinRewritten(const ObjectStore& store, std::vector<Error>& events)
{
    constexpr std::size_t Told = 3;
    if (events.size() <= Told)
        return;
    const std::int64_t first = events.front().step.value_or(0);
    const std::int64_t last = events.back().step.value_or(0);
    Error joined { Code::Rewritten,
                   fmt::format(
                       "{} steps from {} to {} are other objects than at the last look: they were overwritten, as "
                       "a trainer that starts again does, or copied anew",
                       events.size(), first, last),
                   store.uri(), first, events.front().action };
    events = { std::move(joined) };
}

}

std::map<std::string_view, std::string_view> partsOf(std::string_view identity)
{
    std::map<std::string_view, std::string_view> parts;
    while (!identity.empty()) {
        const std::size_t end = std::min(identity.find('\n'), identity.size());
        const std::string_view line = identity.substr(0, end);
        identity.remove_prefix(std::min(end + 1, identity.size()));
        if (const std::size_t bar = line.find('|'); bar != std::string_view::npos)
            parts.emplace(line.substr(0, bar), line.substr(bar + 1));
    }
    return parts;
}

std::vector<Error> noticeChanges(const ObjectStore& store, const KnownVersions& known,
                                 const std::vector<IndexedObjects>& now)
{
    std::vector<Error> events;
    std::set<std::string_view> present;
    for (const IndexedObjects& version : now) {
        present.insert(version.objects.name);
        for (const VersionObjects& form : version.objects.otherForms)
            present.insert(form.name);
        const auto before = known.find(version.objects.name);
        if (before == known.end())
            continue;
        if (std::optional<Error> event = rewritten(before->second, version.objects))
            events.push_back(std::move(*event));
    }
    joinRewritten(store, events);
    if (known.size() < LeastKnown)
        return events;
    const auto isGone = [&](const auto& entry) { return !present.contains(entry.first); };
    const auto gone = static_cast<std::size_t>(std::count_if(known.begin(), known.end(), isGone));
    const std::string& newest = newestOf(known);
    if (gone * 2 > known.size() && !present.contains(newest))
        events.push_back(massLoss(store, gone, known.size(), newest));
    return events;
}

std::optional<Error> twoWriters(const ObjectStore& store, const std::vector<Error>& events)
{
    std::map<std::int64_t, int> times;
    for (const Error& event : events) {
        if (event.code != Code::Rewritten || !event.step || ++times[*event.step] < 2)
            continue;
        return Error { Code::Fork,
                       fmt::format(
                           "step {} was overwritten more than once: two trainers may write to this prefix, or one "
                           "starts again and again",
                           *event.step),
                       store.uri(), event.step,
                       "give every trainer a prefix of its own; nothing here can be relied on "
                       "while both write" };
    }
    return std::nullopt;
}

Error everythingGone(const ObjectStore& store, const KnownVersions& known)
{
    return massLoss(store, known.size(), known.size(), newestOf(known));
}

} // namespace deltascope
