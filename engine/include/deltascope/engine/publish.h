#pragma once

#include "deltascope/engine/lease_terms.h"
#include "deltascope/engine/operations.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace deltascope {

struct PublishPlan;
struct StepToPublish;

struct PublishOptions {
    std::string layout; ///< "trl-v2" or "slime-v2"
    std::string encoding; ///< "gap_delta", "raw"; "xor", "overwrite"; empty: the first of them
    std::string checksum; ///< slime-v2: "xxh3-128", "blake3", "adler32"; empty: the first
    std::uint32_t anchorEvery = 10; ///< each n-th version is an anchor, where the layout has anchors; 0: only the first
    /// Also put an anchor as soon as it pays (anchorPays), for this many restores until the next one.
    bool anchorWhenCheaper = false;
    double restoresPerAnchor = 1;
    bool newEpoch = false; ///< begin another incarnation, with an anchor, instead of going on with the run
    bool allowSuspect = false; ///< publish states whose values are suspect, too (health.h)
    bool acceptRewritten = false; ///< go on with a run although objects of it were rewritten since they were first seen
    /// Names of tensors that begin with `a` are published as beginning with `b`; nothing: as they are.
    std::optional<PrefixMap> prefixes;
    std::optional<std::int64_t> restores; ///< what is published is the state of this step again (fact::Restores)
    std::string branch; ///< where the first version of a new run comes from (fact::Branch); empty: nowhere
    std::string actor = "publisher"; ///< in spans and lease
    LeaseTerms lease;
};

struct PublishedVersion {
    std::int64_t step = 0;
    bool anchor = false;
    std::uint64_t changedElements = 0; ///< all of an anchor
    std::uint64_t totalElements = 0; ///< of the model
    std::vector<ObjectInfo>
        objects; ///< in the order of their puts; empty: nothing changed and the layout has no empty version
    std::string origin; ///< as given
    std::string anchorReason; ///< why it is an anchor, with the numbers; empty for deltas
    bool wasThere = false; ///< published before, with these very bytes; nothing was put
    bool isAdapter = false; ///< its tensors are those of adapters, whose settings no layout carries
};

/// A state to publish and what it is called, if it has a name.
struct NamedState {
    const State& state;
    std::string origin;
};

/// Checkpoints that may have been published, as the versions of an epoch and what lies beside the run tell.
struct PublishedCheckpoint {
    std::string root; ///< of its state under the names that it was published with, hex; empty: not recorded
    std::int64_t publishedUs = 0; ///< by the store of the run
};
struct PastCheckpoints {
    std::map<std::string, PublishedCheckpoint> published;
    std::map<std::string, Error> leftOut; ///< and why; not those that were published since
    std::set<std::string> unknown; ///< of which nothing tells
};

/// Publishes into one run, holding its lease. Each object is put with PutMode::IfAbsent, the committing one last, so
/// readers never see half a version and nothing is ever overwritten. Every version carries the roots of its states
/// (fact::Base, fact::Root) and the run (fact::Run); spans tell what was done when. Blocks are compared by
/// bit patterns. Memory: one block per side and thread and the tensors' names, whatever the size of the model. One
/// thread at a time.
class Publisher {
public:
    /// Opens the run, or an empty store, and removes what dead publishers left half-written in it. `base`: the external
    /// base for layouts that have one. Waits for a publisher elsewhere that may be dead (PublishOptions::lease). `task`
    /// outlives the publisher: a second after it is stopped, the publisher waits for nothing any more. Replays the
    /// first delta of a run on its external base, unless the catalog knows what that shows. Errors: Exists (somebody
    /// else publishes here), Canceled, Usage (options, or a run of another layout), BaseMismatch (the base is not the
    /// one that the run was written against), those of openRun.
    static Result<Publisher> open(Workbench& bench, std::shared_ptr<ObjectStore> into, const OpenOptions& base,
                                  const PublishOptions& options, TaskContext& task);
    Publisher(Publisher&&) noexcept;
    ~Publisher();

    /// The newest step; nothing in an empty run.
    std::optional<std::int64_t> headStep() const noexcept;
    /// Origin of the newest version, if it names one.
    const std::string& headOrigin() const noexcept;
    /// Root of its state, hex; empty: not recorded.
    const std::string& headRoot() const noexcept;

