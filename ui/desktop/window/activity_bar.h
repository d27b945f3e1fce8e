#pragma once

#include <QHash>
#include <QWidget>

class QButtonGroup;
class QToolButton;
class QVBoxLayout;

namespace deltascope::desktop {

class ActionRegistry;

/// The pages, one button below the other, 72 px wide. Buttons trigger the actions "go.PAGE".
class ActivityBar final : public QWidget {
    Q_OBJECT

public:
    explicit ActivityBar(ActionRegistry& actions, QWidget* parent = nullptr);
    void setCurrent(const QString& page);
    void setBadge(const QString& page, int count); ///< 0: none

private:
    QHash<QString, QToolButton*> m_buttons;
    QButtonGroup* m_group;
};

} // namespace deltascope::desktop
