#include "format/common/quote_name.h"
#include "lineage/base_first.h"
#include "lineage/claims.h"
#include "lineage/drift.h"
#include "lineage/forks.h"
#include "lineage/gone.h"
#include "lineage/health.h"
#include "lineage/noops.h"
#include "lineage/reference.h"
#include "lineage/restored.h"
#include "lineage/reverted.h"
#include "lineage/twice.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace deltascope {

namespace {

std::string steps(std::int64_t first, std::int64_t last)
{
    return first == last ? fmt::format("step {}", first) : fmt::format("steps {}-{}", first, last);
}

/// Whether the version behind a gap was written against the one in front of it, so that nothing can be lost between
/// them.
bool isEmpty(const Run& run, const Gap& gap)
{
    const auto behind = std::find_if(run.versions.begin(), run.versions.end(), [&](const Version& version) {
        return version.epoch == gap.epoch && version.step() > gap.last;
    });
    return behind != run.versions.end() && behind->base && !behind->acrossGap;
}

/// Whether every version that is missing there was here, which is reported apart.
bool allGone(const Run& run, const Gap& gap)
{
    for (std::int64_t step = gap.first; step <= gap.last; ++step) {
        if (!isGone(run, gap.epoch, step))
            return false;
    }
    return true;
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
        if (version.kind == VersionKind::Anchor && !version.failure) {
            healedAt = version.step();
        } else {
            behind.push_back(version.step());
            lost = lost
                || (version.obstacle && version.obstacle->code == Code::ChainGap
                    && &run.versions[version.obstacleAt] == &version);
        }
    }
    std::string text =
        fmt::format("{} {} no object", steps(gap.first, gap.last), gap.first == gap.last ? "has" : "have");
    text[0] = 'S';
    const std::string until =
        healedAt ? fmt::format(" until the complete anchor at step {}", *healedAt) : std::string();
    if (behind.empty())
        text += "; the next version is a complete anchor, so nothing else is affected";
    else if (lost)
        text += fmt::format(" and is lost: {} cannot be rebuilt{}", steps(behind.front(), behind.back()), until);
    else
        text +=
            fmt::format(": an empty step or a lost file, the source cannot tell; {} are chained across the hole and "
                        "stay unproven{}",
                        steps(behind.front(), behind.back()), until);
    return Error { Code::ChainGap, text, run.store->uri(), gap.first, {} };
}

/// Why a version cannot be used that builds on one that was here.
Error goneError(const Version& version, const GoneVersion& gone)
{
    return Error { Code::Vanished,
                   fmt::format("step {} builds on step {}, which was here and is gone", version.step(), gone.step),
                   gone.name, gone.step,
                   "Put it back if there is a copy of it, or materialize a version before it or the next complete "
                   "anchor." };
}

Error lossError(const Run& run, const Version& version)
{
    const VersionFacts& facts = *version.facts;
    const Version& origin = run.versions[version.unprovenAt]; // perhaps a missing number further in front
    const Version* last = version.base ? &run.versions[*version.base] : nullptr;
    const Version* full = last; // the last one in front with files
    while (full && isEmptyFolder(*full))
        full = full->base ? &run.versions[*full->base] : nullptr;
    return Error { Code::ChainGap,
                   fmt::format(
                       "step {} assigns {} of {} elements the bits that they already have, which its writer does "
                       "not do on an unbroken chain: {}",
                       version.step(), facts.noops, facts.assigned,
                       origin.acrossGap ? fmt::format("something between step {} and it is lost", *origin.baseStep)
                           : last != full
                           ? fmt::format("the files of {}, whose folder is there and empty, are lost",
                                         steps(full ? full->step() + 1 : 1, last->step()))
                           : fmt::format("it was not written against step {} as it is here", *version.baseStep)),
                   version.objects.name, version.step(),
                   "Materialize a version before it or the next complete anchor; materialize --across-gap rebuilds "
                   "this one all the same." };
}

/// What a version builds on, in words: its step, or its id where that has no step here.
std::string baseInWords(const Version& version)
{
    const bool isKnownById = version.summary && version.summary->baseById != BaseById::Declared;
    return isKnownById ? "version " + quoteName(version.summary->baseId)
                       : fmt::format("step {}", version.baseStep.value_or(0));
}

