#include "deltascope/engine/kept_listing.h"

#include "deltascope/engine/beside_keys.h"
#include "format/common/object_names.h"

#include <algorithm>
#include <set>

namespace deltascope {

namespace {

/// What a store lists in one request costs the same as what is new in it.
constexpr std::size_t OnePage = 1'000;

/// The versions of one folder, as far as places need them.
struct FolderNames {
    std::string_view newest; ///< the name with the highest step
    bool inOrder = true; ///< names of one length that grow with their steps
};

void addBeside(std::vector<GrowthPlace>& places, const std::vector<ObjectInfo>& beside)
{
    places.push_back({ std::string(beside::Replicas), {} }); // heartbeats take the place of older ones
    std::map<std::string_view, std::string_view> lastOf; // by folder of an actor
    for (const ObjectInfo& object : beside) {
        if (object.key.starts_with(beside::Spans))
            lastOf[splitKey(object.key).folder] = object.key;
    }
    for (const auto& [folder, last] : lastOf)
        places.push_back({ std::string(folder) + '/', std::string(last) });
    // actors that begin later; those whose names sort between known ones wait for a whole listing
    places.push_back({ std::string(beside::Spans), lastOf.empty() ? "" : std::string(lastOf.rbegin()->second) });
}

}

std::vector<GrowthPlace> growthPlaces(const std::vector<VersionObjects>& versions,
                                      const std::vector<ObjectInfo>& beside)
{
    std::map<std::string_view, FolderNames> folders;
    for (const VersionObjects& version : versions) { // ascending by step
        FolderNames& folder = folders[splitKey(version.name).folder];
        const bool grows =
            folder.newest.empty() || (folder.newest.size() == version.name.size() && folder.newest < version.name);
        folder.inOrder = folder.inOrder && grows;
        folder.newest = version.name;
    }
    std::vector<GrowthPlace> places;
    for (const auto& [name, folder] : folders) {
        const std::string prefix = name.empty() ? std::string() : std::string(name) + '/';
        // objects of the newest version may still be on their way: a folder is listed again from its begin
        places.push_back({ prefix, folder.inOrder ? std::string(folder.newest) : std::string() });
    }
    if (!places.empty())
        addBeside(places, beside);
    return places;
}

KeptListing::KeptListing(std::function<std::int64_t()> nowUs, Periods periods)
    : m_nowUs(std::move(nowUs))
    , m_periods(periods)
{
}

bool KeptListing::wantsWhole(const ObjectStore& store, std::int64_t now) const
{
    const std::int64_t age = now - m_wholeUs;
    return m_wholeUs == 0 || m_suspicious || m_places.empty() || m_objects.size() <= OnePage
        || !store.traits().listsFromKey || age >= m_periods.whole.count()
        || (!m_missing.empty() && age >= m_periods.gone.count());
}

Result<std::vector<ObjectInfo>> KeptListing::look(const ObjectStore& store, bool changed, TaskContext& task,
                                                  const ListingSeen& seen)
{
    const std::int64_t now = m_nowUs();
    const bool due = m_wholeUs == 0 || m_suspicious || now - m_wholeUs >= m_periods.whole.count()
        || (!m_missing.empty() && now - m_wholeUs >= m_periods.gone.count());
    if (due || (changed && wantsWhole(store, now)))
        DS_CHECK(listWhole(store, task, seen));
    else if (changed)
        DS_CHECK(listPlaces(store, task));
    std::vector<ObjectInfo> objects;
    objects.reserve(m_objects.size());
    for (const auto& [key, object] : m_objects)
        objects.push_back(object);
    return objects;
}

Result<void> KeptListing::listWhole(const ObjectStore& store, TaskContext& task, const ListingSeen& seen)
{
    DS_TRY(std::vector<ObjectInfo> listing, listAll(store, "", task, seen));
    const std::int64_t now = m_nowUs();
    std::map<std::string, ObjectInfo, std::less<>> there;
    for (ObjectInfo& object : listing)
        there.emplace_hint(there.end(), object.key, std::move(object));
    std::map<std::string, std::int64_t, std::less<>> missing;
    for (auto& [key, object] : m_objects) {
        if (there.contains(key))
            continue;
        const auto before = m_missing.find(key);
        const std::int64_t since = before == m_missing.end() ? now : before->second;
        if (now - since >= m_periods.gone.count()) {
            const Result<ObjectInfo> asked = store.stat(key, task);
            if (!asked && asked.error().code == Code::NotFound)
                continue;
            if (!asked)
                return fail(asked.error());
            object = *asked; // the listings were wrong
            there.emplace(key, object);
            continue;
        }
        missing.emplace(key, since);
        there.emplace(key, std::move(object));
    }
    m_objects = std::move(there);
    m_missing = std::move(missing);
    m_wholeUs = now;
    m_suspicious = false;
    return {};
}

Result<void> KeptListing::listPlaces(const ObjectStore& store, TaskContext& task)
{
    std::vector<ObjectInfo> found;
    for (const GrowthPlace& place : m_places) {
        DS_TRY(std::vector<ObjectInfo> objects, listFrom(store, place.prefix, place.startAfter, task));
        std::move(objects.begin(), objects.end(), std::back_inserter(found));
    }
    for (ObjectInfo& object : found)
        m_objects.insert_or_assign(object.key, std::move(object));
    return {};
}

} // namespace deltascope
