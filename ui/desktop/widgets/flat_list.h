#pragma once

#include <QTreeView>

namespace deltascope::desktop {

/// A tree view of one level whose lines are all metrics().row high: where a line is need not be searched, so tens of
/// thousands of them cost no more than those in sight. GUI thread.
class FlatList : public QTreeView {
    Q_OBJECT

public:
    static constexpr int CellPadding = 6; ///< of cells and header, left and right
    static constexpr int EdgePadding = 16; ///< beside the edges of the page

    explicit FlatList(QWidget* parent = nullptr);

    QRect visualRect(const QModelIndex& index) const override;
    void scrollTo(const QModelIndex& index, ScrollHint hint = EnsureVisible) override;
    void setEmptyText(const QString& text); ///< shown where there is no line

protected:
    int topOf(int line) const; ///< in the viewport
    bool isInSight(int line) const;
    void dataChanged(const QModelIndex& from, const QModelIndex& to, const QList<int>& roles) override;
    QRegion visualRegionForSelection(const QItemSelection& selection) const override;
    void paintEvent(QPaintEvent* event) override;
    /// The selected lines as text: all columns from `first` on, separated by tabs.
    QString selectedText(int first) const;

private:
    QString m_emptyText;
};

} // namespace deltascope::desktop
