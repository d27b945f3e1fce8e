#pragma once

#include "bridge/calculation.h"
#include "heat/heat_canvas.h"
#include "pages/heatmap/exact_counts.h"
#include "pages/page.h"

class QStackedWidget;

namespace deltascope::desktop {

class BlockView;
class ElementView;
class HeatTools;
class Trail;

/// Which tensors changed at which step, then inside of one tensor its blocks, then single elements.
class HeatmapPage final : public Page {
    Q_OBJECT

public:
    enum class Level { Heat, Blocks, Elements };

    explicit HeatmapPage(PageContext& context, QWidget* parent = nullptr);

    Canvas* canvas() override;
    QLineEdit* filterField() override;
    QString exportName() const override;
    QByteArray exportText() override; ///< the cells in view, a line per tensor
    /// The same of a box of them, ends excluded.
    QByteArray csvOf(int fromColumn, int toColumn, int fromRow, int toRow) const;

    HeatCanvas* heat() { return m_heat; }
    BlockView* blocks() { return m_blocks; }
    ElementView* elements() { return m_elements; }
    Level level() const { return m_level; }
    void goUp();

protected:
    void refresh() override;
    void cursorMoved() override;
    void runOpened() override;

private:
    void makePlan();
    void take(const HeatPlanPointer& plan);
    void showMarks();
    void showCell();
    void chooseCell(const Spot& spot);
    void openBlocks(const Spot& spot);
    void openElements(std::uint64_t row, std::uint64_t column);
    void setLevel(Level level);
    void rowsChosen();
    void setRows(const RowOptions& options);
    void exportBox(const QByteArray& csv);

    HeatCanvas* m_heat;
    HeatTools* m_tools;
    BlockView* m_blocks;
    ElementView* m_elements;
    Trail* m_trail;
    QStackedWidget* m_stack;
    Level m_level = Level::Heat;
    Calculation<HeatPlanPointer> m_plan;
    ExactCounts m_counts;
    RowOptions m_rows;
    StepCursor::State m_seen; ///< cursor that was shown last
    std::uint64_t m_elementRow = 0, m_elementColumn = 0;
};

} // namespace deltascope::desktop
