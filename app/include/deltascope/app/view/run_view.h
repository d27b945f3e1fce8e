#pragma once

#include "deltascope/app/view/act_view.h"
#include "deltascope/app/view/annotations_view.h"
#include "deltascope/app/view/problem.h"
#include "deltascope/app/view/reads_view.h"
#include "deltascope/app/view/trace_view.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace deltascope::app {

// What a run looks like: plain values, computed once, shown by every face. Bytes, elements, microseconds since 1970.

/// What it takes to rebuild a step.
struct RestoreView {
    std::uint64_t deltas = 0;
    std::uint64_t bytes = 0; ///< objects to be read
    std::string reason; ///< why it is not possible; empty if it is
    std::optional<std::int64_t> blockedBy; ///< the step that it builds on and whose fault it is

    bool operator==(const RestoreView&) const = default;
};

struct ObjectView {
    std::string key;
    std::uint64_t sizeBytes = 0;
    std::int64_t modifiedUs = 0;

    bool operator==(const ObjectView&) const = default;
};

/// One way to have a step.
struct FormView {
    std::string name; ///< file or folder that stands for it
    std::string kind; ///< as StepView::kind
    std::optional<std::int64_t> baseStep; ///< nothing for a complete one
    std::uint64_t wireBytes = 0;
    RestoreView restore; ///< of the step over this form
    std::string evidence; ///< what vouches for that way: "digest", "root", "anchor", "base", "first_sight", "none"
    bool isUsed = false; ///< the step is rebuilt over it
    bool isTrained = false; ///< the state that the trainer meant, which is another one than the deltas lead to
    bool isCopy = false; ///< objects of another form once more, in a mirror

    bool operator==(const FormView&) const = default;
};

struct StepView {
    int epoch = 0;
    std::int64_t step = 0;
    std::string name; ///< file or folder that stands for the version
    std::string id; ///< what its publisher calls it, where versions are linked by ids; empty: by their numbers
    std::string kind; ///< anchor, partial_anchor, delta
    std::string state; ///< complete, publishing, broken, noop, gap
    /// Of the model in the source itself, beside checkpoints in folders of their steps: final_save, or older_model
    /// where all of them are newer. Empty: it is a step.
    std::string role;
    std::optional<std::int64_t> baseStep;
    std::optional<std::uint64_t> changedElements; ///< nothing until it was replayed
    std::optional<std::uint64_t> changedVsPrevious;
    std::optional<std::uint64_t> totalElements;
    std::optional<double> changedFraction; ///< of changedVsPrevious for anchors, of changedElements for deltas
    std::optional<std::uint64_t> claimedElements; ///< what the header says is stored; a claim
    std::uint64_t wireBytes = 0;
    std::int64_t publishedUs = 0;
    std::optional<double> pauseMs; ///< how long the engine stood still to load it, the slowest where several tell
    bool pauseIsLogged = false; ///< pauseMs is from the lines of a log, not from spans beside the run
    bool restorable = false;
    bool proven = true; ///< false across a missing number that nothing disproves
    RestoreView restore;
    std::vector<ObjectView> objects;
    /// In a run only where there are several, of a step by itself always; its own objects first.
    std::vector<FormView> forms;
    std::vector<ProblemView> problems;
    std::vector<std::string> refs; ///< words that people gave it (RefView::word)
    std::string branchOf; ///< "s3://bucket/run@12": the run and step that this run begins with; empty: none
    std::optional<std::int64_t> restores; ///< earlier step whose state it has again, as its publisher says
    std::int64_t lastMissing = 0; ///< for state gap: the last of the missing steps, `step` is the first

    bool operator==(const StepView&) const = default;
};

struct EpochView {
    int epoch = 0;
    std::vector<StepView> steps; ///< ascending
};

/// How far trained and served state are apart at one step.
struct DriftView {
    int epoch = 0;
    std::int64_t step = 0;
    std::uint64_t differs = 0; ///< elements
    std::uint64_t zeroSigns = 0; ///< of these, in the sign of zero alone
    std::optional<std::uint64_t> estimate; ///< of these, beyond a usual step of training

    bool operator==(const DriftView&) const = default;
};

/// What went between this process and an object store since it was opened.
struct StoreMeterView {
    std::string source; ///< canonical URI
    std::uint64_t requests = 0; ///< retries are some of them
    std::uint64_t retries = 0;
    std::uint64_t bytesIn = 0; ///< over the wire, headers included
    std::uint64_t bytesOut = 0;
    std::uint64_t bytesFromCache = 0; ///< read without a request

