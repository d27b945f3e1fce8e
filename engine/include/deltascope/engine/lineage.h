#pragma once

#include "deltascope/engine/evidence.h"
#include "deltascope/engine/hash_tree.h"
#include "deltascope/engine/health.h"
#include "deltascope/engine/layout.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace deltascope {

enum class VersionKind : std::uint8_t { Anchor, PartialAnchor, Delta };
std::string_view word(VersionKind kind) noexcept; ///< "anchor", "partial_anchor", "delta"

enum class VersionState : std::uint8_t {
    Complete,
    Publishing, ///< objects seen, not whole yet; not used
    Broken, ///< unreadable, or proven to be damaged
    Noop, ///< published without any change
};
std::string_view word(VersionState state) noexcept;

/// What is known of a base that a version names by its id.
enum class BaseById : std::uint8_t {
    Declared, ///< VersionSummary::declaredBase is its step
    Outside, ///< it has no object here, and all versions stand behind it
    Missing, ///< it is not here
};

/// What the headers of a version say, small enough to keep for every step of a long run.
struct VersionSummary {
    bool full = false;
    std::optional<std::int64_t> declaredBase;
    /// VersionIndex::id; of a complete version also the id by which the next one names it.
    std::string id;
    std::string baseId;
    BaseById baseById = BaseById::Declared; ///< of what baseId names
    std::string encoding;
    bool lossy = false;
    DigestAlgorithm digests = DigestAlgorithm::None;
    std::string stateDigest; ///< hex; empty if none is recorded
    bool hasChecksums = false; ///< VersionIndex::hasChecksums
    std::uint32_t tensors = 0; ///< tensors that it holds or changes
    std::uint64_t storedElements = 0;
    bool countsKnown = false; ///< storedElements is meaningful
    std::string run; ///< fact::Run, and so on; empty in what others wrote
    std::string baseRoot;
    std::string root;
    std::string origin;
    std::string branch; ///< run and step that it says it begins with (fact::Branch); empty: none
    std::optional<std::int64_t> restores; ///< step whose state it says that it has again; see restoredVersion()
    Digest128 nameSet {}; ///< over names (and dtype and shape of full tensors): equal sets, equal digest
    std::vector<Error> notes;

    static VersionSummary of(const VersionIndex& index);
};

/// Assignments of deltas, and how many of them set bits that were there already (NaN elements left out).
struct NoopCounts {
    std::uint64_t noops = 0;
    std::uint64_t assigned = 0;

    NoopCounts& operator+=(const NoopCounts& other) noexcept
    {
        noops += other.noops;
        assigned += other.assigned;
        return *this;
    }
    NoopCounts& operator-=(const NoopCounts& other) noexcept
    {
        noops -= other.noops;
        assigned -= other.assigned;
        return *this;
    }
    double share() const noexcept
    {
        return assigned == 0 ? 0 : static_cast<double>(noops) / static_cast<double>(assigned);
    }
    bool operator==(const NoopCounts&) const = default;
};

/// A tensor in which an anchor is further from the replayed state before it than its own last deltas explain.
struct TensorDrift {
    std::string name;
    std::uint64_t differs = 0; ///< elements, those of PatchCounts::zeroSigns left out
    std::uint64_t usual = 0; ///< changed elements of the delta that is the measure
    /// Instead, how many elements moved over eight times the largest distance of its last deltas; 0: not the reason.
    std::uint64_t farMoved = 0;

    bool operator==(const TensorDrift&) const = default;
};

/// A tensor that an anchor holds as an earlier state had it, although deltas have changed it since.
struct RevertedTensor {
    std::string name;
    std::int64_t step = 0; ///< of that state
    std::uint64_t changed = 0; ///< elements that the deltas behind that state changed, each time counted

    bool operator==(const RevertedTensor&) const = default;
};

/// What replaying another form of a version showed (Version::otherForms).
struct FormFacts {
    /// Elements in which it differs from what the form `comparedWith` leads to; where both could be read.
    std::optional<std::uint64_t> differs;
    std::size_t comparedWith = 0; ///< 0: the own form of the version
    std::uint64_t zeroSigns = 0; ///< of `differs`: in the sign of zero alone
    std::vector<SuspectTensor> suspects; ///< VersionFacts::suspectTensors that it has, too
    bool vouchedFor = false; ///< its publisher recorded digests or a root of its own with it, and they fit
    std::optional<Error> damage; ///< why it cannot be used

