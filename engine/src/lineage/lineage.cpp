#include "format/common/checkpoint_folders.h"
#include "format/common/name_stem.h"
#include "lineage/links.h"
#include "lineage/placeholders.h"
#include "lineage/reference.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace deltascope {

namespace {

constexpr std::int64_t Second = 1'000'000;

/// How long an unfinished object may rest before it counts as abandoned: ten usual intervals, at least a minute, at
/// most an hour.
std::int64_t settleTimeUs(const std::vector<IndexedObjects>& versions)
{
    std::vector<std::int64_t> intervals;
    for (std::size_t i = 1; i < versions.size(); ++i)
        intervals.push_back(
            std::max<std::int64_t>(0, versions[i].objects.publishedUs() - versions[i - 1].objects.publishedUs()));
    if (intervals.empty())
        return 60 * Second;
    std::nth_element(intervals.begin(), intervals.begin() + static_cast<std::ptrdiff_t>(intervals.size() / 2),
                     intervals.end());
    return std::clamp<std::int64_t>(10 * intervals[intervals.size() / 2], 60 * Second, 3600 * Second);
}

/// Whether complete versions alone have a name of this kind, so that a version whose headers cannot be read is one.
bool isNamedLikeAnchors(const std::vector<IndexedObjects>& versions, const IndexedObjects& version)
{
    const std::string_view own = nameBeforeNumber(version.objects.name);
    bool any = false;
    for (const IndexedObjects& other : versions) {
        if (!other.summary || nameBeforeNumber(other.objects.name) != own)
            continue;
        if (!other.summary->full)
            return false;
        any = true;
    }
    return any;
}

/// Whether a later step of the same epoch stands behind a delta: its writer has gone on, and does not write it any
/// more. An anchor can still be on its way while deltas follow.
bool isPassed(const std::vector<IndexedObjects>& versions, const std::vector<int>& epochs, std::size_t at)
{
    for (std::size_t i = at + 1; i < versions.size(); ++i) {
        if (epochs[i] == epochs[at] && versions[i].summary)
            return !isNamedLikeAnchors(versions, versions[at]);
    }
    return false;
}

/// Whether a version was touched so lately that its writer may be at it.
bool isFresh(const IndexedObjects& version, std::int64_t nowUs, std::int64_t settleUs)
{
    return nowUs - version.grewUs(nowUs) < settleUs;
}

bool looksUnfinished(const IndexedObjects& version)
{
    if (version.failure)
        return version.failure->code == Code::Truncated || version.failure->code == Code::Unfinished;
    return std::any_of(version.objects.objects.begin(), version.objects.objects.end(),
                       [](const ObjectInfo& object) { return object.hasUnwrittenPart; });
}

}

std::int64_t IndexedObjects::grewUs(std::int64_t nowUs) const noexcept
{
    const std::int64_t publishedUs = objects.publishedUs();
    if (publishedUs <= nowUs)
        return publishedUs;
    return seenUs == 0 ? nowUs : std::min(seenUs, nowUs);
}

std::string_view word(VersionKind kind) noexcept
{
    switch (kind) {
    case VersionKind::Anchor:
        return "anchor";
    case VersionKind::PartialAnchor:
        return "partial_anchor";
    case VersionKind::Delta:
        break;
    }
    return "delta";
}

std::string_view word(VersionState state) noexcept
{
    switch (state) {
    case VersionState::Complete:
        return "complete";
    case VersionState::Publishing:
        return "publishing";
    case VersionState::Broken:
        return "broken";
    case VersionState::Noop:
        break;
    }
    return "noop";
}

namespace {

/// What the names and shapes of a full version show to be no model that an engine loads.
void addNotesOfModel(const VersionIndex& index, std::vector<Error>& notes)
{
    if (std::string text = placeholdersIn(index); !text.empty())
        notes.push_back(placeholderNote(std::move(text)));
    const auto holds = [&](std::string_view part) {
        return std::find_if(index.tensors.begin(), index.tensors.end(), [&](const TensorEntry& entry) {
            return entry.name().find(part) != std::string_view::npos;
        });
    };
    const auto wrapped = holds(".base_layer.");
    if (wrapped != index.tensors.end() && holds(".lora_") != index.tensors.end())
        notes.push_back(
            Error { Code::PartialAnchor,
                    fmt::format("it holds LoRA adapters that were not merged, as {} shows: engines know no such names",
                                wrapped->name()),
                    {},
                    std::nullopt,
                    "merge the adapters before the checkpoint is saved (merge_and_unload of PEFT)" });
}

}