bool beginsOnExternalBase(const Run& run, const Version& version)
{
    const Version* first = &version;
    while (first->base)
        first = &run.versions[*first->base];
    return first->onExternalBase;
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
        version.obstacle =
            Error { Code::ChainGap,
                    fmt::format("step {} was written against a state with root {}, which no version here has",
                                version.step(), version.summary->baseRoot),
                    version.objects.name,
                    version.step(),
                    {} };
    else if (!version.onExternalBase)
        version.obstacle =
            Error { Code::ChainGap,
                    fmt::format("step {} builds on {}, which is missing", version.step(), baseInWords(version)),
                    version.objects.name,
                    version.baseStep,
                    {} };
    else if (!run.base)
        version.obstacle =
            Error { Code::BaseMissing,
                    fmt::format("step {} builds on a checkpoint outside of the source (version {}), which "
                                "was not given",
                                version.step(),
                                version.summary && version.summary->baseById == BaseById::Outside
                                    ? quoteName(version.summary->baseId)
                                    : fmt::to_string(version.baseStep.value_or(0))),
                    version.objects.name,
                    version.step(),
                    {} };
}

/// What the publisher recorded of the state behind a version; empty if nothing.
std::string_view recordedState(const VersionSummary& summary)
{
    return summary.root.empty() ? summary.stateDigest : summary.root;
}

bool hasRecordedRoot(const VersionFacts& facts)
{
    return facts.rootCheck == VersionFacts::RootCheck::None || facts.rootCheck == VersionFacts::RootCheck::Matches;
}

/// Why nothing proves that a version has the bits that the trainer had.
std::string doubtAbout(const Run& run, const Version& version, std::size_t self)
{
    const Version& origin = run.versions[version.unprovenAt];
    if (version.mayGrow)
        return fmt::format(
            "step {} is the newest and was touched a moment ago; its layout has no marker, so more of it "
            "may be on its way",
            version.step());
    if (origin.acrossGap || !origin.facts) // its own objects, or those of the form that stands in for them
        return fmt::format(
            "step {} is chained across a missing number; nothing in the files proves that nothing was lost",
            version.step());
    if (version.unprovenAt != self)
        return fmt::format("step {} builds on step {}, in front of which something may be lost: {} of its {} "
                           "assignments change nothing",
                           version.step(), origin.step(), origin.facts->noops, origin.facts->assigned);
    return fmt::format("step {} assigns {} of {} elements the bits that they already have: more than the habit of its "
                       "writer explains, or no habit is known, and too few to prove that something in front of it is "
                       "lost",
                       version.step(), version.facts->noops, version.facts->assigned);
}

/// Whether the own objects of a version were read or replayed and are wrong, so that a copy of them may be right.
bool hasDamagedObjects(const Version& version)
{
    return version.failure
        || (version.facts
            && (version.facts->damage || version.facts->digestsFailed > 0
                || version.facts->rootCheck == VersionFacts::RootCheck::Differs));
}

/// Why an other form of a version cannot be used; nothing if it can.
std::optional<Error> obstacleOf(const Run& run, const Version& version, std::size_t number)
{
    const OtherForm& form = version.otherForms[number - 1];
    const VersionObjects& objects = version.objectsOf(number);
    const auto because = [&](Code code, std::string text) {
        return Error { code, std::move(text), objects.name, version.step(), {} };
    };
    if (!objects.lacks.empty())
        return because(Code::Unfinished,
                       fmt::format("it is not whole: a mirror holds {} of it", quoteName(objects.lacks)));
    if (form.failure)
        return atStep(*form.failure, version.step());
    if (const FormFacts* facts = version.factsOf(number); facts && facts->damage)
        return *facts->damage;
    if (version.beingWritten)
        return because(Code::Publishing, "its version is still being written");
    if (!form.summary)
        return because(Code::Unfinished, "its headers were not read");
    if (version.originalOf(number) == 0U && version.obstacle && !hasDamagedObjects(version))
        return version.obstacle; // the same bytes once more do not help
    if (form.isComplete())
        return std::nullopt;
    if (form.onExternalBase)
        return run.base ? std::nullopt
                        : std::optional(because(
                            Code::BaseMissing, "it builds on a checkpoint outside of the source, which was not given"));
    if (!form.base)
        return because(Code::ChainGap,
                       fmt::format("it builds on step {}, which is missing", form.baseStep.value_or(0)));
    const Version& base = run.versions[*form.base];
    if (base.obstacle)
        return because(Code::ChainGap,
                       fmt::format("it builds on step {}, which cannot be used: {}", base.step(), base.obstacle->text));
    return std::nullopt;
}

