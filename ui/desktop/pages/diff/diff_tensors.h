#pragma once

#include "pages/diff/diff_table.h"
#include "pages/page.h"

#include <QWidget>

class QLabel;
class QSplitter;
class QTableView;

namespace deltascope::desktop {

class BlockView;
class FilterField;

/// Tensors of a comparison: a table that is filtered and sorted, and beside it, on request, where inside of the chosen
/// tensor the differences are. GUI thread.
class DiffTensors final : public QWidget {
    Q_OBJECT

public:
    /// `context` outlives it.
    explicit DiffTensors(PageContext& context, QWidget* parent = nullptr);

    /// `a`, `b`: what the blocks compare. `key`: other rows under another key begin unfiltered and sorted as the
    /// content says.
    void setContent(const QString& key, DiffTable::Content content, const StepId& a, const StepId& b);
    /// Whether rows lead to their blocks: not for tensors of one side.
    void setOpens(bool opens);

    QTableView& table() { return *m_table; }
    FilterField& filter() { return *m_filter; }
    BlockView* blocks() { return m_blocks; } ///< null: never opened

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void open(const QModelIndex& row);
    void closeBlocks();
    void showCurrent();
    void showFound();
    std::string nameAt(const QModelIndex& row) const;

    PageContext& m_context;
    DiffTable m_model;
    DiffRows m_rows;
    FilterField* m_filter;
    QTableView* m_table;
    QSplitter* m_splitter;
    QLabel* m_footer;
    QLabel* m_hint;
    QWidget* m_side = nullptr; ///< with the blocks
    BlockView* m_blocks = nullptr;
    QLabel* m_blocksTitle = nullptr;
    QString m_key;
    StepId m_a;
    StepId m_b;
    bool m_opens = true;
};

} // namespace deltascope::desktop
