#pragma once

#include "pages/page.h"

#include <QToolBar>

class QComboBox;
class QLabel;
class QPushButton;

namespace deltascope::desktop {

class Session;

/// The upper row: back and forward, which source and run, whether it is live, and the omnibox.
class TopBar final : public QToolBar {
    Q_OBJECT

public:
    TopBar(PageContext& context, Session& session, QWidget* parent = nullptr);

signals:
    void runChosen(const QString& id);

private:
    void showRuns();
    void showState();

    PageContext& m_context;
    Session& m_session;
    QComboBox* m_runs;
    QLabel* m_source;
    QLabel* m_state;
};

} // namespace deltascope::desktop
