#pragma once

#include "deltascope/app/view/summary_view.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace deltascope::app {

/// An edge of the lineage: one way to have a row.
struct LineageFormView {
    bool complete = false; ///< it builds on nothing
    std::optional<std::size_t> base; ///< row that it builds on; nothing if it is complete, or if that row is not there
    bool isUsed = false; ///< the row is rebuilt over it
    bool isUsable = false;
};

/// One version, or a hole in the numbers.
struct LineageRowView {
    const StepView* step = nullptr; ///< in the run of the snapshot
    int lane = 0; ///< 0: the newest epoch
    std::optional<std::size_t> base; ///< row that the way it is rebuilt by builds on
    /// Only where there are several, without copies in mirrors; its own objects first.
    std::vector<LineageFormView> forms;
    std::size_t chain = 0; ///< rows of one chain share it
    std::optional<VerifiedView> verified;
    std::vector<std::string> refs;
};

struct LineageView {
    std::shared_ptr<const RunSnapshot> snapshot; ///< owns what rows point to
    int lanes = 0;
    std::vector<LineageRowView> rows; ///< newest first
};

LineageView makeLineage(std::shared_ptr<const RunSnapshot> snapshot);

} // namespace deltascope::app