    /// Puts `to` behind the newest version: as a delta, or as an anchor where one is due. `from`: the newest state of
    /// the run in another place, where reading it costs less than replaying the run; null: replay. An empty run gets
    /// `to` as its anchor, or as the delta onto its external base. Tied to what was read: if an object of `from` or
    /// `to` changed meanwhile (where it is held against records: if its bytes did), nothing is put. Errors:
    /// Malformed (`to` has no element), BaseMismatch (`from` is not the newest state; the tensors differ in name, dtype
    /// or shape; PublishOptions::prefixes fit no name of `to`), Rewritten (a checkpoint changed while it was read, or
    /// is not what is on record), Digest (`to` is not what its publisher recorded, State::expectRecorded), Exists
    /// (somebody else published), SuspectValues (unless PublishOptions::allowSuspect), Unsupported (the layout cannot
    /// carry a change, as of the settings of adapters, or other names than the external base), those of stores and
    /// replay.
    Result<PublishedVersion> publish(const State* from, const State& to, const std::string& origin, TaskContext& task);
    /// Begins an empty run whose layout has anchors: `from` as the first one, `to` as the delta behind it. Nothing is
    /// put if either cannot be. Errors: as publish.
    Result<std::vector<PublishedVersion>> begin(const NamedState& from, const NamedState& to, TaskContext& task);
    /// The newest version, if it is the step from `from` to `to` already: its publisher recorded the roots of both, and
    /// its bytes give `to`. With newEpoch: if another epoch begins with it, whatever it was made from. Replays only
    /// what the roots do not exclude. Errors: Digest (its record and its bytes do not agree), those of the replay.
    Result<std::optional<PublishedVersion>> find(const NamedState& from, const NamedState& to, TaskContext& task);
    /// What publishing the step would do now; see planPublish(). `onlyFind`: it may be there already, and nothing can
    /// be put. Errors: those of opening the state behind it.
    Result<PublishPlan> plan(const StepToPublish& step, bool onlyFind, TaskContext& task) const;
    /// Keeps the lease while there is nothing to publish, and puts waiting spans. Errors: Exists.
    Result<void> keepAlive(TaskContext& task);
    /// Tells of something that is no version (a coalesced checkpoint, an annotation).
    void note(std::int64_t step, const std::string& text);
    /// Writes beside the run that a checkpoint is not published, and why.
    void leaveOut(const std::string& origin, const Error& why);
    /// Tells that checkpoints are not published because a newer one holds their changes.
    void passOver(const std::vector<std::string>& origins, const std::string& why);
    /// What publishers of this epoch did with these. Errors: those of listing the run.
    Result<PastCheckpoints> pastOf(const std::vector<std::string>& origins, TaskContext& task) const;
    /// Whether a state has a root, under the names that it is published with. Reads all of it. Errors: those of the
    /// walk.
    Result<bool> hasRoot(const State& state, const std::string& root, TaskContext& task) const;
    /// When the newest version was put, by its store; 0: nothing was published when this was opened.
    std::int64_t publishedUs() const noexcept;

private:
    struct Session;
    explicit Publisher(std::unique_ptr<Session> session);
    std::unique_ptr<Session> m_session;
};

struct FollowOptions {
    std::string marker; ///< a checkpoint is complete once its folder holds this file; empty: by quiet time
    double quietSeconds = 5; ///< a checkpoint is complete once nothing in it changed for so long
    /// A checkpoint that is not complete, and in which nothing changed for so long, is left out.
    double settleSeconds = 600;
    bool acceptRewritten = false; ///< publish checkpoints although they were rewritten since they were first seen
    bool once = false; ///< end when nothing is left to publish instead of waiting for more
    std::size_t searchDepth = DefaultSearchDepth; ///< OpenOptions::searchDepth of the folder that is watched
    std::function<void(const PublishedVersion&)> onVersion;
    /// Told the checkpoints that were passed over because newer ones were ready, those that vanished before they were
    /// read, those whose values are suspect, those that are not what is on record, those that are not whole and have
    /// settled, and once each folder that holds something else than a checkpoint that can be published. Also told what
    /// is to be known of one that was published: which objects of it were rewritten and accepted, and that it was
    /// written again since.
    std::function<void(const std::vector<std::string>& names, const std::string& why)> onSkipped;
    /// Told, once for each, which checkpoint the act has been waiting for, and what that one lacks.
    std::function<void(const std::string& text)> onWaiting;
};

/// Publishes the checkpoints (`checkpoint-N/`) that a trainer drops into a folder, in order. Those that lie there at
/// the beginning are all published; later, if several are complete at once because publishing takes longer than
/// training, only the newest is. A checkpoint that is not complete when one behind it is published is left out, too,
/// and so is one that comes then (Fork). Where all that it knows is gone from the folder, it waits for the next one.
/// Never writes into `checkpoints`, so it cannot block the trainer. Ends with Canceled, or as `once` says. Errors:
/// those of Publisher::publish that neither waiting nor another checkpoint mends; with `once`, ListSuspect of a folder
/// that stays empty, and after all that can be published, the reason for which the first checkpoint was left out
/// (SuspectValues, Rewritten, Unfinished …), Layout for a checkpoint-N folder that was complete and not understood (an
/// adapter, pickles), or for any folder with weights where no checkpoint is.
Result<void> publishWatched(Workbench& bench, std::shared_ptr<ObjectStore> checkpoints, Publisher& publisher,
                            const FollowOptions& options, TaskContext& task);

} // namespace deltascope
