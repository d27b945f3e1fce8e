#include "candidate_runs.h"
#include "choose_layout.h"
#include "choose_mirrors.h"
#include "compare_models.h"
#include "deltascope/engine/beside_keys.h"
#include "deltascope/engine/operations.h"
#include "deltascope/engine/rewritten_parts.h"
#include "deltascope/engine/safetensors.h"
#include "empty_checkpoints.h"
#include "epoch_evidence.h"
#include "format/common/droppings.h"
#include "gone_versions.h"
#include "kept_summaries.h"
#include "known_facts.h"
#include "left_anchors.h"
#include "lineage/restored.h"
#include "lineage/twice.h"
#include "lineage/version_ids.h"
#include "mirror_kinship.h"
#include "mirrored_versions.h"
#include "note_when_seen.h"
#include "notice_changes.h"
#include "open_base.h"
#include "read_headers.h"
#include "repeated_files.h"
#include "searched_store.h"
#include "separate_runs.h"
#include "source_events.h"
#include "store/mirrored_store.h"
#include "unread_weights.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <set>

namespace deltascope {

namespace {

std::string summaryKey(const ObjectStore& store, const Layout& layout)
{
    std::string key = fmt::format("{}|{}", store.uri(), layout.word());
    if (layout.searchDepth() != DefaultSearchDepth) // other versions may be found
        key += fmt::format("|depth {}", layout.searchDepth());
    return key;
}

/// Versions that a retention removed must not slow down every later opening. Some may only be hidden for a moment, so
/// few are kept.
constexpr std::size_t KeptGone = 64;
void forgetGone(Workbench& bench, const std::string& source, const KnownVersions& gone, std::size_t kept)
{
    if (!bench.catalog || gone.size() <= kept)
        return;
    std::vector<std::string> names;
    for (const auto& [name, version] : gone)
        names.push_back(name);
    static_cast<void>(
        bench.catalog->forget(source, names)); // a cache: that it cannot be written must not stop the work
}

std::vector<WantedForm> formsOf(std::vector<IndexedObjects>& versions)
{
    std::vector<WantedForm> forms;
    for (IndexedObjects& version : versions) {
        forms.push_back({ &version.objects, &version.summary, &version.failure });
        version.otherForms.resize(version.objects.otherForms.size());
        for (std::size_t i = 0; i < version.otherForms.size(); ++i)
            forms.push_back(
                { &version.objects.otherForms[i], &version.otherForms[i].summary, &version.otherForms[i].failure });
    }
    return forms;
}

/// Empty where the records cannot be read, which is reported elsewhere.
std::map<std::string, Records::KnownObject> objectsOnRecord(Workbench& bench, const ObjectStore& store)
{
    if (bench.records) {
        if (Result<std::map<std::string, Records::KnownObject>> objects = bench.records->objects(store.uri()))
            return std::move(*objects);
    }
    return {};
}

/// What is said at every look as long as it lasts, and was an event when it happened.
std::vector<Error> vanished(const Run& run)
{
    std::vector<Error> events;
    std::copy_if(run.problems.begin(), run.problems.end(), std::back_inserter(events),
                 [](const Error& problem) { return problem.code == Code::Vanished; });
    return events;
}

/// Makes the records of a source begin where nothing is known of it yet, or where the user accepts that they begin
/// again. `isKnown`: the catalog knows the source, so that there were records of it. Returns why they are lost.
std::optional<Error> coverByRecords(Workbench& bench, const ObjectStore& store, bool isKnown, bool accept)
{
    if (!bench.records)
        return std::nullopt;
    const Result<bool> covered = bench.records->cover(store.uri());
    if (!covered && covered.error().code != Code::Catalog) // damage is reported where a record is needed
        return covered.error();
    if (!covered || *covered)
        return std::nullopt;
    if (isKnown && !accept)
        return Error { Code::Catalog,
                       "the records of first sight of this source are lost: the catalog knows it, and the file of "
                       "records does not. Nothing tells whether its objects have the bytes that they had",
                       store.uri(), std::nullopt,
                       "Restore the file of records (records.sqlite) from a copy, or begin new records with verify "
                       "--accept-rewritten." };
    static_cast<void>(bench.records->begin(store.uri(), bench.nowUs())); // a full disk must not stop the work
    return std::nullopt;
}

/// An emptied prefix is an event, never an empty source, unless the user accepts it.
Result<void> expectNothingLost(Workbench& bench, const ObjectStore& store, bool accept)
{
    MissingObjects missing = MissingObjects::of(bench, store, objectsOnRecord(bench, store), {}, {});
    if (accept)
        DS_CHECK(missing.accept(bench, store));
    for (const auto& layout : bench.layouts.all()) {
        const std::string key = summaryKey(store, *layout);
        const KnownVersions known = knownVersions(bench, key);
        if (known.empty())
            continue;
        if (accept) {
            forgetGone(bench, key, known, 0);
            continue;
        }
        Error event = everythingGone(store, known);
        const Result<std::vector<Records::Event>> before =
            bench.records ? bench.records->events(store.uri(), 1) : std::vector<Records::Event>();
        if (!before || before->empty() || before->back().what.text != event.text)
            keepEvents(bench, store, { event });
        return fail(std::move(event));
    }
    if (accept || missing.empty())
        return {};
    return fail(Code::ListSuspect,
                fmt::format("the source is empty, and {} of its objects are on record", missing.size()), store.uri());
}

/// Numbers versions whose links are ids, as the records say and the links go. Opening the records reports damage, so a
/// failure here only means that numbers are not kept.
void numberVersions(Workbench& bench, const ObjectStore& store, std::vector<IndexedObjects>& versions)
{
    const ShownNumbers before =
        bench.records ? bench.records->numbers(store.uri()).value_or(ShownNumbers()) : ShownNumbers();
    ShownNumbers shown = before;
    resolveIds(versions, shown);
    std::erase_if(shown, [&](const auto& number) {
        const auto at = before.find(number.first);
        return at != before.end() && at->second == number.second;
    });
    if (bench.records && !shown.empty())
        static_cast<void>(bench.records->addNumbers(store.uri(), shown));
}

Result<std::vector<IndexedObjects>> indexVersions(Workbench& bench, const std::shared_ptr<const ObjectStore>& store,
                                                  const Layout& layout, std::vector<VersionObjects> groups,
                                                  TaskContext& task)
{
    const std::string key = summaryKey(*store, layout);
    KnownVersions known = knownVersions(bench, key);
    std::vector<IndexedObjects> versions(groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i)
        versions[i].objects = std::move(groups[i]);
    KnownVersions ofMirrors; // whose mirror may not be named this time
    for (auto at = known.begin(); at != known.end();) {
        const auto entry = at++;
        if (entry->first.find("://") != std::string::npos)
            ofMirrors.insert(known.extract(entry));
    }
    const std::vector<Error> happened = noticeChanges(bench.records, *store, known, versions);
    known.merge(ofMirrors);
    keepEventsOnce(bench, *store, happened); // an object that cannot be read differs from the catalog at each look
    std::vector<WantedForm> unknown;
    std::set<std::string> kept; // names of those that the catalog knows as they are
    for (const WantedForm& form : formsOf(versions)) {
        const auto at = known.extract(form.objects->name);
        if (at && at.mapped().identity == form.objects->identity()) {
            *form.summary = std::move(at.mapped().summary);
            kept.insert(form.objects->name);
            continue;
        }
        unknown.push_back(form);
    }
    const bool wiped = std::any_of(happened.begin(), happened.end(),
                                   [](const Error& event) { return event.code == Code::ListSuspect; });
    forgetGone(bench, key, known, wiped ? 0 : KeptGone);
    DS_CHECK(readHeaders(bench, store, layout, unknown, task));
    if (layout.linksByIds()) {
        numberVersions(bench, *store, versions);
        unknown = formsOf(versions); // they stand elsewhere now
        std::erase_if(unknown, [&](const WantedForm& form) { return kept.contains(form.objects->name); });
    }
    keepSummaries(bench, *store, key, unknown);
    return versions;
}

/// Notes the empty folders in front of each version. One that held objects before is none: it has lost them.
Result<void> findEmptyVersions(const ObjectStore& store, const Layout& layout, const MissingObjects& missing,
                               std::vector<VersionObjects>& versions, TaskContext& task)
{
    constexpr std::int64_t MostMissing = 1000;
    std::int64_t previous = 0;
    for (VersionObjects& version : versions) {
        const bool leavesFolders = !layout.emptyFolderOf(version, version.step).empty();
        const bool looks = leavesFolders && version.step - previous - 1 <= MostMissing;
        for (std::int64_t step = previous + 1; looks && step < version.step; ++step) {
            VersionObjects folder;
            folder.step = step;
            folder.name = layout.emptyFolderOf(version, step);
            DS_TRY(const bool isEmpty, store.hasEmptyFolder(folder.name, task));
            if (isEmpty && !missing.wereIn(folder.name))
                version.emptyBefore.push_back(std::move(folder));
        }
        previous = version.step;
    }
    return {};
}

using Listing = std::vector<ObjectInfo>;

/// Takes our own files beside a run out of a listing; returns those of the source's own folder.
Listing takeOwn(Listing& listing)
{
    Listing beside;
    std::copy_if(listing.begin(), listing.end(), std::back_inserter(beside),
                 [](const ObjectInfo& object) { return object.key.starts_with(beside::Root); });
    std::erase_if(listing, [](const ObjectInfo& object) { return beside::holds(object.key); });
    return beside;
}

/// Links to folders elsewhere that are not followed: what is in them may belong to the run, and is not read.
std::vector<Error> linkedFolders(const Listing& listing)
{
    std::vector<Error> told;
    for (const ObjectInfo& object : listing) {
        if (object.oddity == "a link to a folder")
            told.push_back(Error { Code::Stray,
                                   fmt::format("{} is a link to a folder that holds the source, or a link in a folder "
                                               "which is linked itself: what is in that folder is not read",
                                               object.key),
                                   object.key, std::nullopt,
                                   "Mount or move the folder itself to this place if it belongs to the run." });
    }
    return told;
}

/// What the source has and cannot be used, and a mirror stands in for.
std::vector<Error> replacedByMirrors(const Run& run)
{
    std::vector<Error> told;
    for (const Version& version : run.versions) {
        const auto standsIn = [](const OtherForm& form) { return !form.obstacle; };
        const auto usable = std::find_if(version.otherForms.begin(), version.otherForms.end(), standsIn);
        if (!version.ownFormObstacle || usable == version.otherForms.end())
            continue;
        const auto form = static_cast<std::size_t>(usable - version.otherForms.begin()) + 1;
        const VersionObjects& objects = version.objectsOf(form);
        if (!objects.mirror.empty())
            told.push_back(Error {
                Code::Mirror,
                fmt::format("{} of the source cannot be used, and is read from the mirror", version.objects.name),
                objects.name,
                version.step(),
                {} });
    }
    return told;
}

bool standAlone(const Layout& layout, const std::vector<IndexedObjects>& versions)
{
    const auto isFull = [](const IndexedObjects& version) { return version.summary && version.summary->full; };
    return layout.standAlone()
        || (layout.fullVersionsStandAlone() && std::all_of(versions.begin(), versions.end(), isFull));
}

}

std::string catalogKey(const Run& run)
{
    std::string key = summaryKey(*run.store, *run.layout) + (run.base ? "|" + run.base->store->uri() : std::string());
    for (const std::string& mirror : run.mirrors)
        key += "|mirror " + mirror;
    return key;
}

namespace {

/// The identities of what stands behind a version, up to the next anchor.
std::string behindInEpoch(const Run& run, std::size_t at)
{
    std::string text;
    for (std::size_t i = at + 1; i < run.versions.size() && run.versions[i].epoch == run.versions[at].epoch; ++i) {
        text += '\n' + run.versions[i].objects.identity();
        if (run.versions[i].kind == VersionKind::Anchor)
            break;
    }
    return text;
}

}

std::vector<std::string> chainKeys(const Run& run)
{
    const auto digestOf = [](const std::string& text) { return toHex(xxh3(asBytes(text))); };
    const std::string base = run.base ? run.base->objects.identity() : std::string();
    std::vector<std::string> states(run.versions.size());
    std::vector<std::string> keys(run.versions.size());
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        const Version& version = run.versions[i];
        std::string own = version.objects.identity();
        for (const OtherForm& form : version.otherForms) {
            if (form.base)
                own += states[*form.base] + '\n';
            else if (form.onExternalBase)
                own += base + '\n';
        }
        if (const std::optional<std::size_t> restored = namedAsRestored(run, i))
            own += "restores " + states[*restored] + '\n';
        const bool hasPrevious = i > 0 && run.versions[i - 1].epoch == version.epoch;
        if (version.kind == VersionKind::Anchor) {
            states[i] = digestOf(own);
            keys[i] = digestOf(own + '\n' + (hasPrevious ? states[i - 1] : std::string()));
        } else {
            states[i] = digestOf(own + '\n'
                                 + (version.base                 ? states[*version.base]
                                        : version.onExternalBase ? base
                                                                 : "none"));
            keys[i] = states[i];
        }
        if (existsTwice(version.objects)) // what stands behind it decides
            keys[i] = digestOf(keys[i] + behindInEpoch(run, i));
    }
    return keys;
}

