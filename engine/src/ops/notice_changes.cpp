#include "notice_changes.h"

#include "catalog/sights.h"
#include "recorded_bytes.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <string_view>

namespace deltascope {

namespace {

/// Fewer are soon gone by a usual retention.
constexpr std::size_t LeastKnown = 4;

using Sights = std::vector<Records::Sight>;

/// Two identities under which one object was seen.
struct TwoIdentities {
    std::string_view now;
    std::string_view before;

    /// As an event names them.
    std::string text() const { return fmt::format("(identity {} was {})", now, before); }
};

/// The identity that an event says an object had, as TwoIdentities names it; empty: it names none.
std::string identityBefore(const Error& event)
{
    constexpr std::string_view Was = " was ";
    const std::size_t begin = event.text.find(Was, std::min(event.text.find("(identity "), event.text.size()));
    if (begin == std::string::npos)
        return {};
    const std::size_t end = event.text.find(')', begin);
    return event.text.substr(begin + Was.size(), end == std::string::npos ? end : end - begin - Was.size());
}

/// What the records say of the bytes under both.
RecordedBytes bytesUnder(const Sights& sights, const TwoIdentities& identities, std::optional<std::uint64_t> sizeNow)
{
    const Records::Sight* const before = sightUnder(sights, identities.before);
    const Records::Sight* const now = sightUnder(sights, identities.now);
    if (before && (now || sizeNow) && before->sizeBytes != (now ? now->sizeBytes : *sizeNow))
        return RecordedBytes::Other;
    if (!before || !now)
        return RecordedBytes::Unknown;
    return now->hasDigest() && now->xxh3 == before->xxh3 ? RecordedBytes::Same : RecordedBytes::Other;
}

/// Of a step whose object has another identity than at the last look. Nothing: it has the same bytes, as a copy in its
/// place has.
std::optional<Error> eventOf(RecordedBytes bytes, std::int64_t step, std::string key, const TwoIdentities& identities)
{
    switch (bytes) {
    case RecordedBytes::Same:
        return std::nullopt;
    case RecordedBytes::Other:
        return Error { Code::Rewritten,
                       fmt::format("step {} is another object than at the last look {}: it was overwritten, as a "
                                   "trainer that starts again does",
                                   step, identities.text()),
                       std::move(key), step,
                       "verify compares its bytes with those of the first sight; what was built from the old one "
                       "keeps its provenance" };
    case RecordedBytes::Unknown:
        break;
    }
    return Error { Code::Unproven,
                   fmt::format("step {} was written again since the last look, or copied {}: its bytes were not "
                               "compared yet",
                               step, identities.text()),
                   std::move(key), step, "verify compares its bytes with those of the first sight" };
}

Sights sightsOf(Records* records, const ObjectStore& store, const std::string& key)
{
    if (!records)
        return {};
    return records->sights(store.uri(), key).value_or(Sights()); // the run reports what is wrong with the records
}

std::optional<Error> eventOf(Records* records, const ObjectStore& store, const Catalog::KnownVersion& known,
                             const VersionObjects& objects)
{
    const std::string identity = objects.identity();
    if (identity == known.identity)
        return std::nullopt;
    const auto before = partsOf(known.identity);
    std::optional<Error> change;
    for (const auto& [part, now] : partsOf(identity)) {
        const auto old = before.find(part);
        if (old == before.end() || old->second == now)
            continue;
        std::string key(part);
        const TwoIdentities identities { now, old->second };
        const auto object = std::find_if(objects.objects.begin(), objects.objects.end(),
                                         [&](const ObjectInfo& other) { return other.key == key; });
        const RecordedBytes bytes =
            bytesUnder(sightsOf(records, store, key), identities,
                       object == objects.objects.end() ? std::nullopt : std::optional(object->sizeBytes));
        if (!change || bytes == RecordedBytes::Other)
            change = eventOf(bytes, objects.step, std::move(key), identities);
        if (bytes == RecordedBytes::Other)
            break;
    }
    return change;
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

/// Many steps at once are one event. `what`: happened to them.
void joinChanges(const ObjectStore& store, std::vector<Error>& events, Code code, std::string_view what)
{
    constexpr std::size_t Told = 3;
    const auto isOther = [code](const Error& event) { return event.code != code; };
    const auto first = std::stable_partition(events.begin(), events.end(), isOther);
    const auto count = static_cast<std::size_t>(events.end() - first);
    if (count <= Told)
        return;
    *first = Error { code,
                     fmt::format("{} steps from {} to {} {}", count, first->step.value_or(0),
                                 events.back().step.value_or(0), what),
                     store.uri(), first->step, first->action };
    events.erase(first + 1, events.end());
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

std::vector<Error> noticeChanges(Records* records, const ObjectStore& store, const KnownVersions& known,
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
        if (std::optional<Error> event = eventOf(records, store, before->second, version.objects))
            events.push_back(std::move(*event));
    }
    joinChanges(store, events, Code::Rewritten,
                "are other objects than at the last look: they were overwritten, as a trainer that starts again does");
    joinChanges(store, events, Code::Unproven,
                "were written again since the look before, or copied; their bytes were not compared then");
    if (known.size() < LeastKnown)
        return events;
    const auto isGone = [&](const auto& entry) { return !present.contains(entry.first); };
    const auto gone = static_cast<std::size_t>(std::count_if(known.begin(), known.end(), isGone));
    const std::string& newest = newestOf(known);
    if (gone * 2 > known.size() && !present.contains(newest))
        events.push_back(massLoss(store, gone, known.size(), newest));
    return events;
}

void settleChanges(Records& records, const ObjectStore& store, std::vector<Error>& events)
{
    const auto hasEqualBytes = [&](Error& event) {
        if ((event.code != Code::Rewritten && event.code != Code::Unproven) || !event.step)
            return false;
        const Sights sights = sightsOf(&records, store, event.where);
        for (const Records::Sight& before : sights) {
            for (const Records::Sight& now : sights) {
                const TwoIdentities identities { now.identity, before.identity };
                if (event.text.find(identities.text()) == std::string::npos)
                    continue;
                std::optional<Error> change =
                    eventOf(bytesUnder(sights, identities, std::nullopt), *event.step, event.where, identities);
                if (!change)
                    return true;
                event = std::move(*change);
                return false;
            }
        }
        return false;
    };
    std::erase_if(events, hasEqualBytes);
}

std::optional<Error> twoWriters(const ObjectStore& store, const std::vector<Error>& events)
{
    std::map<std::pair<std::int64_t, std::string>, std::set<std::string>> before; ///< identities, by step and object
    for (const Error& event : events) {
        const bool isChange = event.code == Code::Rewritten || event.code == Code::Unproven;
        if (!isChange || !event.step)
            continue;
        std::set<std::string>& overwritten = before[{ *event.step, event.where }];
        overwritten.insert(identityBefore(event));
        if (overwritten.size() < 2) // looks at one put, at its beginning and its end, name the same object before it
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