    bool operator==(const FormFacts&) const = default;
};

/// What replaying a version showed. Exact; never taken from header claims.
struct VersionFacts {
    std::uint64_t changedElements = 0; ///< elements whose bits differ from the base; for an anchor all of them
    /// For an anchor: elements that differ from the replayed state before it.
    std::optional<std::uint64_t> changedVsPrevious;
    std::uint64_t zeroSigns = 0; ///< of changedVsPrevious: differ in the sign of zero alone
    /// Elements of 16 bits that changed and kept their low byte; of an anchor those of changedVsPrevious less
    /// zeroSigns.
    std::uint64_t sameLowByte = 0;
    /// Of an anchor: its tensors beyond the limit of drift, the worst first; at most ten.
    std::vector<TensorDrift> driftedTensors;
    /// Of an anchor: its tensors that are those of an earlier state, those with the most changes first; at most ten.
    std::vector<RevertedTensor> revertedTensors;
    bool revertsAll = false; ///< they are all that deltas had changed, and of one state
    /// Whose values it left suspect, or, of an anchor, has itself although a version before it began it; at most ten.
    std::vector<SuspectTensor> suspectTensors;
    /// Of the first state of an epoch: tensors that hold infinities as masks and the ranges of observers do, which is
    /// no alarm; at most ten.
    std::vector<std::string> infiniteTensors;
    std::uint64_t assigned = 0; ///< elements (or bytes) that the payload names
    /// Of these, how many had those bits already; NaN elements are left out, float-comparing writers always send them.
    std::uint64_t noops = 0;
    std::uint32_t digestsChecked = 0; ///< publisher digests compared with the rebuilt tensors
    std::uint32_t digestsFailed = 0;
    std::string firstFailedTensor;
    std::string expectedDigest; ///< of firstFailedTensor
    std::string actualDigest;
    /// Whether the state behind the version has the root that its publisher recorded.
    enum class RootCheck : std::uint8_t {
        None, ///< no root is recorded
        Matches,
        Differs,
        BaseDiffers, ///< the external base is not the one that was recorded
    };
    RootCheck rootCheck = RootCheck::None; ///< also of StateDigest where no root is recorded
    std::string actualRoot; ///< where it differs
    /// Whether the state behind it is that of VersionSummary::restores; nothing where their recorded roots tell, or one
    /// of the two cannot be rebuilt.
    std::optional<bool> restores;
    std::optional<Error> damage; ///< the payload could not be replayed
    /// False if only another form was read, for what its own builds on is not there: all counts are zero.
    bool replayed = true;
    std::vector<FormFacts> otherForms; ///< in the order of Version::otherForms; those behind the end are not known yet
    /// Of the state behind the version. Known to who replayed it; no catalog keeps it.
    std::optional<ComparedTensors> compared;
};

/// Another way to have a version than its own objects (VersionObjects::otherForms).
struct OtherForm {
    std::optional<VersionSummary> summary; ///< nothing where the headers cannot be read
    std::optional<Error> failure; ///< why they cannot
    VersionKind kind = VersionKind::Delta;
    std::optional<std::int64_t> baseStep; ///< null for a complete form
    std::optional<std::size_t> base; ///< index in Run::versions; nothing for complete forms and for missing bases
    bool onExternalBase = false; ///< builds on Run::base
    bool acrossGap = false; ///< a number between base and its version is missing
    std::optional<Error> obstacle; ///< why it cannot be used, for a reason of its own or of what it builds on

    bool isComplete() const noexcept { return kind == VersionKind::Anchor; }
};

