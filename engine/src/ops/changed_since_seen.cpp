#include "catalog/object_names.h"
#include "catalog/sights.h"
#include "deltascope/base/address.h"
#include "deltascope/engine/operations.h"
#include "deltascope/engine/rewritten_parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <utility>

namespace deltascope {

namespace {

using Sight = Records::Sight;

constexpr std::string_view Action = "verify compares them";

/// Objects of one store, which are kept under its address in the records.
struct Place {
    const ObjectStore& store;
    bool isBase; ///< the external base, which has no step

    std::string prefix() const { return isBase ? "in the base checkpoint: " : ""; }
};

/// What the record says of an object that is there now. Nothing: it has the bytes that were seen first, or none were.
std::optional<Error> changeOf(const std::vector<Sight>& sights, const ObjectInfo& object, const std::string& where,
                              std::optional<std::int64_t> step)
{
    const Sight* const trusted = trustedSight(sights);
    if (!trusted)
        return std::nullopt;
    const Sight* const same = sightUnder(sights, object.identity);
    if (trusted->sizeBytes != object.sizeBytes || (same && same->xxh3 != trusted->xxh3))
        return Error { Code::Rewritten,
                       "the object was rewritten since it was first seen: what is shown of it is not what is on record",
                       where, step, "verify compares all objects of the run with the record" };
    if (same)
        return std::nullopt;
    return Error { Code::Unproven,
                   "the object was written again since it was first seen, or copied, and its bytes were not compared "
                   "with the record yet: what is shown of it is what is there now",
                   where, step, std::string(Action) };
}

/// The last sights of the objects of a source, under every name of theirs. Each source of a name is asked once.
class LastSights {
public:
    LastSights(Records& records, std::string source)
        : m_records(records)
        , m_source(std::move(source))
    {
    }

    /// Whether an object may be another one than was seen last.
    bool mayDiffer(const std::string& key, const ObjectInfo& object)
    {
        const std::vector<ObjectName> names = namesOf(m_source, key);
        return std::any_of(names.begin(), names.end(), [&](const ObjectName& name) {
            const std::map<std::string, Records::KnownObject>& known = objectsOf(name.source);
            const auto last = known.find(name.key);
            return last != known.end() && (!last->second.trusted || last->second.identity != object.identity);
        });
    }

private:
    const std::map<std::string, Records::KnownObject>& objectsOf(const std::string& source)
    {
        const auto [at, isNew] = m_objects.try_emplace(source);
        if (isNew) {
            if (Result<std::map<std::string, Records::KnownObject>> known = m_records.objects(source))
                at->second = std::move(*known);
        }
        return at->second;
    }

