#pragma once

#include "widgets/query.h"

#include <QLineEdit>

class QAction;
class QLabel;
class QUndoStack;

namespace deltascope::desktop {

/// A typed filter: neutral while empty, then green with what it found, or red with why it cannot be understood. What
/// is typed can be undone on the stack of the view. GUI thread.
class FilterField final : public QLineEdit {
    Q_OBJECT

public:
    /// `undo` outlives it.
    FilterField(std::vector<QueryField> fields, QUndoStack& undo, QWidget* parent = nullptr);

    const Query& query() const { return m_query; }
    /// Shows how many of all rows pass. `note`: "loaded"; may be empty.
    void setFound(std::uint64_t found, std::uint64_t all, const QString& note = {});
    /// Begins to filter with what was typed elsewhere: in the list.
    void startWith(const QString& text);
    /// Forgets the filter without a trace in the history: other rows are shown now.
    void reset();

signals:
    void queryChanged();

protected:
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    friend class FilterCommand;
    void take(const QString& text); ///< without the history
    void showState();
    void placeStatus();

    std::vector<QueryField> m_fields;
    QUndoStack& m_undo;
    Query m_query;
    QString m_taken; ///< the text that m_query was read from
    QString m_found;
    QString m_statusText; ///< whole, however little of it fits
    QLabel* m_status; ///< inside of the field, at its end
    QAction* m_clear;
    bool m_silent = false; ///< the text is set by the history
};

} // namespace deltascope::desktop
