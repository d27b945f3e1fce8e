#include "deltascope/engine/lineage.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace deltascope {

namespace {

    constexpr std::int64_t Second = 1'000'000;

    /// How long an unfinished object may rest before it counts as abandoned: ten usual intervals, at least a minute, at most an hour.
    std::int64_t settleTimeUs(const std::vector<IndexedObjects>& versions)
    {
        std::vector<std::int64_t> intervals;
        for (std::size_t i = 1; i < versions.size(); ++i)
            intervals.push_back(std::max<std::int64_t>(
                0, versions[i].objects.publishedUs() - versions[i - 1].objects.publishedUs()));
        if (intervals.empty())
            return 60 * Second;
        std::nth_element(intervals.begin(), intervals.begin() + static_cast<std::ptrdiff_t>(intervals.size() / 2), intervals.end());
        return std::clamp<std::int64_t>(10 * intervals[intervals.size() / 2], 60 * Second, 3600 * Second);
    }

    bool looksUnfinished(const IndexedObjects& version)
    {
        if (version.failure)
            return version.failure->code == Code::Truncated || version.failure->code == Code::Unfinished;
        return std::any_of(version.objects.objects.begin(), version.objects.objects.end(),
                           [](const ObjectInfo& object) { return object.hasUnwrittenPart; });
    }

    /// The full version that shows how many tensors the model has: the first one of the run if it is there (it is sent before
    /// training starts and complete), else the one with the most tensors anywhere in the source.
    const VersionSummary* referenceOf(const Run& run, int epoch)
    {
        const VersionSummary* largest = nullptr;
        for (const Version& version : run.versions) {
            if (!version.summary || !version.summary->full)
                continue;
            if (version.epoch == epoch && version.step() <= 1)
                return &*version.summary;
            if (!largest || version.summary->tensors > largest->tensors)
                largest = &*version.summary;
        }
        return largest;
    }

    /// Finds the base by the root of its state, whatever the numbers say. False where the version before does not carry one.
    bool linkByRoot(Run& run, std::size_t at)
    {
        Version& version = run.versions[at];
        bool known = false;
        for (std::size_t other = at; other-- > 0 && run.versions[other].epoch == version.epoch;) {
            const Version& candidate = run.versions[other];
            if (!candidate.summary || candidate.summary->root.empty())
                continue;
            known = true;
            if (candidate.summary->root == version.summary->baseRoot) {
                version.base = other;
                version.baseStep = candidate.step();
                return true;
            }
        }
        version.baseStep = version.step() - 1;
        return known;
    }

    void link(Run& run, std::size_t at, std::optional<std::size_t> previous)
    {
        Version& version = run.versions[at];
        if (version.kind == VersionKind::Anchor)
            return;
        if (version.summary && !version.summary->baseRoot.empty() && linkByRoot(run, at))
            return;
        const std::optional<std::int64_t> declared = version.summary ? version.summary->declaredBase : std::nullopt;
        if (declared) {
            version.baseStep = declared;
            if (previous && run.versions[*previous].step() == *declared) {
                version.base = previous;
                return;
            }
            for (std::size_t other = at; !version.base && other-- > 0 && run.versions[other].epoch == version.epoch;) {
                if (run.versions[other].step() == *declared)
                    version.base = other;
            }
            if (version.base)
                return;
            if (!previous && run.layout->needsExternalBase())
                version.onExternalBase = *declared == 0 || *declared == version.step() - 1;
            return;
        }
        version.baseStep = previous ? run.versions[*previous].step() : version.step() - 1;
        version.base = previous;
        if (previous)
            version.acrossGap = run.versions[*previous].step() + 1 != version.step();
        else if (run.layout->needsExternalBase()) // other layouts bring their first state: a checkpoint given beside is none of the chain
            version.onExternalBase = version.acrossGap = true;
    }

    std::string steps(std::int64_t first, std::int64_t last)
    {
        return first == last ? fmt::format("step {}", first) : fmt::format("steps {}-{}", first, last);
    }

