#include "lineage/version_ids.h"

#include "format/common/counted_name.h"
#include "format/common/object_names.h"
#include "format/common/quote_name.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <set>

namespace deltascope {

namespace {

std::string_view folderOf(const IndexedObjects& version) { return splitKey(version.objects.name).file; }

/// An id that the version itself names; empty: none, as in a complete version.
std::string_view idOf(const IndexedObjects& version)
{
    return version.summary ? std::string_view(version.summary->id) : std::string_view();
}

std::string_view baseIdOf(const IndexedObjects& version)
{
    return version.summary ? std::string_view(version.summary->baseId) : std::string_view();
}

void refuse(IndexedObjects& version, std::string text)
{
    version.summary.reset();
    version.failure = Error { Code::Malformed, std::move(text), version.objects.name, version.objects.step, {} };
}

/// The one word in front of the numbers of all folders; nothing if some have none, or another one.
std::optional<std::string_view> wordOfFolders(const std::vector<IndexedObjects>& versions)
{
    std::optional<std::string_view> word;
    for (const IndexedObjects& version : versions) {
        const std::optional<CountedName> name = countedName(folderOf(version));
        if (!name || (word && *word != name->word))
            return std::nullopt;
        word = name->word;
    }
    return word;
}

/// Whether the ids are numbers behind the same word as those of the folders, as "v12" is.
bool idsCount(const std::vector<IndexedObjects>& versions, std::string_view word)
{
    return std::all_of(versions.begin(), versions.end(), [&](const IndexedObjects& version) {
        const std::string_view id = idOf(version);
        const std::optional<CountedName> name = countedName(id);
        return id.empty() || (name && name->word == word);
    });
}

/// Ids that count say all: what they name has to be where they say.
void linkByCount(std::vector<IndexedObjects>& versions, std::string_view word)
{
    for (IndexedObjects& version : versions) {
        if (idOf(version).empty())
            continue;
        const std::int64_t step = version.objects.step;
        const std::optional<CountedName> base = countedName(baseIdOf(version));
        if (countedName(idOf(version))->number != step) {
            version.failure =
                misplaced(fmt::format("version {}", quoteName(version.summary->id)), step, version.objects.name);
            version.summary.reset();
        } else if (!baseIdOf(version).empty() && (!base || base->word != word)) {
            version.summary->baseById = BaseById::Missing;
        } else if (base && base->number >= step) {
            refuse(version, fmt::format("builds on version {}, which is not older than itself", base->number));
        } else if (base) {
            version.summary->declaredBase = base->number;
        }
    }
}

/// Links versions whose ids say nothing of their order.
class IdGraph {
public:
    explicit IdGraph(std::vector<IndexedObjects>& versions, bool isNumbered)
        : m_versions(versions)
        , m_isNumbered(isNumbered)
        , m_base(versions.size())
    {
        for (std::size_t i = 1; i < m_versions.size(); ++i)
            m_stride = std::min(m_stride, m_versions[i].objects.step - m_versions[i - 1].objects.step);
        refuseTwins();
        for (std::size_t i = 0; i < m_versions.size(); ++i) {
            if (!idOf(m_versions[i]).empty())
                m_byId.emplace(idOf(m_versions[i]), i);
        }
        for (std::size_t i = 0; i < m_versions.size(); ++i) { // a complete version may be known by its folder's name
            if (idOf(m_versions[i]).empty())
                m_byId.emplace(folderOf(m_versions[i]), i);
        }
        for (std::size_t i = 0; i < m_versions.size(); ++i) {
            if (!baseIdOf(m_versions[i]).empty())
                m_base[i] = baseOf(i);
        }
        refuseCircles();
    }

    /// Whether the numbers of the folders ascend along the links.
    bool ascends() const
    {
        for (std::size_t i = 0; i < m_versions.size(); ++i) {
            if (m_base[i] && m_versions[*m_base[i]].objects.step >= m_versions[i].objects.step)
                return false;
        }
        return true;
    }

    /// Each version behind what it builds on; chains that do not build on each other follow by time.
    std::vector<std::size_t> order() const
    {
        std::vector<std::vector<std::size_t>> behind(m_versions.size());
        std::vector<std::size_t> next;
        for (std::size_t i = 0; i < m_versions.size(); ++i)
            (m_base[i] ? behind[*m_base[i]] : next).push_back(i);
        const auto latestFirst = [&](std::vector<std::size_t>& some) {
            std::sort(some.begin(), some.end(), [&](std::size_t a, std::size_t b) { return isBefore(b, a); });
        };
        latestFirst(next);
        std::vector<std::size_t> order;
        while (!next.empty()) {
            const std::size_t at = next.back();
            next.pop_back();
            order.push_back(at);
            latestFirst(behind[at]);
            next.insert(next.end(), behind[at].begin(), behind[at].end());
        }
        return order;
    }

    /// Says it in the summaries, by the steps that the versions have now.
    void declare(const std::vector<std::size_t>& order)
    {
        std::string_view outside; // the id that precedes all
        for (const std::size_t i : order) {
            IndexedObjects& version = m_versions[i];
            if (baseIdOf(version).empty())
                continue;
            if (m_base[i]) {
                IndexedObjects& base = m_versions[*m_base[i]];
                version.summary->declaredBase = base.objects.step;
                if (base.summary && base.summary->id.empty())
                    base.summary->id = version.summary->baseId;
                continue;
            }
            if (i == order.front())
                outside = baseIdOf(version);
            version.summary->declaredBase = m_versions[order.front()].objects.step - 1;
            version.summary->baseById = baseIdOf(version) == outside ? BaseById::Outside : BaseById::Missing;
        }
    }

private:
    void refuseTwins()
    {
        std::map<std::string, std::string> owners;
        for (IndexedObjects& version : m_versions) {
            const std::string id(idOf(version));
            if (id.empty())
                continue;
            const auto [owner, isNew] = owners.emplace(id, version.objects.name);
            if (!isNew)
                refuse(version,
                       fmt::format("calls itself {}, as {} does: one of them is in the place of another version",
                                   quoteName(id), owner->second));
        }
    }

