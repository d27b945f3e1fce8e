#include "view/make_views.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

namespace deltascope::app {

namespace {

/// The forms that lie in mirrors and were compared with nothing: names and sizes alone say that they are the same.
std::vector<PlanLink> uncomparedCopies(const Run& run)
{
    std::vector<PlanLink> copies;
    for (std::size_t at = 0; at < run.versions.size(); ++at) {
        const Version& version = run.versions[at];
        for (std::size_t form = 0; form < version.forms(); ++form) {
            const FormFacts* const facts = form > 0 ? version.factsOf(form) : nullptr;
            const bool isCompared = facts && (facts->vouchedFor || facts->differs == 0U);
            if (!version.objectsOf(form).mirror.empty() && !isCompared)
                copies.push_back({ at, form });
        }
    }
    return copies;
}

/// How many steps the loss of an object would cost. A copy that nobody has read makes up for nothing.
std::map<std::string, std::uint64_t> lossesOf(const Run& run)
{
    std::map<std::string, std::uint64_t> losses = Planner(run).versionsLostByObject();
    const std::vector<PlanLink> copies = uncomparedCopies(run);
    if (copies.empty())
        return losses;
    for (const auto& [key, lost] : Planner(run, { .without = copies }).versionsLostByObject())
        losses[key] = std::max(losses[key], lost);
    return losses;
}

/// Says of objects which version they belong to, and what their loss would cost.
class Owners {
public:
    explicit Owners(const Run& run)
        : m_lost(lossesOf(run))
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