VersionSummary VersionSummary::of(const VersionIndex& index)
{
    VersionSummary summary;
    summary.full = index.full;
    summary.declaredBase = index.declaredBase;
    summary.id = index.id;
    summary.baseId = index.baseId;
    summary.encoding = index.encoding;
    summary.lossy = index.lossy;
    summary.digests = index.digests;
    summary.stateDigest = index.stateDigest.hex;
    summary.hasChecksums = index.hasChecksums;
    summary.tensors = static_cast<std::uint32_t>(index.tensors.size());
    summary.storedElements = index.storedElements();
    summary.countsKnown = index.countsKnown();
    summary.notes = index.notes;
    if (index.full)
        addNotesOfModel(index, summary.notes);
    summary.run = index.fact(fact::Run);
    summary.baseRoot = index.fact(fact::Base);
    summary.root = index.fact(fact::Root);
    summary.origin = index.fact(fact::Origin);
    summary.restores = parseNumber(index.fact(fact::Restores));
    summary.branch = index.fact(fact::Branch);
    std::string names;
    for (const TensorEntry& entry : index.tensors) {
        names += entry.name();
        names += '\0';
        if (entry.info())
            names += fmt::format("{}:{}", word(entry.info()->dtype), fmt::join(entry.info()->shape, ","));
        names += '\0';
    }
    summary.nameSet = xxh3(asBytes(names));
    return summary;
}

FormFacts& Version::noteForm(std::size_t otherForm)
{
    if (!facts) {
        facts.emplace();
        facts->replayed = false;
    }
    if (facts->otherForms.size() < otherForm)
        facts->otherForms.resize(otherForm);
    return facts->otherForms[otherForm - 1];
}

void Version::noteDamage(std::size_t form, const Error& damage)
{
    if (form > 0) {
        FormFacts& noted = noteForm(form);
        noted = {};
        noted.damage = damage;
        return;
    }
    std::vector<FormFacts> others = facts ? std::move(facts->otherForms) : std::vector<FormFacts>();
    facts.emplace();
    facts->damage = damage;
    facts->otherForms = std::move(others);
}

const FormFacts* Version::factsOf(std::size_t otherForm) const noexcept
{
    return facts && otherForm <= facts->otherForms.size() ? &facts->otherForms[otherForm - 1] : nullptr;
}

std::optional<std::size_t> Version::originalOf(std::size_t form) const noexcept
{
    const VersionObjects& copy = objectsOf(form);
    for (std::size_t other = 0; other < form && !copy.mirror.empty(); ++other) {
        const VersionObjects& original = objectsOf(other);
        if (original.inSource(original.name) == copy.inSource(copy.name))
            return other;
    }
    return std::nullopt;
}

std::optional<std::size_t> Version::fullForm() const noexcept
{
    for (std::size_t form = 1; form < forms() && kind != VersionKind::Anchor; ++form) {
        const FormFacts* known = factsOf(form);
        if (otherForms[form - 1].isComplete() && !(known && known->damage))
            return form;
    }
    return std::nullopt;
}

std::optional<std::uint64_t> Version::fullFormDiffers() const noexcept
{
    const std::optional<std::size_t> form = fullForm();
    const FormFacts* known = form ? factsOf(*form) : nullptr;
    return known && known->comparedWith == 0 ? known->differs : std::nullopt;
}

bool Run::countsOnItsBase(const Version& version) const noexcept
{
    if (!version.obstacle || version.kind == VersionKind::Anchor
        || (version.summary && version.summary->encoding == "xor"))
        return true;
    return !versions[version.obstacleAt].lossProven && version.obstacle->code != Code::BaseMismatch;
}

std::optional<std::uint64_t> Run::totalElementsOf(const Version& version) const noexcept
{
    if (version.kind == VersionKind::Anchor && version.summary)
        return version.summary->storedElements;
    return totalElements[static_cast<std::size_t>(version.epoch)];
}

const Version* Run::find(std::int64_t step, std::optional<int> epoch) const noexcept
{
    const Version* found = nullptr;
    for (const Version& version : versions) {
        if (version.step() == step && (!epoch || *epoch == version.epoch))
            found = &version;
    }
    return found;
}