/// One node of the lineage. Identified by the identities of its objects; the step number is a label.
struct Version {
    int epoch = 0;
    VersionObjects objects;
    VersionKind kind = VersionKind::Delta;
    VersionState state = VersionState::Complete;
    std::optional<VersionSummary> summary; ///< nothing where the headers cannot be read
    std::optional<Error> failure; ///< why the headers cannot be read
    std::vector<OtherForm> otherForms; ///< in the order of VersionObjects::otherForms
    bool beingWritten = false; ///< not whole yet, and touched recently
    bool mayGrow = false; ///< nothing says that it is whole, and it was touched recently
    std::optional<VersionFacts> facts; ///< nothing until the version was replayed
    /// It is the model that lies in the source itself, beside checkpoints that stand alone in folders of their steps:
    /// what the trainer saved at the end, or began with. Its step is 0, and it takes no part in their order.
    bool besideSteps = false;
    std::optional<std::int64_t> baseStep; ///< null for an anchor
    std::optional<std::size_t> base; ///< index in Run::versions; nothing for anchors, external bases and missing ones
    bool onExternalBase = false;
    bool acrossGap = false; ///< a number between base and this one is missing
    /// False from a gap that nothing disproves, or from a delta with unexplained no-ops, until the next complete
    /// anchor.
    bool proven = true;
    std::size_t unprovenAt = 0; ///< index in Run::versions of the version whose own reason that is
    bool noopsUnexplained = false; ///< more no-ops than the writer's habit explains, too few to prove a loss
    /// The next complete anchor, or it itself, is further from the replay than training explains, and no root proves
    /// it.
    bool driftAlarm = false;
    bool farFromReplay = false; ///< a complete state that is that far, proven or not
    bool formsDiffer = false; ///< one of its other forms leads to other bits, and nothing tells which are right
    /// Its forms that were rewritten since they were first seen, by the records (noteRewritten()), each with its first
    /// such object: of these, the record tells what is right.
    std::map<std::size_t, Error> rewrittenForms;
    /// It, or a version before it and no complete anchor since, has suspect tensors. Says nothing of its bytes.
    bool suspect = false;
    /// Why it cannot be rebuilt, for a reason of its own or of something that it builds on; nothing if it can.
    std::optional<Error> obstacle;
    std::size_t obstacleAt = 0; ///< index in Run::versions of the version whose own reason the obstacle is
    bool lossProven = false; ///< the no-op test alone, or a version before it that is gone, speaks against it
    bool lossy = false; ///< it, or what it builds on, adds rounded differences
    std::optional<Error> ownFormObstacle; ///< why its own objects cannot be used, where another form of it can
    std::vector<Error> problems; ///< all that is worth knowing about this version, the obstacle included

    std::int64_t step() const noexcept { return objects.step; }
    bool isFull() const noexcept { return kind != VersionKind::Delta; }

    // Forms are counted from 0, its own objects; others in the order of `otherForms` from 1 on.
    std::size_t forms() const noexcept { return otherForms.size() + 1; }
    const VersionObjects& objectsOf(std::size_t form) const noexcept
    {
        return form == 0 ? objects : objects.otherForms[form - 1];
    }
    const std::optional<VersionSummary>& summaryOf(std::size_t form) const noexcept
    {
        return form == 0 ? summary : otherForms[form - 1].summary;
    }
    VersionKind kindOf(std::size_t form) const noexcept { return form == 0 ? kind : otherForms[form - 1].kind; }
    const FormFacts* factsOf(std::size_t otherForm) const noexcept; ///< null while nothing is known
    /// The form whose objects a mirror holds once more as this one. Nothing if it is a form of its own.
    std::optional<std::size_t> originalOf(std::size_t form) const noexcept;
    /// The complete form that stands beside its delta, if that can be used: the state that the trainer meant, where the
    /// deltas lead to another one (FormFacts::differs). Nothing for anchors.
    std::optional<std::size_t> fullForm() const noexcept;
    /// Elements in which that form differs from what its deltas lead to; nothing if they were not compared.
    std::optional<std::uint64_t> fullFormDiffers() const noexcept;
    /// The facts of another form, to be filled in.
    FormFacts& noteForm(std::size_t otherForm);
    /// That a form cannot be used: what else was known of it counts no more.
    void noteDamage(std::size_t form, const Error& damage);
};

/// Why a version whose publisher's digests fail cannot be used. Digests that fail right on an external base, and most
/// of them, speak against the base (BaseMismatch), others against delta, state or record (Digest).
Error digestFailure(const VersionFacts& facts, const VersionObjects& version, bool onExternalBase);

/// Why a version whose state, or whose base, does not have the recorded root cannot be used. Needs RootCheck::Differs
/// or BaseDiffers.
Error rootFailure(const VersionFacts& facts, const VersionObjects& version, std::string_view recorded);

