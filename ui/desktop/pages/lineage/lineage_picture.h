#pragma once

#include "bridge/service_bridge.h"
#include "state/step_cursor.h"
#include "widgets/query.h"

#include "deltascope/app/view/lineage_view.h"

#include <QString>

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace deltascope::desktop {

/// Neighboring rows of one chain, newest first: [from, to).
struct LineageChain {
    std::size_t from = 0;
    std::size_t to = 0;
    std::uint64_t bytes = 0;
    std::size_t checked = 0; ///< rows with a verdict that found nothing wrong
    int leastLevel = 0; ///< of these
    std::optional<int> anchorLevel; ///< of the anchor that it begins with
    bool plain = true; ///< nothing in it that has to be seen: no damage, hole, name or warning
};

/// What others say about a row.
struct LineageRemark {
    QString served; ///< "served by r0, r1"
    QString note; ///< what an actor wrote down
    QString alert; ///< "⚑ pause-long"
    std::optional<std::uint64_t> differs; ///< elements in which an anchor differs from the replay before it
};

/// All rows of a run with what the page needs to know about them at once. Immutable; any thread.
class LineagePicture {
public:
    /// `query` says which rows are shown; `alerts` are those of the run.
    LineagePicture(RunPointer snapshot, const std::vector<app::AlertView>& alerts, const Query& query);

    const app::RunSnapshot& snapshot() const { return *m_view.snapshot; }
    const std::vector<app::LineageRowView>& rows() const { return m_view.rows; } ///< newest first
    int lanes() const { return m_view.lanes; }
    const std::vector<LineageChain>& chains() const { return m_chains; }
    std::size_t chainOf(std::size_t row) const;
    const LineageRemark& remark(std::size_t row) const;
    bool hasAlert(std::size_t row) const { return !remark(row).alert.isEmpty(); }

    /// Rows that pass the filter, newest first; nothing: there is no filter.
    const std::optional<std::vector<std::size_t>>& kept() const { return m_kept; }
    std::uint64_t versions() const { return m_versions; } ///< holes left out

    std::optional<std::size_t> find(const StepId& id) const;
    StepId idOf(std::size_t row) const;
    /// The row and all that it is rebuilt from, newest first.
    std::vector<std::size_t> replayPath(std::size_t row) const;

private:
    void remarkRows(const std::vector<app::AlertView>& alerts);
    void gatherChains();

    app::LineageView m_view;
    std::vector<LineageChain> m_chains;
    std::map<std::size_t, LineageRemark> m_remarks;
    std::optional<std::vector<std::size_t>> m_kept;
    std::uint64_t m_versions = 0;
};

using LineagePointer = std::shared_ptr<const LineagePicture>;

/// Fields that the filter of the page knows.
const std::vector<QueryField>& lineageFields();

bool isHole(const app::StepView& step);
bool isAnchor(const app::StepView& step);
/// It cannot be rebuilt, or a verification found it damaged.
bool isBroken(const app::LineageRowView& row);
/// Its numbers were published again by a later epoch, and its bytes are gone.
bool isLost(const app::LineageRowView& row);

} // namespace deltascope::desktop
