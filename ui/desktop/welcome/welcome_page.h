#pragma once

#include "session/session.h"

#include <QWidget>

class QTreeWidget;

namespace deltascope::desktop {

class ActionRegistry;

/// What is shown while no run is open: the ways to begin, sources that were open before, and what this is.
class WelcomePage final : public QWidget {
    Q_OBJECT

public:
    WelcomePage(Session& session, ActionRegistry& actions, QWidget* parent = nullptr);

signals:
    void sourceChosen(const QString& source, const QString& base);

private:
    QWidget* makeChoices();
    QWidget* makeRecents();
    QWidget* makeWhat();
    QString recentsTitle() const;
    std::vector<Session::Recent> sources() const;
    void showRecents();

    Session& m_session;
    ActionRegistry& m_actions;
    QTreeWidget* m_recents;
};

} // namespace deltascope::desktop