std::optional<std::size_t> Run::checkpointBefore(std::size_t at) const noexcept
{
    for (std::size_t i = versions[at].besideSteps ? versions.size() : at; i-- > 0;) {
        if (versions[i].epoch == versions[at].epoch && !versions[i].besideSteps)
            return i;
    }
    return std::nullopt;
}

bool Run::isNamedByAddress(const Version& version) const
{
    const bool isAlone = versions.size() == 1 && version.otherForms.empty() && version.objects.mirror.empty();
    return isAlone && layout->standAlone() && version.step() == 0 && stepFolderOf(version.objects.name).empty();
}

bool Run::isFinalSave(const Version& version) const noexcept
{
    constexpr std::int64_t CopyJitterUs = 2 * Second;
    return version.besideSteps && std::any_of(versions.begin(), versions.end(), [&](const Version& step) {
               return !step.besideSteps && step.objects.publishedUs() <= version.objects.publishedUs() + CopyJitterUs;
           });
}

const Version* Run::findId(std::string_view id) const noexcept
{
    const auto isCalled = [&](const Version& version) {
        return version.summary && !id.empty() && version.summary->id == id;
    };
    const auto found = std::find_if(versions.begin(), versions.end(), isCalled);
    return found == versions.end() ? nullptr : &*found;
}

const Version* Run::latest() const noexcept
{
    const int newest = epochs() - 1;
    const Version* last = nullptr;
    for (auto at = versions.rbegin(); at != versions.rend() && at->epoch == newest; ++at) {
        if (!at->obstacle)
            return &*at;
        if (!last)
            last = &*at;
    }
    return last;
}

const Version* Run::newerThanLatest() const noexcept
{
    const Version* chosen = latest();
    const Version* highest = nullptr;
    for (const Version& version : versions) {
        if (!highest || version.step() >= highest->step())
            highest = &version;
    }
    return chosen && highest->step() > chosen->step() ? highest : nullptr;
}

namespace {

VersionKind kindOf(const Run& run, const std::optional<VersionSummary>& summary, const VersionSummary* reference)
{
    if (!summary || !summary->full)
        return VersionKind::Delta;
    return !run.layout->anchorsMayBePartial() || summary->tensors >= reference->tensors ? VersionKind::Anchor
                                                                                        : VersionKind::PartialAnchor;
}

/// The starts of names ("anchors/step_") that complete versions alone have.
std::set<std::string_view> namesOfAnchors(const Run& run)
{
    std::set<std::string_view> complete;
    std::set<std::string_view> others;
    for (const Version& version : run.versions) {
        if (version.summary)
            (version.summary->full ? complete : others).insert(nameBeforeNumber(version.objects.name));
    }
    std::erase_if(complete, [&](std::string_view name) { return others.contains(name); });
    return complete;
}

/// Decides what kind each form of a version is, and what it builds on. `anchorNames`: namesOfAnchors().
void linkForms(Run& run, std::size_t at, const VersionSummary* reference, std::optional<std::size_t> previous,
               const std::set<std::string_view>& anchorNames)
{
    Version& version = run.versions[at];
    const bool standsAlone = run.layout->standAlone();
    const bool isUnreadAnchor =
        version.failure && (standsAlone || anchorNames.contains(nameBeforeNumber(version.objects.name)));
    version.kind = isUnreadAnchor ? VersionKind::Anchor : kindOf(run, version.summary, reference);
    if (version.kind != VersionKind::Anchor) {
        const BaseLink link = linkOf(run, at, version.summary, previous);
        version.base = link.base;
        version.baseStep = link.baseStep;
        version.onExternalBase = link.onExternalBase;
        version.acrossGap = link.acrossGap;
    }
    for (OtherForm& form : version.otherForms) {
        form.kind = form.failure && standsAlone ? VersionKind::Anchor : kindOf(run, form.summary, reference);
        if (!form.summary || form.isComplete())
            continue;
        const BaseLink link = linkOf(run, at, form.summary, previous);
        form.base = link.base;
        form.baseStep = link.baseStep;
        form.onExternalBase = link.onExternalBase;
        form.acrossGap = link.acrossGap;
    }
}

/// Versions of their own for the empty folders in front of one.
void addEmptyFolders(Run& run, const VersionObjects& behind, int epoch)
{
    for (const VersionObjects& folder : behind.emptyBefore) {
        Version version;
        version.epoch = epoch;
        version.objects = folder;
        version.objects.publishedByUs = behind.publishedUs();
        version.summary = VersionSummary::of(VersionIndex());
        run.versions.push_back(std::move(version));
    }
}

void markModelBesideSteps(Run& run)
{
    const auto isInStepFolder = [](const Version& version) { return !stepFolderOf(version.objects.name).empty(); };
    if (!run.layout->standAlone() || std::none_of(run.versions.begin(), run.versions.end(), isInStepFolder))
        return;
    for (Version& version : run.versions)
        version.besideSteps = version.step() == 0 && !isInStepFolder(version);
}

}