    /// Those that no order can bring behind what they build on.
    void refuseCircles()
    {
        std::vector<std::size_t> way(m_versions.size(), 0); // number of the walk that came by; 0: none
        for (std::size_t i = 0; i < m_versions.size(); ++i) {
            std::optional<std::size_t> at = i;
            while (at && way[*at] == 0) {
                way[*at] = i + 1;
                at = m_base[*at];
            }
            if (!at || way[*at] != i + 1)
                continue;
            while (m_base[*at]) {
                refuse(m_versions[*at], "builds on itself by way of other versions: their links go in a circle");
                at = *std::exchange(m_base[*at], std::nullopt);
            }
        }
    }

    std::optional<std::size_t> baseOf(std::size_t at) const
    {
        if (const auto found = m_byId.find(baseIdOf(m_versions[at])); found != m_byId.end() && found->second != at)
            return found->second;
        // What does not name itself is what the next one builds on.
        const bool follows = m_isNumbered && at > 0 && idOf(m_versions[at - 1]).empty()
            && m_versions[at].objects.step - m_versions[at - 1].objects.step == m_stride;
        return follows ? std::optional(at - 1) : std::nullopt;
    }

    bool isBefore(std::size_t a, std::size_t b) const
    {
        const VersionObjects& one = m_versions[a].objects;
        const VersionObjects& other = m_versions[b].objects;
        return std::pair(one.publishedUs(), std::string_view(one.name))
            < std::pair(other.publishedUs(), std::string_view(other.name));
    }

    std::vector<IndexedObjects>& m_versions;
    bool m_isNumbered;
    std::map<std::string, std::size_t, std::less<>> m_byId;
    std::vector<std::optional<std::size_t>> m_base;
    std::int64_t m_stride = INT64_MAX; ///< the least distance of two neighbors: what their publisher counts by
};

void setStep(IndexedObjects& version, std::int64_t step)
{
    version.objects.step = step;
    if (version.failure)
        version.failure->step = step;
    for (Error& note : version.objects.notes)
        note.step = step;
    if (!version.summary)
        return;
    for (Error& note : version.summary->notes)
        note.step = step;
}

std::string keyOfId(std::string_view id) { return fmt::format("id {}", id); }
std::string keyOfName(const IndexedObjects& version) { return fmt::format("at {}", version.objects.name); }

/// Where its headers cannot be read, or it gets its id only from what builds on it, its name has to tell.
std::optional<std::int64_t> shownNumber(const ShownNumbers& shown, const IndexedObjects& version)
{
    const auto at = shown.find(idOf(version).empty() ? keyOfName(version) : keyOfId(idOf(version)));
    return at == shown.end() ? std::nullopt : std::optional(at->second);
}

/// Whether a version was shown under another number than that of its folder.
bool wereNumberedOtherwise(const ShownNumbers& shown, const std::vector<IndexedObjects>& versions)
{
    return std::any_of(versions.begin(), versions.end(), [&](const IndexedObjects& version) {
        return shownNumber(shown, version).value_or(version.objects.step) != version.objects.step;
    });
}

/// Places in the order of the links. A version that was shown keeps its number; a new one gets the next free one.
void numberByPlace(std::vector<IndexedObjects>& versions, const std::vector<std::size_t>& order,
                   const ShownNumbers& shown)
{
    std::set<std::int64_t> taken; // also by those that are gone
    for (const auto& [version, number] : shown)
        taken.insert(number);
    std::int64_t before = 0;
    for (const std::size_t i : order) {
        std::optional<std::int64_t> number = shownNumber(shown, versions[i]);
        if (!number) {
            number = taken.contains(before + 1) ? *taken.rbegin() + 1 : before + 1;
            taken.insert(*number);
        }
        setStep(versions[i], *number);
        before = *number;
    }
}

/// Links all versions, and leaves them in any order.
void linkAll(std::vector<IndexedObjects>& versions, const ShownNumbers& shown)
{
    const std::optional<std::string_view> word = wordOfFolders(versions);
    const bool isNumbered = word && !wereNumberedOtherwise(shown, versions);
    if (isNumbered && idsCount(versions, *word))
        return linkByCount(versions, *word);
    IdGraph graph(versions, word.has_value());
    std::vector<std::size_t> order(versions.size());
    std::iota(order.begin(), order.end(), std::size_t { 0 });
    if (!isNumbered || !graph.ascends()) {
        order = graph.order();
        numberByPlace(versions, order, shown);
    }
    graph.declare(order);
}

} // namespace

void resolveIds(std::vector<IndexedObjects>& versions, ShownNumbers& shown)
{
    linkAll(versions, shown);
    for (const IndexedObjects& version : versions) {
        if (!version.summary)
            continue;
        shown[keyOfName(version)] = version.objects.step;
        if (!idOf(version).empty())
            shown[keyOfId(idOf(version))] = version.objects.step;
    }
    std::stable_sort(versions.begin(), versions.end(),
                     [](const IndexedObjects& a, const IndexedObjects& b) { return a.objects.step < b.objects.step; });
}

} // namespace deltascope