    /// What the versions behind a gap can still be used for.
    Error gapProblem(const Run& run, const Gap& gap)
    {
        std::vector<std::int64_t> behind;
        std::optional<std::int64_t> healedAt;
        bool lost = false;
        for (const Version& version : run.versions) {
            if (version.epoch != gap.epoch || version.step() <= gap.last || healedAt)
                continue;
            if (version.kind == VersionKind::Anchor) {
                healedAt = version.step();
            } else {
                behind.push_back(version.step());
                lost = lost || (version.obstacle && version.obstacle->code == Code::ChainGap && &run.versions[version.obstacleAt] == &version);
            }
        }
        std::string text = fmt::format("{} {} no object", steps(gap.first, gap.last), gap.first == gap.last ? "has" : "have");
        text[0] = 'S';
        const std::string until = healedAt ? fmt::format(" until the complete anchor at step {}", *healedAt) : std::string();
        if (behind.empty())
            text += "; the next version is a complete anchor, so nothing else is affected";
        else if (lost)
            text += fmt::format(" and is lost: {} cannot be rebuilt{}", steps(behind.front(), behind.back()), until);
        else
            text += fmt::format(": an empty step or a lost file, the source cannot tell; {} are chained across the hole and "
                                "stay unproven{}",
                                steps(behind.front(), behind.back()), until);
        return Error { Code::ChainGap, text, run.store->uri(), gap.first, {} };
    }

    Error lossError(const Version& version)
    {
        const VersionFacts& facts = *version.facts;
        return Error { Code::ChainGap,
                       fmt::format("step {} assigns {} of {} elements the bits that they already have, which its writer does "
                                   "not do on an unbroken chain: {}",
                                   version.step(), facts.noops, facts.assigned,
                                   version.acrossGap
                                       ? fmt::format("something between step {} and it is lost", *version.baseStep)
                                       : fmt::format("it was not written against step {} as it is here", *version.baseStep)),
                       version.objects.name, version.step(),
                       "Materialize a version before it or the next complete anchor; --across-gap rebuilds this one all the same." };
    }

    /// Why a delta cannot be used although its own objects are sound: something that it builds on.
    void inheritObstacle(const Run& run, Version& version, std::size_t self)
    {
        if (version.base) {
            const Version& base = run.versions[*version.base];
            if (!base.obstacle)
                return;
            const Version& root = run.versions[base.obstacleAt];
            const Error& cause = *root.obstacle;
            const bool ofExternalBase = cause.code == Code::BaseMismatch || cause.code == Code::BaseMissing;
            version.obstacle = Error { ofExternalBase ? cause.code : Code::ChainGap,
                                       fmt::format("step {} builds on step {}, which cannot be used: {}", version.step(),
                                                   root.step(), cause.text),
                                       cause.where, cause.step, cause.action };
            version.obstacleAt = base.obstacleAt;
            return;
        }
        version.obstacleAt = self;
        if (!version.onExternalBase && version.summary && !version.summary->baseRoot.empty())
            version.obstacle = Error { Code::ChainGap,
                                       fmt::format("step {} was written against a state with root {}, which no version here has",
                                                   version.step(), version.summary->baseRoot),
                                       version.objects.name, version.step(), {} };
        else if (!version.onExternalBase)
            version.obstacle = Error { Code::ChainGap,
                                       fmt::format("step {} builds on step {}, which is missing", version.step(),
                                                   version.baseStep.value_or(0)),
                                       version.objects.name, version.baseStep, {} };
        else if (!run.base)
            version.obstacle = Error { Code::BaseMissing,
                                       fmt::format("step {} builds on a checkpoint outside of the source (version {}), which "
                                                   "was not given",
                                                   version.step(), version.baseStep.value_or(0)),
                                       version.objects.name, version.step(), {} };
    }

    bool hasRecordedRoot(const VersionFacts& facts)
    {
        return facts.rootCheck == VersionFacts::RootCheck::None || facts.rootCheck == VersionFacts::RootCheck::Matches;
    }