/// "is rebuilt from its full form": what stands in for the objects of a version that cannot be used.
std::string insteadOf(const Run& run, const Version& version, std::size_t number)
{
    const OtherForm& form = version.otherForms[number - 1];
    if (version.originalOf(number) || !(form.isComplete() || form.base))
        return fmt::format("step {} is rebuilt from {}, for the source's own form of it", version.step(),
                           version.objectsOf(number).name);
    if (form.isComplete() && version.kind != VersionKind::Anchor)
        return fmt::format("step {} is rebuilt from its full form, for its delta", version.step());
    if (form.isComplete())
        return fmt::format("step {} is rebuilt from {}, for its anchor", version.step(),
                           version.objectsOf(number).name);
    return fmt::format("step {} is rebuilt from step {} by {}, for its {}", version.step(),
                       run.versions[*form.base].step(), version.objectsOf(number).name,
                       version.kind == VersionKind::Anchor ? "anchor" : "delta");
}

void tellDifference(Version& version, std::size_t number, const FormFacts& facts)
{
    if (version.rewrittenForms.contains(number) || version.rewrittenForms.contains(facts.comparedWith))
        return;
    const std::string& name = version.objectsOf(number).name;
    if (version.fullForm() == number && facts.comparedWith == 0) {
        version.problems.push_back(
            Error { Code::AnchorDrift,
                    fmt::format("the full form of step {} (trained state) differs in {} elements from what its deltas "
                                "lead to (served state){}",
                                version.step(), *facts.differs, signsAmong(facts.zeroSigns)),
                    name, version.step(),
                    "materialize --state served or --state trained chooses one; diff shows the tensors" });
        return;
    }
    version.formsDiffer = true;
    version.problems.push_back(
        Error { Code::FormsDiffer,
                fmt::format("{} and {} are two ways to the state of step {} and lead to different bits in {} of its "
                            "elements; no digest tells which of them is right",
                            name, version.objectsOf(facts.comparedWith).name, version.step(), *facts.differs),
                name,
                version.step(),
                {} });
}

/// A version with another form stands whatever happened to its own objects and to what they build on.
void assessOtherForms(Run& run, Version& version, std::size_t self)
{
    version.formsDiffer = false;
    std::optional<std::size_t> standsIn; ///< the best of those that can be used
    bool standInProven = false;
    bool standInLossy = false;
    for (std::size_t number = 1; number < version.forms(); ++number) {
        OtherForm& form = version.otherForms[number - 1];
        form.obstacle = obstacleOf(run, version, number);
        const FormFacts* facts = version.factsOf(number);
        if (form.failure || (facts && facts->damage)) {
            version.problems.push_back(*form.obstacle);
            const bool isCopy = version.originalOf(number).has_value(); // the original may be as it was
            if (isCopy && form.obstacle->code == Code::Rewritten)
                version.problems.back().code = Code::Mirror;
        }
        if (form.obstacle)
            continue;
        if (facts && differsInBits(form, *facts) && !isCandidate(version, number))
            tellDifference(version, number, *facts);
        const Version* base = form.base ? &run.versions[*form.base] : nullptr;
        const bool isDoubtful = form.acrossGap || (version.originalOf(number) == 0U && version.noopsUnexplained);
        const bool proven = form.isComplete() || (!isDoubtful && (!base || base->proven));
        const bool lossy = !form.isComplete() && (form.summary->lossy || (base && base->lossy));
        if (standsIn && std::pair(standInProven, !standInLossy) >= std::pair(proven, !lossy))
            continue;
        standsIn = number;
        standInProven = proven;
        standInLossy = lossy;
    }
    if (!standsIn)
        return;
    if (!version.proven && standInProven) {
        version.proven = true;
        version.unprovenAt = self;
    }
    version.lossy = version.lossy && standInLossy;
    if (!version.obstacle || version.beingWritten)
        return;
    const bool isFirstOfEpoch = self == 0 || run.versions[self - 1].epoch != version.epoch;
    version.proven = standInProven;
    const std::optional<std::size_t> standInBase = version.otherForms[*standsIn - 1].base;
    version.unprovenAt = standInProven || !standInBase ? self : run.versions[*standInBase].unprovenAt;
    version.lossy = standInLossy;
    version.ownFormObstacle = version.obstacle;
    version.obstacle->text =
        fmt::format("{} cannot be used: {}", insteadOf(run, version, *standsIn), version.obstacle->text);
    version.problems.insert(version.problems.begin(), *version.obstacle);
    if (isFirstOfEpoch && version.obstacle->code == Code::ChainGap && !version.base)
        version.problems.front().code = Code::Retired; // retention took what its delta builds on
    version.obstacle.reset();
    version.obstacleAt = self;
    version.lossProven = false;
}

