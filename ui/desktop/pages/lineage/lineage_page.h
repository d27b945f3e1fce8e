#pragma once

#include "bridge/calculation.h"
#include "pages/lineage/lineage_picture.h"
#include "pages/page.h"

class QLabel;
class QMenu;
class QModelIndex;

namespace deltascope::desktop {

class FilterField;
class LineageLegend;
class LineageStrip;
class LineageTree;
class Readout;

/// Which versions there are, what each builds on, and what rebuilding it costs. GUI thread.
class LineagePage final : public Page {
    Q_OBJECT

public:
    explicit LineagePage(PageContext& context, QWidget* parent = nullptr);

    Canvas* canvas() override;
    QLineEdit* filterField() override;
    QAbstractItemView* mainList() override;
    QString exportName() const override { return QStringLiteral("lineage.csv"); }
    QByteArray exportText() override; ///< the selected versions if there are several, else all that pass the filter
    std::optional<StepId> stepAtCursor() override;

    LineageTree& tree() { return *m_tree; }
    LineageStrip& strip() { return *m_strip; }

protected:
    void refresh() override;
    void cursorMoved() override;
    void runOpened() override;

private:
    void take(const LineagePointer& picture);
    void showCounts();
    void fillMenu(QMenu& menu, const QModelIndex& index);
    void verifySelected();
    void tell(const QString& text); ///< an error in the bar of the page

    Calculation<LineagePointer> m_calculation;
    LineageStrip* m_strip;
    LineageTree* m_tree;
    FilterField* m_filter;
    Readout* m_counts;
    LineageLegend* m_legend;
    QLabel* m_message;
    QTimer m_clock; ///< ages grow
};

} // namespace deltascope::desktop