    Records& m_records;
    std::string m_source;
    std::map<std::string, std::map<std::string, Records::KnownObject>> m_objects;
};

auto filterOfLastSights(Records& records, const std::string& store)
{
    return [last = LastSights(records, store)](const std::string& key, const ObjectInfo& object) mutable {
        return last.mayDiffer(key, object);
    };
}

/// Replaces many changes of one kind by one: a bucket that was copied in its place is one event, and so is a trainer
/// that started again. `what`: happened to the objects.
void join(std::vector<Error>& changes, Code code, std::string_view what, const std::string& where)
{
    constexpr std::size_t MostNamed = 3;
    const auto isOfCode = [&](const Error& change) { return change.code == code; };
    const auto count = static_cast<std::size_t>(std::count_if(changes.begin(), changes.end(), isOfCode));
    if (count <= MostNamed)
        return;
    const auto first = std::find_if(changes.begin(), changes.end(), isOfCode);
    const std::string action = first->action;
    changes.erase(std::remove_if(first, changes.end(), isOfCode), changes.end());
    changes.push_back({ code, fmt::format("{} objects {}", count, what), where, std::nullopt, action });
}

void joinMany(std::vector<Error>& changes, const std::string& where)
{
    join(changes, Code::Rewritten,
         "were rewritten since they were first seen: what is shown of them is not what is on record", where);
    join(changes, Code::Unproven,
         "were written again since they were first seen, or copied, and their bytes were not compared with "
         "the record yet: what is shown is what is there now",
         where);
}

void addChanges(Records& records, const Place& place, const VersionObjects& version, std::vector<Error>& changes,
                auto& mayDiffer)
{
    if (!version.mirror.empty())
        return; // the record is of the source's own objects; reading compares the bytes
    for (const ObjectInfo& object : version.objects) {
        const std::string key(version.inSource(object.key));
        if (!mayDiffer(key, object))
            continue;
        const Result<std::vector<Sight>> sights = records.sights(place.store.uri(), key);
        if (!sights)
            continue; // the run reports what is wrong with the records
        const std::string where = place.isBase ? Address(place.store.uri()).below(key).text() : key;
        const std::optional<std::int64_t> step = place.isBase ? std::nullopt : std::optional(version.step);
        if (std::optional<Error> change = changeOf(*sights, object, where, step))
            changes.push_back(std::move(*change));
    }
}

/// Changes of all these versions of one place.
std::vector<Error> changesIn(Records& records, const Place& place, const std::vector<const VersionObjects*>& versions,
                             auto& mayDiffer)
{
    std::vector<Error> changes;
    for (const VersionObjects* version : versions)
        addChanges(records, place, *version, changes, mayDiffer);
    joinMany(changes, place.store.uri());
    for (Error& change : changes)
        change.text = place.prefix() + change.text;
    return changes;
}

std::vector<Error> changesIn(Records& records, const Run& run, const std::vector<const VersionObjects*>& versions,
                             bool withBase, const auto& filterOf)
{
    std::vector<Error> changes;
    const auto add = [&](const Place& place, const std::vector<const VersionObjects*>& of) {
        auto mayDiffer = filterOf(place.store.uri());
        std::vector<Error> more = changesIn(records, place, of, mayDiffer);
        std::move(more.begin(), more.end(), std::back_inserter(changes));
    };
    if (withBase && run.base)
        add({ *run.base->store, true }, { &run.base->objects });
    add({ *run.store, false }, versions);
    return changes;
}

/// Of the objects of one place that belong together.
std::optional<Error> firstRewritten(Records& records, const Place& place, const VersionObjects& objects,
                                    auto& mayDiffer)
{
    std::vector<Error> changes;
    addChanges(records, place, objects, changes, mayDiffer);
    const auto first = std::find_if(changes.begin(), changes.end(),
                                    [](const Error& change) { return change.code == Code::Rewritten; });
    if (first == changes.end())
        return std::nullopt;
    first->text = place.prefix() + first->text;
    return std::move(*first);
}

}

std::vector<Error> changedSinceSeen(const Workbench& bench, const Run& run, const Plan& plan)
{
    if (!bench.records)
        return {};
    std::vector<const VersionObjects*> versions;
    for (const PlanLink& link : plan.links)
        versions.push_back(&run.versions[link.version].objectsOf(link.form));
    const auto all = [](const std::string&) { return [](const std::string&, const ObjectInfo&) { return true; }; };
    return changesIn(*bench.records, run, versions, plan.fromExternalBase, all);
}

std::vector<Error> changedSinceSeen(const Workbench& bench, const Run& run)
{
    if (!bench.records)
        return {};
    std::vector<const VersionObjects*> versions;
    for (const Version& version : run.versions) {
        for (std::size_t form = 0; form < version.forms(); ++form)
            versions.push_back(&version.objectsOf(form));
    }
    return changesIn(*bench.records, run, versions, true,
                     [&](const std::string& store) { return filterOfLastSights(*bench.records, store); });
}

void noteRewritten(const Workbench& bench, Run& run)
{
    std::vector<std::map<std::size_t, Error>> forms(run.versions.size());
    std::optional<Error> base;
    if (bench.records && run.base) {
        auto mayDiffer = filterOfLastSights(*bench.records, run.base->store->uri());
        base = firstRewritten(*bench.records, { *run.base->store, true }, run.base->objects, mayDiffer);
    }
    if (bench.records) {
        const Place source { *run.store, false };
        auto mayDiffer = filterOfLastSights(*bench.records, run.store->uri());
        for (std::size_t at = 0; at < run.versions.size(); ++at) {
            for (std::size_t form = 0; form < run.versions[at].forms(); ++form) {
                const VersionObjects& objects = run.versions[at].objectsOf(form);
                if (std::optional<Error> change = firstRewritten(*bench.records, source, objects, mayDiffer))
                    forms[at].emplace(form, std::move(*change));
            }
        }
    }
    bool isOther = std::exchange(run.baseRewritten, base) != base;
    for (std::size_t i = 0; i < forms.size(); ++i)
        isOther = std::exchange(run.versions[i].rewrittenForms, forms[i]) != forms[i] || isOther;
    if (isOther)
        assess(run);
}

bool anyRewritten(const Run& run)
{
    return run.baseRewritten || std::any_of(run.versions.begin(), run.versions.end(), [](const Version& version) {
               return !version.rewrittenForms.empty();
           });
}

const Error* rewrittenOn(const Run& run, const Plan& plan)
{
    for (auto link = plan.links.rbegin(); link != plan.links.rend(); ++link) {
        const std::map<std::size_t, Error>& rewritten = run.versions[link->version].rewrittenForms;
        if (const auto found = rewritten.find(link->form); found != rewritten.end())
            return &found->second;
    }
    return plan.fromExternalBase && run.baseRewritten ? &*run.baseRewritten : nullptr;
}

PlanOptions aroundRewritten(const Run& run)
{
    PlanOptions options;
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        for (const auto& [form, change] : run.versions[i].rewrittenForms)
            options.without.push_back(PlanLink { i, form });
    }
    return options;
}

PlannerAround::PlannerAround(const Run& run, bool acceptRewritten)
    : m_any(run)
{
    if (!acceptRewritten && anyRewritten(run))
        m_around.emplace(run, aroundRewritten(run));
}

Result<Plan> PlannerAround::planFor(const Version& version) const
{
    if (m_around) {
        if (Result<Plan> plan = m_around->planFor(version))
            return plan;
    }
    return m_any.planFor(version);
}

} // namespace deltascope
