#include "view/make_views.h"

#include <string_view>
#include <unordered_map>

namespace deltascope::app {

namespace {

/// Says of objects which version they belong to, and what their loss would cost.
class Owners {
public:
    explicit Owners(const Run& run)
        : m_lost(Planner(run).versionsLostByObject())
    {
        for (const Version& version : run.versions) {
            for (std::size_t form = 0; form < version.forms(); ++form)
                add(version, version.objectsOf(form), version.kindOf(form));
        }
    }

    void describe(ListingEntryView& entry) const
    {
        const auto found = m_owners.find(entry.object.key);
        if (found == m_owners.end())
            return;
        const auto& [version, kind] = found->second;
        entry.step = version->step();
        entry.kind = word(kind);
        if (!version->obstacle)
            entry.neededBy = m_lost.at(entry.object.key);
    }

private:
    struct Owner {
        const Version* version;
        VersionKind kind;
    };

    void add(const Version& version, const VersionObjects& objects, VersionKind kind)
    {
        for (const ObjectInfo& object : objects.objects)
            m_owners[object.key] = { &version, kind };
    }

    std::map<std::string, std::uint64_t> m_lost;
    std::unordered_map<std::string_view, Owner> m_owners;
};

}

ListingView makeListingView(const std::string& source, const std::vector<ObjectInfo>& listing, const Run* run)
{
    ListingView view;
    view.source = source;
    for (const ObjectInfo& object : listing)
        view.objects.push_back({ ObjectView { object.key, object.sizeBytes, object.modifiedUs }, {}, {}, {} });
    if (!run)
        return view;
    view.layout = run->layout->word();
    const Owners owners(*run);
    for (ListingEntryView& entry : view.objects)
        owners.describe(entry);
    return view;
}

} // namespace deltascope::app
