#pragma once

#include "state_tensors.h"

#include "deltascope/app/view/heat_view.h"
#include "deltascope/engine/operations.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace deltascope::app {

/// Keeps the columns of a followed run, so that a new version costs one column. One thread.
class HeatColumns {
public:
    /// `tensors`: lists of states, shared with others; outlives it.
    explicit HeatColumns(StateTensors& tensors)
        : m_tensors(tensors)
    {
    }

    /// What the replay of a version showed, ahead of view().
    void learn(const std::string& chainKey, const std::vector<TensorCount>& counts) { m_fresh[chainKey] = counts; }
    /// The heatmap as it is now. Columns are filled from what was learned and from the catalog; what neither knows
    /// stays unknown, and so do the columns of `miscounted` versions, by index (SeenChanges). Errors: those of reading
    /// the newest complete state's headers.
    /// The same pointer as before if nothing changed; else `revision` is its own.
    Result<std::shared_ptr<const HeatView>> view(const Workbench& bench, const Run& run,
                                                 const std::set<std::size_t>& miscounted, std::uint64_t revision,
                                                 TaskContext& task);

private:
    using Codes = std::shared_ptr<const std::vector<std::uint8_t>>;

    /// Rows are the tensors of the newest state that can be rebuilt.
    Result<void> updateRows(const Workbench& bench, const Run& run, TaskContext& task);
    /// Forgets the columns and the sums over them.
    void forgetColumns();
    Codes codesOf(std::int64_t step, const std::vector<TensorCount>& counts);

    StateTensors& m_tensors;
    std::string m_rowsOf; ///< identity of the anchor whose tensors are the rows
    std::vector<TensorRowView> m_rows;
    std::map<std::string, std::size_t, std::less<>> m_rowByName;
    std::map<std::string, Codes> m_columns; ///< by chain key
    std::map<std::string, std::vector<TensorCount>> m_fresh; ///< by chain key
    std::shared_ptr<const HeatView> m_last;
};

} // namespace deltascope::app
