#pragma once

#include "deltascope/base/task.h"
#include "deltascope/base/tensor_hashes.h"
#include "deltascope/engine/backend.h"
#include "deltascope/engine/catalog.h"
#include "deltascope/engine/file_system.h"
#include "deltascope/engine/kept_listing.h"
#include "deltascope/engine/lineage.h"
#include "deltascope/engine/not_finite.h"
#include "deltascope/engine/path_state.h"
#include "deltascope/engine/stores.h"
#include "deltascope/engine/tensor_globs.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// The operations of the engine. Each takes values, returns values, and holds no state between calls.

namespace deltascope {

/// What operations may use. The pointed-to objects outlive every call.
struct Workbench {
    LayoutRegistry layouts;
    Catalog* catalog = nullptr; ///< null: work without one
    Records* records = nullptr; ///< null: nothing is remembered as first sight
    FileSystem* disk = nullptr;
    std::shared_ptr<Stores> stores = makeStores(); ///< never null
    Backends backends = Backends::builtin();
    std::string forcedBackend; ///< one of them by name; empty: the fastest that this machine runs
    unsigned threads = 2;
    std::string scratchFolder;
    std::string shadowFolder; ///< Beside::Options::shadowFolder
    std::function<std::int64_t()> nowUs; ///< microseconds since 1970

