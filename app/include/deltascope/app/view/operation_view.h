#pragma once

#include "deltascope/app/view/problem.h"
#include "deltascope/app/view/reads_view.h"
#include "deltascope/base/short_list.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace deltascope::app {

// Results of the operations, as every face shows them.

/// How many tensors of a state have which evidence (engine/evidence.h).
struct CoverageView {
    std::uint32_t tensors = 0;
    std::uint32_t digest = 0, root = 0, anchor = 0, base = 0, weak = 0, firstSight = 0, none = 0;
    std::vector<std::string> weakest; ///< at most ten names, those with the least evidence first

    bool operator==(const CoverageView&) const = default;
};
/// "16 of 25 tensors by digest, 9 only as in the base you gave, whose bytes nothing vouches for".
std::string coverageText(const CoverageView& coverage);

struct StepVerdictView {
    int epoch = 0;
    std::int64_t step = 0;
    std::string result; ///< verified consistent first_sight unverified incomplete damaged
    std::uint32_t digestsChecked = 0; ///< of tensors that this step changes
    std::string health; ///< of its values: "normal", "suspect"; empty where no replay of it was seen
    std::optional<CoverageView> coverage; ///< from level 3 on, of steps that can be rebuilt
    std::string root; ///< at level 4: strong DSM1 root, for anchors and the last step
    std::optional<std::uint64_t> anchorDifference; ///< of an anchor: elements that differ from the replay before it
    std::uint64_t zeroSigns = 0; ///< of these, in the sign of zero alone
    std::uint64_t missed = 0; ///< of the others, changes that a writer that compares low bytes has missed
    std::optional<std::uint64_t> driftEstimate; ///< of the others, more than a usual delta explains
    std::vector<ProblemView> problems;
};
/// Up to which step all of an epoch is verified or consistent; nothing: nowhere.
struct ConsistentToView {
    int epoch = 0;
    std::optional<std::int64_t> step;
};
/// Objects whose bytes were all read, by what the store's own digest says of them (engine/operations.h).
struct StoreDigestsView {
    std::uint64_t equal = 0, uncompared = 0, none = 0;

    bool operator==(const StoreDigestsView&) const = default;
};
/// "11 of 12 objects read whole have the digest that the store keeps; of 1 the store keeps none".
std::string storeDigestsText(const StoreDigestsView& digests);

struct VerifyView {
    std::string source;
    int level = 0;
    std::string result;
    std::vector<StepVerdictView> steps;
    std::vector<ConsistentToView> consistentTo; ///< from level 3 on
    std::optional<StoreDigestsView> storeDigests; ///< from level 2 on, of remote sources: a folder keeps no digests
    std::vector<std::string> rewritten; ///< objects that were rewritten, and are accepted from now on
    std::vector<ProblemView> problems;
    double seconds = 0;
};
/// What a result of the run leaves out of account: "at step 9, 9 of 25 tensors are only as in the base you gave, whose
/// bytes nothing vouches for", of the last step of which that is so. Empty: of none.
std::string baseAloneText(const VerifyView& report);

struct TensorDigestView {
    std::string name;
    std::string dtype;
    std::vector<std::uint64_t> shape;
    std::array<std::byte, 16> xxh3 {}; ///< canonical: high half first
    std::optional<std::array<std::byte, 32>> sha256; ///< where it was asked for
};
struct DigestView {
    std::string root; ///< fast DSM1 root, the one that materialize prints
    std::string strongRoot;
    std::vector<TensorDigestView> tensors;
    std::string chosen; ///< as in MaterializeView
    ReadsView reads;
};

struct TensorDiffView {
    std::string name;
    std::string dtype; ///< on both sides
    ShortList<std::uint64_t, 2> shape; ///< on both sides
    std::uint64_t elements = 0;
    std::uint64_t different = 0;
    std::optional<std::uint64_t> touched;
    std::optional<std::uint64_t> signFlips, nanInvolved; ///< nothing: of this dtype no distances are measured
    std::uint64_t notFiniteA = 0, notFiniteB = 0; ///< NaN or infinite elements
    std::optional<double> maxAbs; ///< over finite values; nothing where none differ, as where no distances are measured
    std::optional<std::uint64_t> maxUlp; ///< of floating types, over what is not NaN; nothing as above
    std::optional<double> relativeNorm; ///< as in TensorDiff
};
/// A tensor whose dtype or shape differs between A and B.
struct ReshapedTensorView {
    std::string name;
    std::string dtypeA, dtypeB;
    std::vector<std::uint64_t> shapeA, shapeB;
};
/// A setting of two adapters that changes what they do, as JSON: "8", "null" where it is not given.
struct SettingDiffView {
    std::string name; ///< "lora_alpha"
    std::string a, b;

    bool operator==(const SettingDiffView&) const = default;
};

/// How two states differ as a whole; their values are compared all the same.
struct FormDifferenceView {
    std::string kind; ///< as FormDifference::Kind
    std::string a, b; ///< prefixes, parts of names, names of tensors of adapters, dtypes
    std::uint64_t tensors = 0; ///< that it concerns
    std::string text; ///< a sentence
};

