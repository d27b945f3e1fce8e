#include "gone_versions.h"

#include "candidate_runs.h"
#include "lineage/claims.h"
#include "lineage/gone.h"
#include "recorded_bytes.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <set>

namespace deltascope {

namespace {

/// Under which the acceptance of a loss is kept. What is recorded under the same key later is not accepted with it.
std::string findingOf(const std::string& key) { return "gone " + key; }

template <class Each> void forEachObject(const VersionObjects& version, Each each)
{
    for (const ObjectInfo& object : version.objects)
        each(object);
    for (const VersionObjects& form : version.otherForms)
        forEachObject(form, each);
}

std::map<std::string, std::string> identitiesOf(const KnownVersions& known)
{
    std::map<std::string, std::string> identities;
    for (const auto& [name, version] : known) {
        if (name.find("://") != std::string::npos) // of a mirror
            continue;
        for (const auto& [key, identity] : partsOf(version.identity))
            identities.emplace(key, identity);
    }
    return identities;
}

/// The epoch of what stands around a step: that of the next version below it, else that of the first one above.
int epochAround(const Run& run, std::int64_t step)
{
    const Version* below = nullptr;
    const Version* above = nullptr;
    for (const Version& version : run.versions) {
        if (version.step() <= step && (!below || version.step() >= below->step()))
            below = &version;
        if (version.step() > step && (!above || version.step() <= above->step()))
            above = &version;
    }
    return below ? below->epoch : above ? above->epoch : run.epochs() - 1;
}

/// Whether a version has the bytes, or where nothing is on record the identity, that it had.
Result<RecordedBytes> compareVersion(Workbench& bench, const ObjectStore& store, const VersionObjects& version,
                                     const std::map<std::string, std::string>& known, TaskContext& task)
{
    RecordedBytes all = RecordedBytes::Unknown;
    for (const ObjectInfo& object : version.objects) {
        RecordedBytes one = RecordedBytes::Unknown;
        if (bench.records) {
            Result<RecordedBytes> bytes = compareWithRecord(bench, store, object, task);
            if (!bytes && bytes.error().code != Code::Catalog) // a damaged record says nothing
                return fail(std::move(bytes.error()));
            one = bytes.value_or(RecordedBytes::Unknown);
        }
        const auto before = known.find(object.key);
        if (one == RecordedBytes::Unknown && before != known.end())
            one = before->second == object.identity ? RecordedBytes::Same : RecordedBytes::Other;
        if (one == RecordedBytes::Other)
            return one;
        all = one == RecordedBytes::Unknown ? all : one;
    }
    return all;
}

/// When a new run took the place of the known versions of the newest epoch: none of its known deltas is as it was, or,
/// where none of them is here, its first version is not. Nothing: it did not.
Result<std::optional<std::int64_t>> replacedSince(Workbench& bench, const ObjectStore& store, const Run& run,
                                                  const std::map<std::string, std::string>& known, TaskContext& task)
{
    using Since = std::optional<std::int64_t>;
    bool anyOther = false;
    const Version* first = nullptr;
    for (const Version& version : run.versions) {
        if (version.epoch + 1 != run.epochs() || !version.objects.mirror.empty() || version.objects.objects.empty())
            continue;
        first = first ? first : &version;
        if (version.kind != VersionKind::Delta || changesNothing(version))
            continue;
        DS_TRY(const RecordedBytes bytes, compareVersion(bench, store, version.objects, known, task));
        if (bytes == RecordedBytes::Same)
            return Since();
        anyOther = anyOther || bytes == RecordedBytes::Other;
    }
    if (!anyOther && first) {
        DS_TRY(const RecordedBytes bytes, compareVersion(bench, store, first->objects, known, task));
        anyOther = bytes == RecordedBytes::Other;
    }
    return anyOther ? Since(first->objects.publishedUs()) : Since();
}

}

MissingObjects MissingObjects::of(Workbench& bench, const ObjectStore& store,
                                  const std::map<std::string, Records::KnownObject>& onRecord,
                                  const KnownVersions& known, const std::vector<ObjectInfo>& listing)
{
    MissingObjects missing;
    std::map<std::string, std::int64_t> keys;
    for (const auto& [key, object] : onRecord)
        keys.emplace_hint(keys.end(), key, object.seenUs);
    std::map<std::string, std::int64_t> accepted;
    if (bench.records) { // records that cannot be read are reported elsewhere
        if (Result<std::map<std::string, std::int64_t>> findings = bench.records->accepted(store.uri()))
            accepted = std::move(*findings);
    }
    missing.m_identities = identitiesOf(known);
    for (const auto& [key, object] : onRecord)
        missing.m_identities.emplace(key, object.identity);
    for (const auto& [key, identity] : missing.m_identities)
        keys.emplace(key, 0);
    auto listed = listing.begin();
    for (const auto& [key, seenUs] : keys) { // both in byte order of keys
        listed = std::lower_bound(listed, listing.end(), key, [](const ObjectInfo& object, const std::string& other) {
            return object.key < other;
        });
        if (listed != listing.end() && listed->key == key)
            continue;
        const auto since = accepted.find(findingOf(key));
        const bool isAccepted = since != accepted.end() && since->second >= seenUs;
        (isAccepted ? missing.m_accepted : missing.m_missing).emplace(key, seenUs);
    }
    if (!missing.m_missing.empty() || !missing.m_accepted.empty())
        missing.m_listing = listing;
    return missing;
}

bool MissingObjects::wereIn(const std::string& folder) const
{
    const std::string inside = folder + '/';
    const auto holds = [&](const auto& keys) {
        const auto first = keys.lower_bound(inside);
        return first != keys.end() && first->first.starts_with(inside);
    };
    return holds(m_missing) || holds(m_accepted);
}

std::vector<VersionObjects>
MissingObjects::groupsWith(const Layout& layout, const std::set<std::string_view>& names,
                           const std::map<std::string, std::int64_t, std::less<>>& keys) const
{
    std::vector<ObjectInfo> all = m_listing;
    for (const auto& [key, seenUs] : keys)
        all.push_back(ObjectInfo { key, 0, {}, seenUs });
    std::sort(all.begin(), all.end(), [](const ObjectInfo& a, const ObjectInfo& b) { return a.key < b.key; });
    Result<std::vector<CandidateRun>> runs = candidateRuns(layout, {}, all);
    if (!runs || runs->empty())
        return {};
    const auto isNamed = [&](const VersionObjects& version) { return names.contains(version.name); };
    const auto own = std::find_if(runs->begin(), runs->end(), [&](const CandidateRun& run) {
        return std::any_of(run.versions.begin(), run.versions.end(), isNamed);
    });
    return std::move((own == runs->end() ? runs->begin() : own)->versions);
}

/// Once more, and by another question than the listing.
Result<bool> MissingObjects::isGone(const ObjectStore& store, const std::string& key, TaskContext& task) const
{
    const Result<ObjectInfo> asked = store.stat(key, task);
    if (asked)
        return false;
    if (asked.error().code != Code::NotFound)
        return fail(asked.error());
    DS_TRY(const std::vector<ObjectInfo> again, listAll(store, key, task));
    return std::none_of(again.begin(), again.end(), [&](const ObjectInfo& object) { return object.key == key; });
}

bool MissingObjects::isAsKnown(const VersionObjects& version) const
{
    return std::all_of(version.objects.begin(), version.objects.end(), [&](const ObjectInfo& object) {
        const auto known = m_identities.find(object.key);
        return known != m_identities.end() && known->second == object.identity;
    });
}

Result<void> MissingObjects::failForms(Workbench& bench, const ObjectStore& store, const Layout& layout,
                                       const std::vector<WantedForm>& forms, TaskContext& task) const
{
    if (empty())
        return {};
    std::set<std::string_view> names;
    for (const WantedForm& form : forms)
        names.insert(form.objects->name);
    std::map<std::string, VersionObjects> before;
    for (const VersionObjects& group : groupsWith(layout, names, m_missing)) {
        before.emplace(group.name, group);
        for (const VersionObjects& form : group.otherForms)
            before.emplace(form.name, form);
    }
    for (const WantedForm& form : forms) {
        const VersionObjects& left = *form.objects;
        std::optional<Error>& failure = *form.failure;
        const auto whole = before.find(left.name);
        if (whole == before.end() || whole->second.objects.size() == left.objects.size())
            continue;
        const bool looksUnfinished = failure && (failure->code == Code::Unfinished || failure->code == Code::NotFound);
        if (failure && !looksUnfinished)
            continue;
        for (const ObjectInfo& object : whole->second.objects) {
            if (!m_missing.contains(object.key) || (!looksUnfinished && !layout.indexReads(object.key)))
                continue;
            // A trainer that starts again may have written some of the old bytes by now, but as other objects.
            bool restIsSame = looksUnfinished && isAsKnown(left);
            if (!looksUnfinished) {
                DS_TRY(const RecordedBytes rest, compareVersion(bench, store, left, m_identities, task));
                restIsSame = rest == RecordedBytes::Same;
            }
            DS_TRY(const bool gone, restIsSame ? isGone(store, object.key, task) : Result<bool>(false));
            if (!gone)
                continue;
            failure = Error { Code::Vanished,
                              fmt::format("{} was a part of step {} and is gone", object.key, left.step),
                              object.key,
                              left.step,
                              {} };
            form.summary->reset();
            break;
        }
    }
    return {};
}

Result<void> MissingObjects::addTo(Run& run, Workbench& bench, const ObjectStore& store, TaskContext& task) const
{
    if (m_missing.empty() && m_accepted.empty())
        return {};
    std::set<std::string_view> present; // what only a mirror holds is not lost
    for (const Version& version : run.versions)
        present.insert(version.objects.inSource(version.objects.name));
    const std::vector<VersionObjects> accepted = groupsWith(*run.layout, present, m_accepted);
    for (const VersionObjects& group : accepted) {
        if (!present.contains(group.name))
            run.acceptedLosses.push_back(group.step);
    }
    const std::vector<VersionObjects> groups = groupsWith(*run.layout, present, m_missing);
    for (const VersionObjects& group : groups) {
        GoneVersion gone;
        gone.step = group.step;
        gone.name = group.name;
        gone.epoch = epochAround(run, group.step);
        bool anyLeft = present.contains(group.name);
        forEachObject(group, [&](const ObjectInfo& object) {
            const auto missing = m_missing.find(object.key);
            anyLeft = anyLeft || missing == m_missing.end();
            if (anyLeft)
                return;
            gone.seenUs = std::max(gone.seenUs, missing->second);
            gone.keys.push_back(object.key);
        });
        if (!anyLeft)
            run.gone.push_back(std::move(gone));
    }
    std::stable_sort(run.gone.begin(), run.gone.end(),
                     [](const GoneVersion& a, const GoneVersion& b) { return a.step < b.step; });
    weighGone(run);
    return confirm(run, bench, store, task);
}

Result<void> MissingObjects::confirm(Run& run, Workbench& bench, const ObjectStore& store, TaskContext& task) const
{
    constexpr std::size_t MostAsked = 64; // the store that says so of these says so of the others, too
    const auto matters = [](const GoneVersion& gone) { return gone.loss != GoneVersion::Loss::Retired; };
    if (std::none_of(run.gone.begin(), run.gone.end(), matters))
        return {};
    DS_TRY(const std::optional<std::int64_t> newRun, replacedSince(bench, store, run, m_identities, task));
    for (GoneVersion& gone : run.gone)
        gone.ofEarlierRun = newRun && gone.seenUs < *newRun && matters(gone);
    weighGone(run);
    std::size_t asked = 0;
    std::set<std::string> there;
    for (const GoneVersion& gone : run.gone) {
        if (!matters(gone) || asked++ >= MostAsked)
            continue;
        DS_TRY(const bool isGone, this->isGone(store, gone.keys.front(), task));
        if (!isGone)
            there.insert(gone.name);
    }
    std::erase_if(run.gone, [&](const GoneVersion& gone) { return there.contains(gone.name); });
    return {};
}

Result<void> MissingObjects::accept(Workbench& bench, const ObjectStore& store)
{
    std::vector<std::string> findings;
    for (const auto& [key, seenUs] : m_missing)
        findings.push_back(findingOf(key));
    m_accepted.merge(m_missing);
    m_missing.clear();
    return bench.records && !findings.empty() ? bench.records->accept(store.uri(), findings, bench.nowUs())
                                              : Result<void>();
}

Result<void> acceptEarlierRun(Workbench& bench, Run& run, int epoch)
{
    std::vector<std::string> findings;
    for (GoneVersion& gone : run.gone) {
        gone.ofEarlierRun = gone.ofEarlierRun || gone.epoch == epoch;
        if (gone.ofEarlierRun)
            std::transform(gone.keys.begin(), gone.keys.end(), std::back_inserter(findings), findingOf);
    }
    return bench.records && !findings.empty() ? bench.records->accept(run.store->uri(), findings, bench.nowUs())
                                              : Result<void>();
}

} // namespace deltascope
