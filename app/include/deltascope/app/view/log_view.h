#pragma once

#include "deltascope/app/view/run_view.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace deltascope::app {

/// What one step changed in the tensors that a log is about, against the state before it. Nothing where it is not
/// known, or nothing stands before it.
struct StepChangeView {
    int epoch = 0;
    std::int64_t step = 0;
    std::optional<std::uint64_t> elements; ///< that changed
    std::optional<std::uint64_t> bytes; ///< of these elements
    std::optional<std::uint32_t> tensors; ///< that hold one
    /// Of checkpoints: tensors that only one of both holds, or of another type or shape; none of their elements counts.
    std::uint32_t unlike = 0;
    std::string why; ///< of checkpoints: why it was not compared; empty where it was
};

/// How many plain checkpoints were compared with the one before each.
struct ComparisonView {
    std::uint32_t compared = 0;
    std::uint32_t known = 0; ///< of these, from an earlier look at the same objects
    std::uint32_t pairs = 0; ///< checkpoints with one before them
    std::uint64_t readBytes = 0; ///< now
    /// What was read at most because nobody said how many to compare; nothing where somebody did.
    std::optional<std::uint64_t> mostBytes;
};

/// The history of a run, and what its steps changed in some tensors.
struct LogView {
    RunView run;
    std::vector<std::string> globs; ///< of the tensors that it is about; empty: all
    std::uint32_t tensors = 0; ///< with globs: that they mean, in the newest state
    std::uint32_t tensorsInAll = 0; ///< with globs: of that state
    std::uint64_t elements = 0; ///< with globs: of the tensors that they mean
    std::vector<StepChangeView> changes; ///< as the steps of the run, where there are globs or checkpoints are compared
    std::optional<ComparisonView> comparison; ///< of a run of plain checkpoints
};

} // namespace deltascope::app
