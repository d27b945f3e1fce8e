#pragma once

#include "bridge/service_bridge.h"
#include "state/run_focus.h"
#include "state/step_cursor.h"

#include <QTimer>
#include <QWidget>

class QAbstractItemView;
class QLabel;
class QLineEdit;
class QStackedLayout;
class QUndoStack;

namespace deltascope::desktop {

class ActionRegistry;
class Canvas;

/// What every page of a window works with. All of it outlives the pages. GUI thread.
struct PageContext {
    ServiceBridge& bridge;
    StepCursor& cursor;
    RunFocus& focus;
    ActionRegistry& actions;
    QUndoStack& viewUndo; ///< zooms, filters, sorts; never acts on data
};

/// One page of the window. It has four states: empty (no run is open, or nothing to show), loading, error and stale;
/// the last good content stays where it is. refresh() is called on the GUI thread, at most ten times a second, only
/// while the page is visible and its run is open.
class Page : public QWidget {
    Q_OBJECT

public:
    Page(PageContext& context, QWidget* parent = nullptr);

    /// Canvas whose table twin Ctrl+Shift+T shows; null: none.
    virtual Canvas* canvas() { return nullptr; }
    /// What Ctrl+F focuses; null: none.
    virtual QLineEdit* filterField() { return nullptr; }
    /// The list that F7 and F8 move in; null: none.
    virtual QAbstractItemView* mainList() { return nullptr; }
    /// What Ctrl+S saves besides a picture of the page; a name ending with its type, "steps.csv". Empty: a picture
    /// only.
    virtual QString exportName() const { return {}; }
    virtual QByteArray exportText() { return {}; }
    /// The step that keys 1 and 2 mean; nothing: B.
    virtual std::optional<StepId> stepAtCursor();

    /// Gives the focus to what had it here last, else to what the page shows, not to its filter: single keys act at
    /// once. Where nothing is shown, to the first control.
    void takeFocus();
    /// Asks for a refresh soon. Cheap.
    void refreshLater();

protected:
    PageContext& context() const { return m_context; }
    /// The run that is shown; never null while refresh() runs.
    const RunPointer& run() const { return m_context.focus.run(); }

    /// The page itself. Call once.
    void setContent(QWidget* content);
    /// The run has changed or the page became visible. run()->run is not null.
    virtual void refresh() = 0;
    /// The cursor moved and the run did not; quick. By default a refresh.
    virtual void cursorMoved() { refreshLater(); }
    /// Another run is open, or none: what was computed is worthless.
    virtual void runOpened() { }
    /// Shows text in the middle instead of the content: why there is nothing. Empty: the content again.
    void setEmptyText(const QString& title, const QString& text = {});

    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    void refreshNow();
    void showState();
    void showContent(bool content); ///< or why there is none
    QWidget* makeEmptyState();
    QWidget* makeBanner();

    PageContext& m_context;
    QStackedLayout* m_stack;
    QWidget* m_banner;
    QLabel* m_bannerText;
    QWidget* m_empty;
    QLabel* m_emptyTitle;
    QLabel* m_emptyText;
    QWidget* m_emptyButtons;
    QWidget* m_content = nullptr;
    QString m_nothingTitle; ///< said by the page itself
    QString m_nothingText;
    QTimer m_refresh;
    QTimer m_contact; ///< looks at the age of the last contact
    bool m_dirty = true;
};

} // namespace deltascope::desktop