    void assessVersion(Run& run, std::size_t self, const VersionSummary* reference, double usualNoops)
    {
        Version& version = run.versions[self];
        version.obstacle.reset();
        version.obstacleAt = self;
        version.lossProven = false;
        version.proven = true;
        version.problems = version.objects.notes;
        version.state = VersionState::Complete;

        if (version.beingWritten) {
            version.state = VersionState::Publishing;
            version.obstacle = Error { Code::Publishing,
                                       version.failure ? "not whole yet: " + version.failure->text
                                                       : "part of it is not written yet although its size stands",
                                       version.objects.name, version.step(), {} };
        } else if (version.failure) {
            version.state = VersionState::Broken;
            version.obstacle = atStep(*version.failure, version.step());
            if (version.obstacle->where.empty())
                version.obstacle->where = version.objects.name;
        } else if (version.facts && version.facts->damage) {
            if (version.facts->damage->code != Code::Unsupported)
                version.state = VersionState::Broken;
            version.obstacle = version.facts->damage;
        }

        if (version.summary)
            version.problems.insert(version.problems.end(), version.summary->notes.begin(), version.summary->notes.end());
        if (version.kind == VersionKind::PartialAnchor && reference)
            version.problems.push_back(Error {
                Code::PartialAnchor,
                fmt::format("the anchor at step {} holds {} of {} tensors; the others are carried over from step {}",
                            version.step(), version.summary->tensors, reference->tensors, version.baseStep.value_or(0)),
                version.objects.name, version.step(), {} });

        if (!version.obstacle && version.kind == VersionKind::Anchor && version.facts && !hasRecordedRoot(*version.facts)) {
            version.state = VersionState::Broken;
            version.obstacle = rootFailure(*version.facts, version.objects, version.summary->root);
        }

        // What was replayed up to an anchor is no state that ever existed if something on the way is lost.
        const bool follows = self > 0 && run.versions[self - 1].epoch == version.epoch;
        if (version.facts && version.kind == VersionKind::Anchor && follows && run.versions[self - 1].obstacle)
            version.facts->changedVsPrevious.reset();

        if (version.kind != VersionKind::Anchor) {
            if (!version.obstacle)
                inheritObstacle(run, version, self);
            // Behind an unusable base every digest fails; that says nothing about this version.
            if (!version.obstacle && version.facts && version.facts->digestsFailed > 0) {
                version.state = VersionState::Broken;
                version.obstacle = digestFailure(*version.facts, version.objects, version.onExternalBase);
            }
            if (!version.obstacle && version.facts && !hasRecordedRoot(*version.facts)) {
                version.state = VersionState::Broken;
                version.obstacle = rootFailure(*version.facts, version.objects, version.summary->root);
            }
            version.proven = !version.acrossGap && (!version.base || run.versions[*version.base].proven);
            const bool damaged = version.obstacle && version.obstacleAt == self;
            version.lossProven = !damaged && provesLoss(version, usualNoops);
            if (version.lossProven && !version.obstacle)
                version.obstacle = lossError(version);
            if (!version.obstacle && !version.proven)
                version.problems.push_back(Error {
                    Code::Unproven,
                    fmt::format("step {} is chained across a missing number; nothing in the files proves that nothing was lost",
                                version.step()),
                    version.objects.name, version.step(), {} });
            if (version.state == VersionState::Complete && version.summary && version.summary->tensors == 0)
                version.state = VersionState::Noop;
        }
        if (version.obstacle)
            version.problems.insert(version.problems.begin(), *version.obstacle);
    }

    /// Without the first full version of an epoch, the largest that is left stands for the whole model: nothing proves that it is.
    void assessReference(Run& run, int epoch)
    {
        if (run.layout->standAlone() || run.layout->needsExternalBase())
            return;
        const Version* first = nullptr;
        for (const Version& version : run.versions) {
            if (version.epoch != epoch)
                continue;
            if (version.isFull() && version.step() <= 1)
                return;
            if (!first && version.kind == VersionKind::Anchor)
                first = &version;
        }
        if (first && first->summary && first->summary->root.empty()) // a recorded root is that of the whole state
            run.problems.push_back(Error {
                Code::PartialAnchor,
                fmt::format("the first full version of epoch {} is gone, so nothing proves that the anchor at step {} with its {} "
                            "tensors holds the whole model",
                            epoch, first->step(), first->summary->tensors),
                first->objects.name, first->step(), "Compare its tensors with those of the model: show lists them." });
    }