void assessVersion(Run& run, std::size_t self, const VersionSummary* reference, NoopVerdict noops)
{
    Version& version = run.versions[self];
    version.obstacle.reset();
    version.obstacleAt = self;
    version.lossProven = false;
    version.ownFormObstacle.reset();
    version.proven = true;
    version.unprovenAt = self;
    version.noopsUnexplained = false;
    version.driftAlarm = false;
    version.farFromReplay = false;
    version.lossy = version.kind == VersionKind::Delta
        && ((version.summary && version.summary->lossy) || (version.base && run.versions[*version.base].lossy));
    version.problems.clear();
    for (const Error& note : version.objects.notes) {
        const bool isOfNoVersion =
            note.code == Code::Unfinished && note.step.value_or(version.step()) != version.step();
        (isOfNoVersion ? run.problems : version.problems).push_back(note);
    }
    version.state = VersionState::Complete;

    if (version.beingWritten) {
        version.state = VersionState::Publishing;
        version.obstacle =
            Error { Code::Publishing,
                    version.failure ? "not whole yet: " + version.failure->text
                                    : "part of it is not written yet although its size stands",
                    version.failure && !version.failure->where.empty() ? version.failure->where : version.objects.name,
                    version.step(),
                    {} };
    } else if (version.failure) {
        version.state = VersionState::Broken;
        version.obstacle = atStep(*version.failure, version.step());
        if (version.obstacle->where.empty())
            version.obstacle->where = version.objects.name;
    } else if (version.facts && version.facts->damage) {
        if (version.facts->damage->code != Code::Unsupported && version.facts->damage->code != Code::Fork)
            version.state = VersionState::Broken;
        version.obstacle = version.facts->damage;
    }

    for (Error note : version.summary ? version.summary->notes : std::vector<Error>()) {
        if (note.where.empty())
            note.where = version.objects.name;
        version.problems.push_back(atStep(std::move(note), version.step()));
    }
    if (version.kind == VersionKind::PartialAnchor && reference)
        version.problems.push_back(Error {
            Code::PartialAnchor,
            fmt::format("the anchor at step {} holds {} of {} tensors; the others are carried over from step {}",
                        version.step(), version.summary->tensors, reference->tensors, version.baseStep.value_or(0)),
            version.objects.name,
            version.step(),
            {} });

    if (!version.obstacle && version.kind == VersionKind::Anchor && version.facts && version.facts->digestsFailed > 0) {
        version.state = VersionState::Broken;
        version.obstacle = digestFailure(*version.facts, version.objects, false);
    }
    if (!version.obstacle && version.kind == VersionKind::Anchor && version.facts && !hasRecordedRoot(*version.facts)) {
        version.state = VersionState::Broken;
        version.obstacle = rootFailure(*version.facts, version.objects, recordedState(*version.summary));
    }

    // What was replayed up to an anchor is no state that ever existed if something on the way is lost.
    const bool follows = self > 0 && run.versions[self - 1].epoch == version.epoch;
    if (version.facts && version.kind == VersionKind::Anchor && follows && run.versions[self - 1].obstacle)
        version.facts->changedVsPrevious.reset();

    if (version.kind != VersionKind::Anchor) {
        const GoneVersion* gone = run.goneBefore(version);
        const bool unusable = version.obstacle.has_value(); // for a reason of its own, whatever was before it
        if (!unusable) {
            inheritObstacle(run, version, self);
            if (gone && (!version.obstacle || version.obstacleAt == self))
                version.obstacle = goneError(version, *gone);
        }
        // Behind an unusable base every digest fails; that says nothing about this version.
        const bool otherBase = version.facts && version.facts->rootCheck == VersionFacts::RootCheck::BaseDiffers;
        if (!version.obstacle && version.facts && version.facts->digestsFailed > 0 && !otherBase) {
            version.state = VersionState::Broken;
            version.obstacle = digestFailure(*version.facts, version.objects, version.onExternalBase);
            if (version.obstacle->code == Code::Digest && beginsOnExternalBase(run, version))
                version.obstacle->action = BaseFirst;
        }
        if (!version.obstacle && version.facts && !hasRecordedRoot(*version.facts)) {
            version.state = VersionState::Broken;
            version.obstacle = rootFailure(*version.facts, version.objects, recordedState(*version.summary));
        }
        const bool damaged = version.obstacle && version.obstacleAt == self;
        version.lossProven = (!damaged && noops == NoopVerdict::Loss) || (gone && version.base && !unusable);
        version.noopsUnexplained = !damaged && noops == NoopVerdict::Unexplained;
        const bool ownDoubt = version.acrossGap || version.mayGrow || version.noopsUnexplained;
        const Version* base = version.base ? &run.versions[*version.base] : nullptr;
        version.proven = !ownDoubt && (!base || base->proven);
        if (!ownDoubt && !version.proven)
            version.unprovenAt = base->unprovenAt;
        if (version.lossProven && !version.obstacle)
            version.obstacle = lossError(run, version);
        if (!version.obstacle && !version.proven)
            version.problems.push_back(
                Error { Code::Unproven, doubtAbout(run, version, self), version.objects.name, version.step(), {} });
        if (version.state == VersionState::Complete && version.summary && version.summary->tensors == 0)
            version.state = VersionState::Noop;
    }
    assessOtherForms(run, version, self);
    refuseUndecided(version, self);
    if (version.lossy)
        version.problems.push_back(
            Error { Code::Lossy,
                    fmt::format("step {} is rebuilt by adding rounded differences: nothing proves that it has the bits "
                                "that the trainer had, and it is never called verified",
                                version.step()),
                    version.objects.name,
                    version.step(),
                    {} });
    if (version.obstacle)
        version.problems.insert(version.problems.begin(), *version.obstacle);
}