struct DiffView {
    bool equal = false; ///< in all that was compared
    std::vector<std::string> globs; ///< of the names of tensors that were to be compared; empty: all
    std::uint64_t tensorsLeftOut = 0; ///< that no glob means: whether they are equal is not known
    std::uint64_t tensorsTotal = 0; ///< in both and comparable
    std::uint64_t tensorsDifferent = 0;
    std::uint64_t elementsTotal = 0;
    std::uint64_t elementsDifferent = 0;
    std::optional<std::uint64_t> elementsTouched;
    std::uint64_t notFiniteA = 0, notFiniteB = 0; ///< NaN or infinite elements of all tensors that were compared
    std::optional<double> relativeNorm; ///< over all tensors that were compared
    std::uint64_t bytesCompared = 0;
    std::vector<std::string> onlyInA, onlyInB;
    std::vector<SettingDiffView> settings; ///< that differ between the configs of two adapters
    std::string adapters; ///< as in DiffReport
    std::vector<FormDifferenceView> forms; ///< what was taken out of account before tensors were compared
    std::vector<TensorDiffView> tensors; ///< differing or touched
    std::vector<ReshapedTensorView> reshaped; ///< not compared
    ReadsView reads; ///< of both sides
    double seconds = 0;
};

/// How the tensors of a state compare with digests that were taken elsewhere.
struct DigestCheckView {
    bool equal = false; ///< in names, dtypes, shapes and digests
    std::string chosen; ///< as in MaterializeView
    std::uint64_t tensorsCompared = 0;
    std::uint64_t bySha256 = 0; ///< of them; the others by XXH3-128 alone
    std::uint64_t bytesHashed = 0;
    std::vector<std::string> different; ///< tensors with other digests
    std::vector<std::string> onlyInState, onlyInDigests;
    std::vector<ReshapedTensorView> reshaped; ///< not compared; A is the state, B the document
    std::vector<FormDifferenceView> forms; ///< likewise
    ReadsView reads;
    double seconds = 0;
};

/// Why not one tensor was compared: "no tensor of A is one of B: nothing was compared". Empty: some were.
std::string nothingComparedText(const DiffView& diff);
std::string nothingComparedText(const DigestCheckView& check);

/// Why tensors of two floating types are not compared as rounded: "BF16 in A and F8_E4M3 in B …". Empty: there are
/// none.
std::string notRoundedText(const DiffView& diff);

/// How many elements of each side are NaN or infinite, and what leaves them out. Empty: none is.
std::string notFiniteText(const DiffView& diff);

/// "lora_alpha is 8 in A and 32 in B; r is 8 in A and 16 in B". Empty: no setting differs.
std::string settingsText(const DiffView& diff);

struct MaterializeView {
    std::int64_t step = 0;
    /// Which step `latest` or no step at all has meant, where a version with a higher number exists; else empty.
    std::string chosen;
    std::string path;
    std::uint64_t bytes = 0;
    std::string root;
    std::uint64_t tensors = 0;
    std::uint64_t resumedBytes = 0;
    std::uint32_t digestsChecked = 0;
    CoverageView coverage;
    bool proven = true; ///< verify would call the state verified or consistent
    bool lossProven = false; ///< rebuilt although a delta on the way is proven to be lost
    bool lossy = false; ///< a delta on the way adds rounded differences: never verified
    /// Elements in which the served and the trained state of the step are known to differ, and which one this is
    /// ("served", "trained"; empty if they do not).
    std::uint64_t statesDiffer = 0;
    std::string state;
    bool committed = true; ///< false for one part of a shared rebuild
    std::vector<std::string> sidecars;
    std::vector<std::string> leftOut; ///< files of the trainer beside the checkpoint that it began with
    std::vector<std::string> trainerFiles; ///< that were copied, where it was made for training
    std::vector<std::string> missing; ///< likewise: "optimizer", "scheduler", … that the source does not have
    ReadsView reads;
    double seconds = 0;
};

/// Whether nothing proves that no delta is missing on the way to a state: its notices say so.
bool mayLackDelta(const MaterializeView& view);

struct DemoView {
    std::string folder;
    std::string bucket; ///< address of the run
    std::int64_t steps = 0; ///< published so far
};

struct CheckView {
    std::string name;
    bool ok = false;
    bool essential = true; ///< a failed one that is not essential is only worth knowing
    std::string detail;
};
struct DoctorView {
    std::vector<CheckView> checks;
    bool ok = true;
};

/// Who did the batches of a backend with a device, in bytes: of both sides where two states are compared.
struct DeviceShareView {
    std::uint64_t byDevice = 0;
    std::uint64_t byProcessor = 0;
    std::string device; ///< the backend: "cuda"
    std::string processor; ///< what does the other part: "avx2", …
    bool isLost = false; ///< the device does nothing any more
    std::uint64_t all() const { return byDevice + byProcessor; }
};

} // namespace deltascope::app