/// A version that is on record or in the catalog, and that the source does not hold any more: the store, asked for its
/// objects, says that they do not exist. Another selection of the same objects is no loss.
struct GoneVersion {
    std::int64_t step = 0;
    std::string name; ///< as VersionObjects::name
    int epoch = 0; ///< of the versions around it
    std::int64_t seenUs = 0; ///< when it was last recorded; 0: only the catalog knows it
    std::vector<std::string> keys; ///< of its objects; at least one
    bool ofEarlierRun = false; ///< a new run took its place and that of the others around it: no loss
    /// What that means for the versions that are there; see assessGone().
    enum class Loss : std::uint8_t {
        Retired, ///< nothing here needs it, and a newer version is here
        Newest, ///< nothing newer is here
        Needed, ///< what follows it builds on it
    };
    Loss loss = Loss::Retired;
};

/// Missing numbers between two versions of an epoch.
struct Gap {
    int epoch = 0;
    std::int64_t first = 0;
    std::int64_t last = 0;
};

/// A checkpoint outside of the source that a chain starts from.
struct ExternalBase {
    std::shared_ptr<const ObjectStore> store;
    std::shared_ptr<const Layout> layout;
    VersionObjects objects;
    VersionSummary summary;
};

/// One of several runs that lie below an address.
struct RunPlace {
    /// Its folder, relative to the source; empty: the source itself. Where runs share a folder: what the names of its
    /// versions begin with.
    std::string place;
    bool isFolder = true; ///< whether `place` is a folder, whose address shows this run
    std::size_t versions = 0;
    std::int64_t first = 0; ///< lowest step
    std::int64_t last = 0; ///< highest step
};

/// One stream of versions in a source, as far as names, headers and known facts tell. A value without behavior.
struct Run {
    std::shared_ptr<const ObjectStore> store;
    std::shared_ptr<const Layout> layout;
    std::optional<ExternalBase> base;
    /// The base was rewritten since it was first seen, by the records (noteRewritten()). Without a step.
    std::optional<Error> baseRewritten;
    std::vector<std::string> mirrors; ///< addresses of the stores that are read beside the source
    /// What is known of the source as a whole: what mirrors are good for, linked folders, other runs that lie there.
    /// Among the problems, too, however often the run is assessed.
    std::vector<Error> sourceNotices;
    std::vector<RunPlace> places; ///< all runs that lie below the source, this one first; empty where there is no other
    std::vector<Version> versions; ///< by epoch, then step
    std::vector<Gap> gaps;
    std::vector<GoneVersion> gone; ///< ascending by step; without those that a user has accepted
    std::vector<std::int64_t> acceptedLosses; ///< the steps of those, ascending
    /// Set where the catalog knows this source, or its base, and no record covers it: what was seen first is forgotten.
    std::optional<Error> recordsLost;
    std::vector<Error> problems; ///< that concern no single version
    /// What happened to the source since it was first seen, oldest first: objects overwritten, a prefix wiped.
    std::vector<Error> events;
    std::uint64_t ignoredObjects = 0; ///< listed, but of no version
    /// What stands below ".deltascope/" in the source, in byte order of keys, by the listing that the run is made from.
    std::vector<ObjectInfo> beside;
    /// Elements of the whole model per epoch; nothing while no complete state is known.
    std::vector<std::optional<std::uint64_t>> totalElements;

    int epochs() const noexcept { return static_cast<int>(totalElements.size()); }
    bool hasOtherForms() const noexcept; ///< whether a version has another form than its own
    /// Elements of the whole model behind this version.
    std::optional<std::uint64_t> totalElementsOf(const Version& version) const noexcept;
    /// Whether the changes that a replay of this version counted are those of its publisher: false where it was
    /// replayed on another state, because something in front of it is proven to be lost or the external base is another
    /// one. XOR masks change the same elements of any state.
    bool countsOnItsBase(const Version& version) const noexcept;
    /// The version with the highest step, if `latest()` is another one for a reason that is worth telling: a step of an
    /// earlier run, or one that cannot be rebuilt. Null else.
    const Version* newerThanLatest() const noexcept;
    /// The newest version that is gone although nothing newer than it is there; null: none.
    const GoneVersion* newestGone() const noexcept;
    /// The version that is gone between a version and what it would build on otherwise; null: none.
    const GoneVersion* goneBefore(const Version& version) const noexcept;
    /// The version that another one, which stands alone, is compared with: the one before it in its epoch, and for the
    /// model beside the steps (Version::besideSteps) the last one. Index; nothing: there is none.
    std::optional<std::size_t> checkpointBefore(std::size_t at) const noexcept;
    /// Whether a model beside the steps is what the trainer saved at the end: it is not older than all of them.
    bool isFinalSave(const Version& version) const noexcept;
    /// Whether a version is the only checkpoint of a folder that numbers none: errors tell its address, and no step.
    bool isNamedByAddress(const Version& version) const;
    /// The version that its publisher calls so (VersionSummary::id); null: none.
    const Version* findId(std::string_view id) const noexcept;
    /// The version with this step; without an epoch the newest one that has it.
    const Version* find(std::int64_t step, std::optional<int> epoch = {}) const noexcept;
    const Version* latest() const noexcept; ///< newest restorable version of the newest epoch, else its newest version
};