    /// What states are compared with, and deltas applied with. Errors: those of Backends::choose().
    Result<std::shared_ptr<const Backend>> chooseBackend() const { return backends.choose(forcedBackend); }
    /// What passes over states may use. Errors: those of chooseBackend(). They speak of no object, so ask before one is
    /// read.
    Result<WalkMeans> means() const
    {
        DS_TRY(std::shared_ptr<const Backend> backend, chooseBackend());
        return WalkMeans(threads, scratchFolder, std::move(backend));
    }
};

// --- open ------------------------------------------------------------------------------------------------------------

/// Where one run of a trainer ends and the next begins (docs/decisions/0009-epochs-from-evidence.md).
enum class EpochChoice : std::uint8_t {
    Auto, ///< by our facts; where times alone suggest a break, by what the first version behind it shows
    Times, ///< by our facts and by times
    One, ///< all versions are one run: a number that was overwritten means the newest object
};

struct OpenOptions {
    std::shared_ptr<ObjectStore> base; ///< folder of the external base checkpoint; null if none was given
    std::string layout; ///< force a layout by its word; empty: detect
    EpochChoice epochs = EpochChoice::Auto;
    /// How many components below the folder of a step weights are looked for, where trainers' folders are searched
    /// (Layout::searchDepth); 1 to MostSearchDepth.
    std::size_t searchDepth = DefaultSearchDepth;
    /// Addresses of mirrors that the user names now, perhaps none; also read are those that the source offers and that
    /// were named before (docs/formats/mirror.md). Nothing: the source alone counts, as for acts that write to it.
    std::optional<std::vector<Address>> mirrors = {};
    /// Keeps the listing of the source from look to look and learns where it grows. Null: every look lists everything.
    KeptListing* listing = nullptr;
    bool changed = true; ///< of KeptListing::look
    /// The user accepts what is gone and, where records are lost, that they begin again.
    bool acceptLosses = false;
};

/// Lists a source, detects its layout, reads the headers that the catalog does not know, links the versions and adds
/// known facts. Reads no payload, unless times alone suggest that the trainer started again: then the first version
/// behind is replayed on the one in front, once; Workbench::records keep the answer. Errors: Layout, NotFound, Usage (a
/// mirror that is none), those of the stores.
Result<Run> openRun(Workbench& bench, std::shared_ptr<ObjectStore> store, const OpenOptions& options,
                    TaskContext& task);

/// Objects of the source, and of the external base, on the way to a state that have other bytes than those on record
/// (Rewritten), or another identity, so that nothing is known of their bytes (Unproven; many of them are one notice).
/// Reads nothing of it.
std::vector<Error> changedSinceSeen(const Workbench& bench, const Run& run, const Plan& plan);
/// Of all versions and of the external base.
std::vector<Error> changedSinceSeen(const Workbench& bench, const Run& run);

/// Opens what an operation rebuilds a state from, compared with the records of the workbench. What is read of mirrors
/// is kept in the events of the source. Errors: those of openPath; Run::recordsLost, unless the user accepts what is
/// there now.
Result<PathPtr> openChecked(Workbench& bench, const Run& run, const Plan& plan, bool acceptRewritten,
                            TaskContext& task);
/// Opens what facts are learned from: of the objects that were listed, whether or not they are those that were seen
/// first (changedSinceSeen() reports that). Bytes that changed while the identity of their object did not are Digest.
/// Errors: those of openPath; Rewritten where an object is replaced meanwhile, or one of a mirror is unlike the record.
Result<PathPtr> openForFacts(const Workbench& bench, const Run& run, const Plan& plan, TaskContext& task);

/// The key under which a run is kept in catalog and records.
std::string catalogKey(const Run& run);
/// Digests over the identities of everything that the facts of each version depend on, by index in Run::versions.
std::vector<std::string> chainKeys(const Run& run);

// --- analyze ---------------------------------------------------------------------------------------------------------

struct AnalyzeOptions {
    bool again = false; ///< replay even what the catalog knows
    std::optional<std::pair<std::size_t, std::size_t>> range; ///< first and last index in Run::versions; nothing: all
    /// Index in Run::versions: what is behind it is not replayed, though it may tell more of the range. Nothing: the
    /// end of the run.
    std::optional<std::size_t> until = {};
    /// Of versions that stand alone, how much of the newest ones, counted as bytes of their states, may be read to
    /// judge their values: each is read beside the one before it.
    std::uint64_t standAloneBytes = 0;
    /// Told why nothing can be learned now of some of the range: an object was replaced since it was listed, or the
    /// checkpoint outside of the source is damaged.
    std::function<void(const Error&)> onSkipped = {};
    /// Told the changed tensors of each version that was replayed.
    std::function<void(std::size_t version, const std::vector<TensorCount>& changed)> onCounts;
};

/// Replays what has no facts yet and fills them in: exact changed counts, no-ops, publisher digests, anchors against
/// the replayed state. Damage becomes a fact, not an error. Ends with assess(). Errors: Canceled, and those of the
/// store that are worth a retry.
Result<void> analyzeRun(Workbench& bench, Run& run, const AnalyzeOptions& options, TaskContext& task);

/// Decides what no-ops that a replay has met say of `version`, by analyzing what is known to be needed for that: its
/// epoch, or where the writer's habit counts the run. Returns whether nothing speaks for a loss (Version::proven).
/// Errors: the obstacle of the version (ChainGap).
Result<bool> judgeChain(Workbench& bench, const Run& run, const Version& version, TaskContext& task);

// --- digest ----------------------------------------------------------------------------------------------------------

struct TensorDigest {
    TensorInfo tensor;
    Digest128 xxh3 {};
    std::optional<Digest256> sha256; ///< where it was asked for
};
struct CheckpointDigest {
    std::vector<TensorDigest> tensors; ///< by name
    CheckpointRoot root;
    bool noopsSeen = false; ///< a delta on the way assigned bits that were there: judgeChain() says what it means
};
/// Hashes a state. Errors: Digest (a publisher's digest fails on the way), those of the walk and of
/// State::expectSoundReads().
Result<CheckpointDigest> digestState(const Workbench& bench, const State& state, TaskContext& task,
                                     TensorHashes hashes = TensorHashes::Xxh3AndSha256);
/// The root alone, which is half of the work. Errors: as digestState().
Result<CheckpointRoot> rootOfState(const Workbench& bench, const State& state, LeafHasher::Strength strength,
                                   TaskContext& task);

// --- verify ----------------------------------------------------------------------------------------------------------

/// Ordered from best to worst; a run is as good as its worst step, but for the anchor that an epoch begins with, which
/// nothing can be compared with.
enum class Verdict : std::uint8_t {
    Verified, ///< as its publisher recorded: Coverage::isVerified()
    Consistent, ///< structure, no-op invariant and anchors agree: Coverage::isConsistent()
    FirstSight, ///< only our own record vouches for it
    Unverified, ///< nothing was compared with anything, or something speaks against it
    Incomplete, ///< something that it builds on is missing
    Damaged,
};
std::string_view word(Verdict verdict) noexcept;

struct StepVerdict {
    std::size_t version = 0; ///< index in Run::versions
    Verdict verdict = Verdict::Unverified;
    std::uint32_t digestsChecked = 0; ///< of this step's own tensors
    std::optional<Coverage> coverage; ///< from level 3 on, of versions that can be rebuilt
    std::string root; ///< strong DSM1 root of the state, hex; at level 4, for anchors and the last step of the range
    std::optional<Drift> drift; ///< where trained and served state were compared
    /// Of its values, beside the verdict on its bytes; nothing where no replay of it was seen.
    enum class Health : std::uint8_t { Normal, Suspect };
    std::optional<Health> health;
    std::vector<Error> problems;
};
/// Up to where an epoch is verified or consistent. Steps behind its last complete anchor have nothing to be compared
/// with.
struct ConsistentTo {
    int epoch = 0;
    std::optional<std::int64_t> step; ///< nothing: nowhere
};
/// Objects, but for empty ones, whose bytes were all read, by what the store's own digest says of them
/// (ObjectStore::proofOf).
struct StoreDigests {
    std::uint64_t equal = 0; ///< what was read has the digest that the store keeps
    std::uint64_t uncompared = 0; ///< it keeps one, but it was not compared with all bytes
    std::uint64_t none = 0; ///< it keeps none of the whole object
};
struct VerifyReport {
    int level = 0;
    Verdict verdict = Verdict::Unverified;
    std::vector<StepVerdict> steps;
    std::vector<ConsistentTo> consistentTo; ///< from level 3 on
    std::optional<StoreDigests> storeDigests; ///< from level 2 on; of the versions
    /// Objects that were rewritten, and are trusted from now on: keys, and addresses of those outside of the source.
    std::vector<std::string> accepted;
    std::vector<Error> problems; ///< of the run
};
struct VerifyOptions {
    int level = 2; ///< 0 listing, 1 headers, 2 all bytes, 3 replay, 4 replay, anchors and roots (docs/formats/dsm1.md)
    std::optional<std::pair<std::size_t, std::size_t>> range;
    bool acceptRewritten = false; ///< from level 2 on: trust what is there now instead of what was seen first
    std::optional<std::size_t> until = {}; ///< AnalyzeOptions::until, not before the end of the range
};
Result<VerifyReport> verifyRun(Workbench& bench, Run& run, const VerifyOptions& options, TaskContext& task);

// --- diff ------------------------------------------------------------------------------------------------------------

/// A tensor that A and B have. A report can have a million of them: keep it small.
struct TensorDiff {
    TensorInfo tensor; ///< as in A, with the dtype in which both were compared
    std::uint64_t different = 0; ///< elements whose bits differ
    /// Elements that some delta between A and B changed, also those that came back; where B builds on A.
    std::optional<std::uint64_t> touched;
    std::uint64_t signFlips = 0;
    std::uint64_t nanInvolved = 0; ///< differing elements where a side is NaN; they count in neither maximum
    NotFiniteCounts notFinite; ///< floating types
    double maxAbs = 0; ///< over differing elements with finite values
    std::uint64_t maxUlp = 0; ///< distance of ordered bit patterns; floating types
    /// L2 norm of B − A over that of A, each over its finite values; nothing where A is zero or holds no numbers, or
    /// where elements differ and each of them is NaN or infinite on a side.
    std::optional<double> relativeNorm;
};
/// A tensor whose dtype or shape differs between A and B; its elements are not compared.
struct ReshapedTensor {
    TensorInfo a, b;
};
/// A setting of two adapters that changes what they do, as JSON; null where it is not given.
struct SettingDiff {
    std::string name; ///< "lora_alpha"
    std::string a, b;
};

/// A prefix of names in state A that stands for another one in state B. One of both may be empty.
struct PrefixMap {
    std::string a, b; ///< "model.", "model.language_model."
};
/// "A=B"; empty: nothing. Errors: Usage (no "=").
Result<std::optional<PrefixMap>> parsePrefixMap(const std::string& text);

/// How two states differ as a whole, so that tensors can be compared only once it is taken out of account.
struct FormDifference {
    enum class Kind : std::uint8_t {
        Names, ///< names differ by a prefix
        Wrappers, ///< names differ by parts that a wrapper of modules puts inside: `a` and `b` are those of each side
        Adapters, ///< one side is wrapped with adapters that were not merged: `a` or `b` names a tensor of one
        Dtypes, ///< one side is stored wider: `a` and `b` are dtypes
        Fused, ///< one side stores projections in one tensor: `a` and `b` are modules, "qkv_proj"
    };
    Kind kind = Kind::Names;
    std::string a, b;
    std::uint64_t tensors = 0; ///< that it concerns
    std::uint64_t ofTensors = 0; ///< that are compared; of names, that both sides have