Result<PathPtr> openChecked(Workbench& bench, const Run& run, const Plan& plan, bool acceptRewritten, TaskContext& task)
{
    if (run.recordsLost && !acceptRewritten)
        return fail(*run.recordsLost);
    DS_TRY(PathPtr path,
           openPath(run, plan, { bench.threads, bench.records, acceptRewritten, Replaced::Followed }, task));
    std::vector<Error> notices = path->readNotices();
    std::erase_if(notices, [](const Error& notice) { return notice.code != Code::Mirror; });
    if (!notices.empty())
        keepEventsOnce(bench, *run.store, std::move(notices));
    return path;
}

Result<PathPtr> openForFacts(const Workbench& bench, const Run& run, const Plan& plan, TaskContext& task)
{
    Records* const records = run.recordsLost ? nullptr : bench.records;
    return openPath(run, plan, { bench.threads, records, true, Replaced::Fails }, task);
}

Result<Run> openRun(Workbench& bench, std::shared_ptr<ObjectStore> store, const OpenOptions& options, TaskContext& task)
{
    const auto seen = [&](const Listing& objects) {
        if (!objects.empty())
            task.beginPhase(fmt::format("listing: {} object{}, up to {}", objects.size(),
                                        objects.size() == 1 ? "" : "s", objects.back().key),
                            0);
    };
    if (options.searchDepth < 1 || options.searchDepth > MostSearchDepth)
        return fail(Code::Usage, fmt::format("the depth of a search is 1 to {}", MostSearchDepth), store->uri());
    task.beginPhase("listing", 0);
    ChosenMirrors mirrors;
    if (options.mirrors) {
        DS_TRY(mirrors, chooseMirrors(bench, *store, *options.mirrors, task));
    }
    std::vector<Listing> copies; // of each mirror, listed first: what is copied meanwhile is not missed
    for (const auto& mirror : mirrors.stores) {
        DS_TRY(Listing copy, listAll(*mirror, "", task));
        takeOwn(copy);
        copies.push_back(std::move(copy));
    }
    const LayoutRegistry layouts = layoutsOf(bench, options.searchDepth);
    const SearchedStore searched(store, layouts);
    const ObjectStore& listed = options.layout.empty() ? static_cast<const ObjectStore&>(searched) : *store;
    DS_TRY(Listing listing,
           options.listing ? options.listing->look(listed, options.changed, task, seen)
                           : listAll(listed, "", task, seen));
    Listing beside = takeOwn(listing);
    const bool isNowhere = listing.empty() && std::all_of(copies.begin(), copies.end(), std::mem_fn(&Listing::empty));
    if (isNowhere)
        DS_CHECK(expectNothingLost(bench, *store, options.acceptLosses));
    std::vector<Error> sourceNotices = takeDroppings(listing);
    for (Listing& copy : copies)
        takeDroppings(copy);
    Result<std::shared_ptr<const Layout>> found = chooseLayout(bench, layouts, store, listing, options.layout, task);
    for (std::size_t i = 0; !found && found.error().code == Code::Layout && i < copies.size(); ++i) {
        // What is left of the source may not tell any more.
        Result<std::shared_ptr<const Layout>> ofMirror =
            chooseLayout(bench, layouts, mirrors.stores[i], copies[i], options.layout, task);
        if (ofMirror)
            found = std::move(ofMirror);
    }
    DS_TRY(const std::shared_ptr<const Layout> layout, std::move(found));

    DS_TRY(std::vector<CandidateRun> candidates, candidateRuns(*layout, store->uri(), listing));
    std::vector<Error> others = otherRuns(store->uri(), candidates);
    std::vector<RunPlace> places = placesOf(candidates);
    std::vector<VersionObjects> groups =
        candidates.empty() ? std::vector<VersionObjects>() : std::move(candidates.front().versions);
    if (options.listing)
        options.listing->growsAt(growthPlaces(groups, beside));
    std::size_t used = 0;
    for (const VersionObjects& group : groups) {
        used += group.objects.size();
        for (const VersionObjects& form : group.otherForms)
            used += form.objects.size();
    }
    std::vector<Error> linked = linkedFolders(listing);
    std::move(linked.begin(), linked.end(), std::back_inserter(sourceNotices));
    std::move(mirrors.notices.begin(), mirrors.notices.end(), std::back_inserter(sourceNotices));
    std::move(others.begin(), others.end(), std::back_inserter(sourceNotices));
    std::vector<std::string> addresses;
    for (std::size_t i = 0; i < mirrors.stores.size(); ++i) {
        addresses.push_back(mirrors.stores[i]->uri());
        std::vector<VersionObjects> held = layout->group(copies[i]);
        DS_TRY(std::optional<Error> stranger, leaveOutOtherRun(*store, groups, *mirrors.stores[i], held, task));
        DS_TRY(std::vector<Error> told,
               addMirrored(groups, addresses.back(), std::move(held), bench.records, store->uri()));
        if (stranger)
            told.push_back(std::move(*stranger));
        keepEventsOnce(bench, *store, told);
        sourceNotices.insert(sourceNotices.end(), told.begin(), told.end());
    }
    const std::shared_ptr<ObjectStore> source = store;
    if (!mirrors.stores.empty())
        store = std::make_shared<MirroredStore>(store, std::move(mirrors.stores));

    if (groups.empty() && !options.layout.empty() && !listing.empty())
        return fail(Code::Layout,
                    fmt::format("of its {} object{} none has a name that {} gives", listing.size(),
                                listing.size() == 1 ? "" : "s", options.layout),
                    store->uri(), "Leave out --layout to have it detected.");

    std::optional<ExternalBase> base;
    std::optional<Error> baseRecordsLost;
    if (options.base) {
        const bool isKnown = !knownVersions(bench, baseKey(*options.base)).empty();
        baseRecordsLost = coverByRecords(bench, *options.base, isKnown, options.acceptLosses);
        Result<ExternalBase> opened = openBase(bench, options.base, task);
        if (!opened) {
            if (!concernsTheStore(opened.error().code))
                opened.error().text = "in the base checkpoint: " + opened.error().text;
            return fail(std::move(opened.error()));
        }
        base = std::move(*opened);
        for (const Error& note : base->summary.notes)
            sourceNotices.push_back(
                Error { note.code, "in the base checkpoint: " + note.text, note.where, std::nullopt, note.action });
    }
    const KnownVersions known = knownVersions(bench, summaryKey(*source, *layout));
    const std::map<std::string, Records::KnownObject> onRecord = objectsOnRecord(bench, *source);
    MissingObjects missing = MissingObjects::of(bench, *source, onRecord, known, listing);
    if (options.acceptLosses)
        DS_CHECK(missing.accept(bench, *source));
    DS_CHECK(findEmptyVersions(*store, *layout, missing, groups, task));
    std::optional<Error> recordsLost = coverByRecords(bench, *source, !known.empty(), options.acceptLosses);
    if (!recordsLost)
        recordsLost = std::move(baseRecordsLost);
    DS_TRY(std::vector<IndexedObjects> versions, indexVersions(bench, store, *layout, std::move(groups), task));
    DS_CHECK(missing.failForms(bench, *source, *layout, formsOf(versions), task));
    noteWhenSeen(bench, summaryKey(*source, *layout), versions);
    std::vector<int> epochs;
    if (standAlone(*layout, versions)) {
        DS_TRY(SeparatedRuns runs, separateRuns(bench, store, layout, listing, versions, options.epochs, task));
        epochs = std::move(runs.epochs);
        std::move(runs.notices.begin(), runs.notices.end(), std::back_inserter(sourceNotices));
    } else {
        DS_TRY(epochs, decideEpochs(bench, store, layout, base, versions, options.epochs, task));
    }
    DS_CHECK(separateLeftAnchors(bench, store, layout, base, versions, epochs, options.epochs, task));
    Run run = buildLineage(store, layout, std::move(base), std::move(versions), bench.nowUs(), std::move(epochs));
    run.recordsLost = std::move(recordsLost);
    DS_CHECK(missing.addTo(run, bench, *source, task));
    run.beside = std::move(beside);
    run.mirrors = std::move(addresses);
    run.sourceNotices = std::move(sourceNotices);
    noteEmptyCheckpoints(run, listing);
    noteUnreadWeights(run, candidates, listing);
    run.places = std::move(places);
    noteRepeatedFiles(run, onRecord);
    if (!run.gone.empty() || !run.sourceNotices.empty() || run.recordsLost || layout->standAlone())
        assess(run);
    DS_CHECK(compareModels(bench, run, task));
    run.ignoredObjects = listing.size() - std::min(listing.size(), used);
    addKnownFacts(bench, run);
    noteRewritten(bench, run);
    keepEventsOnce(bench, *store, replacedByMirrors(run));
    keepEventsOnce(bench, *store, vanished(run));
    if (bench.records) {
        constexpr std::size_t EventsShown = 20;
        if (const auto events = bench.records->events(store->uri(), EventsShown)) {
            for (const Records::Event& event : *events)
                run.events.push_back(event.what);
        }
        settleChanges(*bench.records, *store, run.events);
        if (std::optional<Error> fork = twoWriters(*store, run.events))
            run.events.push_back(std::move(*fork));
    }
    return run;
}

} // namespace deltascope