    /// Anchors that moved further from the replayed state than deltas of this run do.
    void assessDrift(Run& run)
    {
        std::vector<std::uint64_t> recent;
        std::uint64_t noops = 0;
        std::uint64_t assigned = 0;
        int epoch = 0;
        for (Version& version : run.versions) {
            if (std::exchange(epoch, version.epoch) != version.epoch)
                recent.clear();
            if (!version.facts)
                continue;
            if (version.kind == VersionKind::Delta) {
                recent.push_back(version.facts->changedElements);
                if (!version.lossProven && version.proven && version.facts->digestsChecked == 0) {
                    noops += version.facts->noops;
                    assigned += version.facts->assigned;
                }
                continue;
            }
            const std::size_t window = std::min<std::size_t>(recent.size(), 10);
            if (version.facts->changedVsPrevious && window >= 2) {
                const std::uint64_t largest = *std::max_element(recent.end() - static_cast<std::ptrdiff_t>(window), recent.end());
                if (*version.facts->changedVsPrevious > largest + largest / 2)
                    version.problems.push_back(Error {
                        Code::AnchorDrift,
                        fmt::format("the anchor at step {} differs from the replayed state before it in {} elements; the largest "
                                    "of the last {} deltas changed {}",
                                    version.step(), *version.facts->changedVsPrevious, window, largest),
                        version.objects.name, version.step(), {} });
            }
        }
        if (noops > 0)
            run.problems.push_back(
                Error { Code::Noop,
                        fmt::format("the deltas assign {} of {} elements bits that they already have ({:.2f} %): the writer's change "
                                    "detection is approximate, so the served state (replay) can drift from the trained one (anchors)",
                                    noops, assigned, 100.0 * static_cast<double>(noops) / static_cast<double>(assigned)),
                        run.store->uri(), std::nullopt, "compare anchors with the replay: verify --level 4" });
    }

}

Error digestFailure(const VersionFacts& facts, const VersionObjects& version, bool onExternalBase)
{
    if (onExternalBase && facts.digestsFailed >= 2 && facts.digestsFailed * 2 > facts.digestsChecked)
        return Error { Code::BaseMismatch,
                       fmt::format("the base checkpoint is not the one that this chain was written against: {} of the {} tensors "
                                   "that step {} changes fail their digest, {} first",
                                   facts.digestsFailed, facts.digestsChecked, version.step, facts.firstFailedTensor),
                       version.name, version.step, {} };
    return Error { Code::Digest,
                   fmt::format("{} has digest {} behind step {}, its publisher recorded {}: the delta, the state before or the "
                               "record is wrong ({} of {} tensors fail)",
                               facts.firstFailedTensor, facts.actualDigest, version.step, facts.expectedDigest, facts.digestsFailed,
                               facts.digestsChecked),
                   version.name, version.step, {} };
}

