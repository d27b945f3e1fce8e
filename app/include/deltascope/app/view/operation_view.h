#pragma once

#include "deltascope/app/view/problem.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace deltascope::app {

// Results of the operations, as every face shows them.

struct StepVerdictView {
    int epoch = 0;
    std::int64_t step = 0;
    std::string result; ///< verified consistent first_sight unverified incomplete damaged
    std::uint32_t digestsChecked = 0; ///< of tensors that this step changes
    std::string root; ///< at level 4: strong DSM1 root, for anchors and the last step
    std::optional<std::uint64_t> anchorDifference; ///< of an anchor: elements that differ from the replay before it
    std::uint64_t zeroSigns = 0; ///< of these, in the sign of zero alone
    std::optional<std::uint64_t> driftEstimate; ///< of the others, more than a usual delta explains
    std::vector<ProblemView> problems;
};
struct VerifyView {
    std::string source;
    int level = 0;
    std::string result;
    std::vector<StepVerdictView> steps;
    std::vector<ProblemView> problems;
    double seconds = 0;
};

struct TensorDigestView {
    std::string name;
    std::string dtype;
    std::vector<std::uint64_t> shape;
    std::string xxh3;
    std::string sha256;
};
struct DigestView {
    std::string root; ///< fast DSM1 root, the one that materialize prints
    std::string strongRoot;
    std::vector<TensorDigestView> tensors;
};

struct TensorDiffView {
    std::string name;
    std::string dtypeA, dtypeB;
    std::vector<std::uint64_t> shapeA, shapeB;
    std::uint64_t elements = 0;
    std::uint64_t different = 0;
    std::optional<std::uint64_t> touched;
    std::uint64_t signFlips = 0;
    std::uint64_t nanInvolved = 0;
    double maxAbs = 0;
    std::uint64_t maxUlp = 0;
    std::optional<double> relativeNorm; ///< L2 of B − A over that of A; nothing where A is zero or holds no numbers
};
struct DiffView {
    bool equal = false;
    std::uint64_t tensorsTotal = 0; ///< in both and comparable
    std::uint64_t tensorsDifferent = 0;
    std::uint64_t elementsTotal = 0;
    std::uint64_t elementsDifferent = 0;
    std::optional<std::uint64_t> elementsTouched;
    std::optional<double> relativeNorm; ///< over all tensors that were compared
    std::uint64_t bytesCompared = 0;
    std::vector<std::string> onlyInA, onlyInB;
    std::vector<TensorDiffView> tensors; ///< differing or touched
    std::vector<TensorDiffView> reshaped; ///< dtype or shape changed; not compared
    double seconds = 0;
};

struct MaterializeView {
    std::int64_t step = 0;
    std::string path;
    std::uint64_t bytes = 0;
    std::string root;
    std::uint64_t tensors = 0;
    std::uint64_t resumedBytes = 0;
    std::uint32_t digestsChecked = 0;
    bool proven = true;
    bool lossProven = false; ///< rebuilt although a delta on the way is proven to be lost
    bool lossy = false; ///< a delta on the way adds rounded differences: never verified
    /// Elements in which the served and the trained state of the step are known to differ, and which one this is
    /// ("served", "trained"; empty if they do not).
    std::uint64_t statesDiffer = 0;
    std::string state;
    bool committed = true; ///< false for one part of a shared rebuild
    std::vector<std::string> sidecars;
    double seconds = 0;
};

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

} // namespace deltascope::app
