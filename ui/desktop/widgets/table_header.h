#pragma once

#include <QHeaderView>

class QTableView;
class QTreeView;

namespace deltascope::desktop {

/// The header of a list or table. A title begins or ends where the cells below it do, and the sorted column has its
/// arrow beside its title: up where the least is on top. GUI thread.
class TableHeader final : public QHeaderView {
    Q_OBJECT

public:
    /// Pixels from the edge of a section to its text.
    struct Insets {
        int cell;
        int edge; ///< at the outer edges of the first and the last column
    };
    static constexpr int Usual = 9; ///< the style sheet's padding of cells and the delegate's own margin

    /// Puts one in the place of the view's own header, which it deletes: before anything is asked of that, and before
    /// sorting is allowed.
    static void give(QTableView& view, Insets insets = { Usual, Usual });
    static void give(QTreeView& view, Insets insets = { Usual, Usual });

protected:
    void paintSection(QPainter* painter, const QRect& rect, int section) const override;
    QSize sectionSizeFromContents(int section) const override;

private:
    TableHeader(Insets insets, QWidget* parent);
    int leftOf(int section) const;
    int rightOf(int section) const;
    Qt::Alignment alignmentOf(int section) const; ///< as the model says; else that of the first row
    QString titleOf(int section) const;

    Insets m_insets;
};

} // namespace deltascope::desktop