    std::string reason() const; ///< "the names of B begin with _orig_mod. where those of A do not"
    std::string text() const; ///< with how tensors are compared all the same
};

/// "names", "wrappers", "adapters", "dtypes", "fused".
std::string_view word(FormDifference::Kind kind) noexcept;

struct DiffReport {
    std::uint64_t tensorsCompared = 0;
    std::uint64_t tensorsLeftOut = 0; ///< of either side, as the globs say: nothing is known of them
    std::uint64_t elementsCompared = 0;
    NotFiniteCounts notFinite; ///< of all tensors that were compared
    std::vector<TensorDiff> tensors; ///< those that differ in bits or were touched, by name
    std::vector<ReshapedTensor> reshaped;
    std::vector<std::string> onlyInA, onlyInB; ///< of those that are meant
    std::vector<SettingDiff> settings; ///< that differ between the configs of two adapters, by name
    /// What is to be known where a side is an adapter: that the other one is a model, or that settings are not known,
    /// and of which side. Empty: there is nothing.
    std::string adapters;
    std::vector<FormDifference> forms; ///< what was taken out of account; empty for states of one form
    std::uint64_t bytesCompared = 0;
    bool touchedKnown = false; ///< of every tensor
    std::optional<double> relativeNorm; ///< as in TensorDiff, over all tensors that were compared
    bool noopsSeen = false; ///< as in CheckpointDigest