/// What is known of the source as a whole and makes it doubtful that a state of it is the one that was meant: versions
/// that are gone, other runs beside this one.
std::vector<Error> doubtsOfChoice(const Run& run);

/// Splits versions into incarnations of the trainer by publication time. Returns the epoch of each, 0 = oldest.
/// `versions` are ascending by step. Only a suffix that is older as a whole than everything below it counts as the tail
/// of an earlier run: copies that scramble times do not create epochs. Times only suggest: docs/decisions/0009.
std::vector<int> splitEpochs(const std::vector<VersionObjects>& versions);

/// A version with what its headers said, or why they could not be read.
struct IndexedObjects {
    VersionObjects objects;
    std::optional<VersionSummary> summary;
    std::optional<Error> failure;
    std::vector<OtherForm> otherForms; ///< of VersionObjects::otherForms
    /// Where the objects carry a time that is still to come: when our own clock saw them first as they are. 0: unknown.
    std::int64_t seenUs = 0;

    /// When the version grew last, as far as it can be told at `nowUs`: by the times of its objects, or by our own
    /// clock where those are still to come.
    std::int64_t grewUs(std::int64_t nowUs) const noexcept;
};

/// Splits further where a full version names another incarnation of its publisher (fact::Run) than the versions below
/// it. `epochs`: of each version, as from splitEpochs.
void splitEpochsByRun(const std::vector<IndexedObjects>& versions, std::vector<int>& epochs);

/// Links versions, finds kinds, gaps and epochs. `versions` ascend by step; `nowUs` decides whether an unfinished
/// object is still being written.
/// `epochs`: of each version, 0 = oldest; nothing: as splitEpochs and splitEpochsByRun find them.
Run buildLineage(std::shared_ptr<const ObjectStore> store, std::shared_ptr<const Layout> layout,
                 std::optional<ExternalBase> base, std::vector<IndexedObjects> versions, std::int64_t nowUs,
                 std::optional<std::vector<int>> epochs = {});

/// The version whose state a version restores, as an index in Run::versions (docs/formats/ds-facts.md, section 1). Such
/// a version is no step of training: rules of drift, density and no-ops do not judge it, and it is no measure for
/// others. Nothing where it does not say so, or where that is not true.
std::optional<std::size_t> restoredVersion(const Run& run, std::size_t version);

/// The habit of this run's writer: assignments and no-ops of all deltas with facts that no proven loss makes doubtful.
/// Empty where the writer is exact (Layout::writersAreExact).
NoopCounts usualNoops(const Run& run);

/// How the trained state of a version differs from the served one: an anchor from the replay before it, or a full form
/// from the deltas beside it.
struct Drift {
    std::uint64_t differs = 0; ///< elements
    /// Of these, how many differ in the sign of zero alone. Writers that compare floats never send those: no alarm.
    std::uint64_t zeroSigns = 0;
    /// Of an anchor of a writer that compares low bytes alone: how many others it missed before. Exact.
    std::uint64_t missed = 0;
    /// How many of the others are drift. Exact beside a delta; for an anchor, which also holds one step of training,
    /// what is more than a usual delta (the median of the last ten): an estimate.
    std::optional<std::uint64_t> estimate;
};
/// Nothing where the two states were not compared.
std::optional<Drift> driftAt(const Run& run, std::size_t version);

/// An anchor alarms above one and a half times the second largest of the last ten deltas that changed anything
/// (elements; those of zero signs and missed ones left out); nothing with fewer than two of them, or behind a version
/// that is missing.
std::optional<std::uint64_t> driftLimit(const Run& run, std::size_t version);

/// Recomputes state, obstacle and problems of every version from its facts and links. Called by buildLineage and again
/// whenever facts arrive.
void assess(Run& run);

} // namespace deltascope