Run buildLineage(std::shared_ptr<const ObjectStore> store, std::shared_ptr<const Layout> layout,
                 std::optional<ExternalBase> base, std::vector<IndexedObjects> versions, std::int64_t nowUs,
                 std::optional<std::vector<int>> known)
{
    Run run;
    run.store = std::move(store);
    run.layout = std::move(layout);
    run.base = std::move(base);

    std::vector<int> epochs = known ? std::move(*known) : std::vector<int>(versions.size(), 0);
    if (!known && !run.layout->standAlone()) {
        std::vector<VersionObjects> objects;
        objects.reserve(versions.size());
        for (const IndexedObjects& version : versions)
            objects.push_back(version.objects);
        epochs = splitEpochs(objects);
        splitEpochsByRun(versions, epochs);
    }
    const int epochCount = epochs.empty() ? 1 : *std::max_element(epochs.begin(), epochs.end()) + 1;
    run.totalElements.resize(static_cast<std::size_t>(epochCount));

    const std::int64_t settleUs = settleTimeUs(versions);
    std::vector<bool> beingWritten(versions.size());
    for (std::size_t i = 0; i < versions.size(); ++i)
        beingWritten[i] = looksUnfinished(versions[i]) && isFresh(versions[i], nowUs, settleUs)
            && (run.layout->standAlone() || !isPassed(versions, epochs, i));
    run.versions.reserve(versions.size());
    for (std::size_t i = 0; i < versions.size(); ++i) {
        IndexedObjects& from = versions[i];
        if (i == 0 || epochs[i] == epochs[i - 1]) // between two runs nothing tells whose folders they are
            addEmptyFolders(run, from.objects, epochs[i]);
        Version version;
        version.epoch = epochs[i];
        version.beingWritten = beingWritten[i];
        version.mayGrow = !run.layout->marksTheEnd() && isFresh(from, nowUs, settleUs);
        version.objects = std::move(from.objects);
        version.summary = std::move(from.summary);
        version.failure = std::move(from.failure);
        version.otherForms = std::move(from.otherForms);
        version.otherForms.resize(version.objects.otherForms.size());
        run.versions.push_back(std::move(version));
    }
    std::stable_sort(run.versions.begin(), run.versions.end(), [](const Version& a, const Version& b) {
        return a.epoch != b.epoch ? a.epoch < b.epoch : a.step() < b.step();
    });

    for (std::size_t i = 0; i + 1 < run.versions.size(); ++i)
        run.versions[i].mayGrow = false; // its writer has gone on

    const std::set<std::string_view> anchorNames = namesOfAnchors(run);
    std::optional<std::size_t> previous;
    const VersionSummary* reference = nullptr;
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        Version& version = run.versions[i];
        if (i == 0 || run.versions[i - 1].epoch != version.epoch) {
            previous.reset();
            reference = referenceOf(run, version.epoch);
        }
        linkForms(run, i, reference, previous, anchorNames);
        const std::int64_t expected =
            previous ? behindWrittenOver(run, version.epoch, run.versions[*previous].step() + 1) : version.step();
        const bool numbered = !run.layout->standAlone() && !run.layout->numbersMaySkip();
        if (numbered && expected < version.step())
            run.gaps.push_back(Gap { version.epoch, expected, version.step() - 1 });
        previous = i;
    }
    markModelBesideSteps(run);
    for (int epoch = 0; epoch < epochCount; ++epoch) {
        if (run.base && run.layout->needsExternalBase())
            run.totalElements[static_cast<std::size_t>(epoch)] = run.base->summary.storedElements;
        else if (const VersionSummary* reference = referenceOf(run, epoch))
            run.totalElements[static_cast<std::size_t>(epoch)] = reference->storedElements;
    }
    assess(run);
    return run;
}

} // namespace deltascope