    bool operator==(const StoreMeterView&) const = default;
};

/// One of several runs that lie below an address.
struct RunPlaceView {
    std::string place; ///< its folder below the address, or what the names of its versions begin with
    bool isFolder = true; ///< whether `place` is a folder, whose address shows this run
    std::uint64_t steps = 0;
    std::int64_t first = 0;
    std::int64_t latest = 0; ///< its highest step
    bool shown = false;
};

struct RunView {
    std::uint64_t revision = 0;
    bool settled = true; ///< false while versions wait to be replayed
    std::string source; ///< canonical URI
    std::string layout;
    std::string run; ///< last component of the address
    std::string base; ///< URI of the external base, empty if none was given
    std::optional<std::uint64_t> baseBytes; ///< of its objects; nothing without one, or if a server does not tell it
    std::optional<std::int64_t> latest; ///< newest restorable step
    std::vector<EpochView> epochs;
    std::vector<RunPlaceView>
        runs; ///< all that lie below the address, the one that is shown first; empty where it is one
    std::vector<ProblemView> problems; ///< of the run, then of its steps; what a step only inherits is said once
    std::vector<ProblemView> events; ///< what happened to the source since it was first seen, oldest first
    std::vector<DriftView> drift; ///< where trained and served state were compared
    /// Share of assignments that the deltas of this run usually waste on bits that are there already; a jump means a
    /// lost delta or a wrong base. Nothing before a delta was replayed.
    std::optional<double> noopRate;
    std::uint64_t ignoredObjects = 0;
    std::uint64_t wireBytes = 0;
    std::optional<StoreMeterView> meter; ///< of the source; nothing where it is no object store
    /// When everything in the source was last listed: what was overwritten or deleted since is not known yet. 0: every
    /// look lists everything.
    std::int64_t listedUs = 0;
    /// Why the source cannot be looked at any more, which a watch reports: all the rest is as it was at the last look.
    std::optional<ProblemView> lost;
    std::vector<ReplicaView> replicas; ///< by id; empty where none writes heartbeats
    std::vector<RefView> refs; ///< by word, refs in front of pins
    std::vector<NoteView> notes; ///< by time
    std::vector<SpanView> spans; ///< by begin; those that tell when they were
};

/// Bytes of a full step of the newest epoch: its newest whole anchor, else the external base. Nothing where the run has
/// neither.
std::optional<std::uint64_t> fullStepBytes(const RunView& run);

struct TensorCountView {
    std::string name;
    std::string dtype;
    std::vector<std::uint64_t> shape;
    std::optional<std::uint64_t> changedElements; ///< against the base; of an anchor all
    std::optional<std::uint64_t> changedVsPrevious; ///< against the state before; of a delta the same
    std::uint64_t totalElements = 0;
};

struct StepDetailView {
    StepView step;
    std::vector<TensorCountView> tensors; ///< of the state, by name
    std::string chosen; ///< as in MaterializeView
};

struct ListingEntryView {
    ObjectView object;
    std::optional<std::int64_t> step;
    std::string kind; ///< of its version; empty for objects of none
    /// How many steps cannot be rebuilt any more if it is lost. Nothing for objects of no version, and of a version
    /// that cannot be rebuilt anyway.
    std::optional<std::uint64_t> neededBy;
};
struct ListingView {
    std::string source;
    std::string layout; ///< empty if it was not recognized
    std::vector<ListingEntryView> objects;
};

/// What publishing has added to a run, or would add.
struct PublishView {
    std::string source;
    std::string run; ///< name of the run
    std::string layout;
    std::string watched; ///< URI of the folder that a trainer writes; empty for a single step
    std::vector<StepView> steps; ///< the newest ones
    std::uint64_t stepsInAll = 0;
    bool nothingChanged = false; ///< last time, and the layout has no form for an empty step
    std::vector<std::string> notices; ///< the newest: what was passed over, why an anchor was put
    std::uint64_t noticesInAll = 0;
    ReadsView reads; ///< of the states that were published from and to
    double seconds = 0;
    bool isDone = true; ///< false: it is planned, and `steps` is empty
    std::optional<std::int64_t> newest; ///< step before, of a plan; nothing: the run is empty
    std::uint64_t stateBytes = 0; ///< of the state that a plan publishes
    ActPlanView plan; ///< empty once it is carried out
};

} // namespace deltascope::app