Error rootFailure(const VersionFacts& facts, const VersionObjects& version, std::string_view recorded)
{
    if (facts.rootCheck == VersionFacts::RootCheck::BaseDiffers)
        return Error { Code::BaseMismatch,
                       fmt::format("the base checkpoint has root {}, step {} was written against another one", facts.actualRoot, version.step),
                       version.name, version.step, {} };
    return Error { Code::Digest,
                   fmt::format("the state behind step {} has root {}, its publisher recorded {}: the object or what it builds on is damaged",
                               version.step, facts.actualRoot, recorded),
                   version.name, version.step, {} };
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

VersionSummary VersionSummary::of(const VersionIndex& index)
{
    VersionSummary summary;
    summary.full = index.full;
    summary.declaredBase = index.declaredBase;
    summary.encoding = index.encoding;
    summary.digests = index.digests;
    summary.tensors = static_cast<std::uint32_t>(index.tensors.size());
    summary.storedElements = index.storedElements();
    summary.countsKnown = index.countsKnown();
    summary.notes = index.notes;
    summary.run = index.fact(fact::Run);
    summary.baseRoot = index.fact(fact::Base);
    summary.root = index.fact(fact::Root);
    summary.origin = index.fact(fact::Origin);
    std::string names;
    for (const TensorEntry& entry : index.tensors) {
        names += entry.name;
        names += '\0';
        if (entry.info)
            names += fmt::format("{}:{}", word(entry.info->dtype), fmt::join(entry.info->shape, ","));
        names += '\0';
    }
    summary.nameSet = xxh3(asBytes(names));
    return summary;
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

double usualNoopRate(const Run& run)
{
    std::vector<double> rates;
    bool behindGap = false;
    int epoch = 0;
    for (const Version& version : run.versions) {
        if (std::exchange(epoch, version.epoch) != version.epoch || version.kind == VersionKind::Anchor)
            behindGap = false;
        behindGap = behindGap || version.acrossGap;
        if (version.kind == VersionKind::Delta && version.facts && version.facts->assigned > 0 && !behindGap)
            rates.push_back(static_cast<double>(version.facts->noops) / static_cast<double>(version.facts->assigned));
    }
    if (rates.empty())
        return 0;
    const auto middle = rates.begin() + static_cast<std::ptrdiff_t>((rates.size() - 1) / 2);
    std::nth_element(rates.begin(), middle, rates.end());
    return *middle;
}

bool provesLoss(const Version& version, double usualRate) noexcept
{
    if (!version.facts || version.facts->noops == 0 || version.facts->digestsChecked > 0 || version.facts->rootCheck != VersionFacts::RootCheck::None)
        return false;
    return static_cast<double>(version.facts->noops) > 4.0 * usualRate * static_cast<double>(version.facts->assigned);
}

void assess(Run& run)
{
    run.problems.clear();
    std::map<int, const VersionSummary*> references;
    for (int epoch = 0; epoch < run.epochs(); ++epoch)
        references[epoch] = referenceOf(run, epoch);
    const double usualNoops = usualNoopRate(run);
    for (std::size_t i = 0; i < run.versions.size(); ++i)
        assessVersion(run, i, references[run.versions[i].epoch], usualNoops);
    assessDrift(run);
    for (int epoch = 0; epoch < run.epochs(); ++epoch)
        assessReference(run, epoch);
    for (const Gap& gap : run.gaps)
        run.problems.push_back(gapProblem(run, gap));
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        const Version& version = run.versions[i];
        if (i == 0 || version.epoch == run.versions[i - 1].epoch || run.epochs() < 2)
            continue;
        const Version& old = run.versions[i - 1];
        if (old.step() < version.step()) // a publisher that began another epoch behind the old one, on purpose
            continue;
        std::int64_t firstOld = old.step();
        for (const Version& other : run.versions) {
            if (other.epoch == old.epoch)
                firstOld = std::min(firstOld, other.step());
        }
        run.problems.push_back(Error {
            Code::Fork,
            fmt::format("the trainer started again: {} are older than every newer step below them; they are the tail of "
                        "an earlier run (epoch {}) and are not chained onto epoch {}",
                        steps(firstOld, old.step()), old.epoch, version.epoch),
            run.store->uri(), firstOld, fmt::format("address the earlier run as SOURCE@{}:STEP", old.epoch) });
    }
}

Run buildLineage(std::shared_ptr<const ObjectStore> store, std::shared_ptr<const Layout> layout,
                 std::optional<ExternalBase> base, std::vector<IndexedObjects> versions, std::int64_t nowUs)
{
    Run run;
    run.store = std::move(store);
    run.layout = std::move(layout);
    run.base = std::move(base);

    std::vector<int> epochs(versions.size(), 0);
    if (!run.layout->standAlone()) {
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
    run.versions.reserve(versions.size());
    for (std::size_t i = 0; i < versions.size(); ++i) {
        IndexedObjects& from = versions[i];
        Version version;
        version.epoch = epochs[i];
        version.beingWritten = looksUnfinished(from) && nowUs - from.objects.publishedUs() < settleUs;
        version.objects = std::move(from.objects);
        version.summary = std::move(from.summary);
        version.failure = std::move(from.failure);
        run.versions.push_back(std::move(version));
    }
    std::stable_sort(run.versions.begin(), run.versions.end(), [](const Version& a, const Version& b) {
        return a.epoch != b.epoch ? a.epoch < b.epoch : a.step() < b.step();
    });

    std::optional<std::size_t> previous;
    const VersionSummary* reference = nullptr;
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        Version& version = run.versions[i];
        if (i == 0 || run.versions[i - 1].epoch != version.epoch) {
            previous.reset();
            reference = referenceOf(run, version.epoch);
        }
        if (version.summary && version.summary->full)
            version.kind = run.layout->standAlone() || version.summary->tensors >= reference->tensors ? VersionKind::Anchor
                                                                                                    : VersionKind::PartialAnchor;
        link(run, i, previous);
        const std::int64_t expected = previous ? run.versions[*previous].step() + 1 : version.baseStep.value_or(0) + 1;
        if (!run.layout->standAlone() && previous && expected < version.step())
            run.gaps.push_back(Gap { version.epoch, expected, version.step() - 1 });
        previous = i;
    }
    for (int epoch = 0; epoch < epochCount; ++epoch) {
        if (run.base && run.layout->needsExternalBase())
            run.totalElements[static_cast<std::size_t>(epoch)] = run.base->elements;
        else if (const VersionSummary* reference = referenceOf(run, epoch))
            run.totalElements[static_cast<std::size_t>(epoch)] = reference->storedElements;
    }
    assess(run);
    return run;
}

} // namespace deltascope