    std::uint64_t tensorsDifferent() const noexcept;
    std::uint64_t elementsDifferent() const noexcept;
    /// Of what was compared; never where that is nothing.
    bool equal() const noexcept
    {
        return tensorsCompared > 0 && tensorsDifferent() == 0 && reshaped.empty() && onlyInA.empty() && onlyInB.empty()
            && settings.empty() && forms.empty();
    }
};
struct DiffOptions {
    TensorGlobs tensors; ///< payload of no others is replayed; a name of either side may fit
    /// Also compares tensors of other names and dtypes where these differ as a whole (FormDifference).
    bool acrossForms = false;
    std::optional<PrefixMap> prefixes; ///< of names, with acrossForms; nothing: looked for
};
/// `aLinkInB`: the link of `b` whose state is A, if B builds on A; then touched elements are counted as well. Errors:
/// as digestState(); NotFound (a glob fits no tensor of either side, the prefixes bring no two tensors together).
Result<DiffReport> diffStates(Workbench& bench, const State& a, const State& b, std::optional<std::size_t> aLinkInB,
                              TaskContext& task, const DiffOptions& options = {});

// --- materialize -----------------------------------------------------------------------------------------------------

struct MaterializeOptions {
    std::string destination;
    std::uint64_t shardBytes = 0; ///< 0: shards as in the anchor
    bool readBackFromDisk = false; ///< drop the page cache before the written bytes are hashed again
    std::shared_ptr<const ObjectStore>
        sidecars; ///< folder with config and tokenizer files; null: only what the source has
    /// One of `parts` processes that share a rebuild: writes the files whose index mod parts is `part`, renames
    /// nothing.
    std::uint32_t part = 0;
    std::uint32_t parts = 1;
    bool commit = false; ///< checks that all parts are there and finishes
    bool acrossGap = false; ///< do not refuse what only the no-op test speaks against
    bool acceptRewritten = false; ///< use objects that were rewritten since they were first seen, this once
    bool forTraining = false; ///< also copy the trainer's own files of this step, where it is a checkpoint by itself
    std::string toolVersion; ///< for the provenance file
    /// Forms that proved damaged when the same version was rebuilt another way (FallbackPlans::replaced()). They are
    /// told as notices, and the result is proven only if a digest or root vouches for every tensor.
    std::vector<Error> replaced;
};
struct MaterializeReport {
    std::string path;
    std::uint64_t bytes = 0;
    std::string root; ///< DSM1 fast root, hex
    std::uint64_t tensors = 0;
    std::uint64_t resumedBytes = 0; ///< found from an earlier attempt and verified
    std::uint32_t digestsChecked = 0;
    Coverage coverage; ///< not with one part of a shared rebuild
    bool proven = true; ///< Version::proven, with what the no-ops on the way say
    bool lossProven = false; ///< rebuilt across a gap behind which a delta is proven to be lost
    bool lossy = false; ///< a delta on the way adds rounded differences
    bool fromFullForm = false; ///< read from Version::fullForm()
    bool committed = false; ///< false for one part of a shared rebuild
    std::vector<std::string> sidecars;
    /// Files of the trainer beside the checkpoint that it was rebuilt from (optimizer, scheduler, random state): they
    /// belong to that step, and are not copied.
    std::vector<std::string> leftOut;
    std::vector<std::string> trainerFiles; ///< that were copied (MaterializeOptions::forTraining)
    /// With forTraining: what a trainer resumes with and the source does not have of this step, as words for people.
    std::vector<std::string> missing;
    std::vector<std::string> rewritten; ///< objects that were used although they were rewritten (State::rewritten())
    /// What is known against the versions that it was rebuilt from, and objects that could not be compared with what is
    /// on record of them.
    std::vector<Error> notices;
};
/// Rebuilds a version as an ordinary Hugging Face checkpoint. Nothing appears under the final name unless all of it was
/// written, read back and compared, and all that was read is what is on record of it and what stands there in the end.
/// Errors: Exists, Digest, BaseMismatch, ChainGap, Io; and those that leave what was built, so that the same call goes
/// on from it: Canceled, Transient, Auth, NoSpace, ListSuspect; Rewritten, without the tensors that were read from the
/// object.
Result<MaterializeReport> materialize(Workbench& bench, const Run& run, const Version& version, const Plan& plan,
                                      const MaterializeOptions& options, TaskContext& task);

} // namespace deltascope