/// Without the first full version of an epoch, the largest that is left stands for the whole model: nothing proves that
/// it is.
void assessReference(Run& run, int epoch)
{
    if (!run.layout->anchorsMayBePartial())
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
            fmt::format(
                "the first full version of epoch {} is gone, so nothing proves that the anchor at step {} with its {} "
                "tensors holds the whole model",
                epoch, first->step(), first->summary->tensors),
            first->objects.name, first->step(), "Compare its tensors with those of the model: show lists them." });
}

/// Anchors that name other tensors than the one before them: a name was damaged, or the model is another one. What
/// stands alone may be another model; compareCheckpoints() says how it differs.
void assessNames(Run& run)
{
    if (run.layout->standAlone())
        return;
    const Version* before = nullptr;
    for (Version& version : run.versions) {
        if (before && before->epoch != version.epoch)
            before = nullptr;
        if (version.kind != VersionKind::Anchor || !version.summary || version.failure)
            continue;
        if (before && before->summary->nameSet != version.summary->nameSet)
            version.problems.push_back(Error {
                Code::Claim,
                fmt::format("the anchor at step {} holds {} tensors, of other names, types or shapes than the {} at "
                            "step {}",
                            version.step(), version.summary->tensors, before->summary->tensors, before->step()),
                version.objects.name, version.step(), "diff between the two steps shows which" });
        before = &version;
    }
}

}

void assess(Run& run)
{
    run.problems = run.sourceNotices;
    if (run.recordsLost)
        run.problems.push_back(*run.recordsLost);
    weighGone(run);
    std::map<int, const VersionSummary*> references;
    for (int epoch = 0; epoch < run.epochs(); ++epoch)
        references[epoch] = referenceOf(run, epoch);
    const std::vector<NoopVerdict> noops = judgeNoops(run);
    for (std::size_t i = 0; i < run.versions.size(); ++i)
        assessVersion(run, i, references[run.versions[i].epoch], noops[i]);
    assessDrift(run);
    assessReverted(run);
    assessRestored(run);
    assessHealth(run);
    assessHabit(run);
    assessNames(run);
    assessAbsentDigests(run);
    assessLostFiles(run);
    assessEmpty(run);
    for (int epoch = 0; epoch < run.epochs(); ++epoch)
        assessReference(run, epoch);
    for (const Gap& gap : run.gaps) {
        if (!isEmpty(run, gap) && !allGone(run, gap))
            run.problems.push_back(gapProblem(run, gap));
    }
    reportGone(run);
    reportForks(run);
}

} // namespace deltascope
