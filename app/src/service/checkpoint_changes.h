#pragma once

#include "deltascope/app/view/log_view.h"
#include "deltascope/engine/operations.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope::app {

/// Null where the tensor is not known.
using TensorFinder = std::function<const TensorInfo*(std::string_view name)>;

/// Fills in what `counts`, the changed elements of each tensor, say of those that are meant. `find` gives their types;
/// where one is not known the bytes stay unknown.
void countInto(StepChangeView& change, const std::vector<TensorCount>& counts, const TensorGlobs& meant,
               const TensorFinder& find);

/// Compares plain checkpoints with the one before each, the newest first. What was compared once stays known while the
/// objects are the same.
class CheckpointChanges {
public:
    /// `most`: how many of the newest. Everything outlives it.
    CheckpointChanges(Workbench& bench, const Run& run, const TensorGlobs& meant, std::uint32_t most);

    /// Ends before it has read more than that.
    void limitReads(std::uint64_t bytes) { m_view.mostBytes = bytes; }
    /// The view says what cannot be compared; that is no error. Errors: Canceled.
    Result<void> compare(TaskContext& task);

    const std::vector<StepChangeView>& steps() const noexcept { return m_steps; } ///< as the versions of the run
    const ComparisonView& view() const noexcept { return m_view; }

private:
    bool takeKnown(std::size_t at);
    Result<void> compareAt(std::size_t at, TaskContext& task);
    Result<PathPtr> open(std::size_t at, TaskContext& task) const;
    std::uint64_t bytesOf(const PathState& state) const;
    void remember(std::size_t at, const DiffReport& report, std::vector<TensorCount> counts);

    Workbench& m_bench;
    const Run& m_run;
    const TensorGlobs& m_meant;
    std::uint32_t m_most;
    std::string m_source; ///< in the catalog
    std::vector<std::string> m_keys;
    std::map<std::string, Catalog::KnownFacts> m_known;
    std::vector<StepChangeView> m_steps;
    ComparisonView m_view;
    std::string m_ended; ///< why nothing more is compared
};

} // namespace deltascope::app
