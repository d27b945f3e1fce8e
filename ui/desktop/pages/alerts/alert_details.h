#pragma once

#include "deltascope/app/view/alert_view.h"

#include <QWidget>

#include <optional>

class QLabel;
class QMenu;
class QPushButton;

namespace deltascope::desktop {

/// All that is known about one alert, and what can be done about it. GUI thread.
class AlertDetails final : public QWidget {
    Q_OBJECT

public:
    explicit AlertDetails(QWidget* parent = nullptr);
    /// Nothing: none is selected. `run`: what users call its run. `unit`: of its value, empty if it has none.
    void setAlert(std::optional<app::AlertView> alert, const QString& run, const QString& unit, std::int64_t nowUs);
    const std::optional<app::AlertView>& alert() const { return m_alert; }

signals:
    void acknowledgeWanted(const std::string& id);
    void snoozeWanted(const std::string& id, std::int64_t untilUs);
    void stepWanted(const std::string& run, std::int64_t step);

private:
    QMenu* makeSnoozes();

    std::optional<app::AlertView> m_alert;
    QLabel* m_title;
    QLabel* m_text;
    QLabel* m_remedy;
    QLabel* m_facts;
    QPushButton* m_acknowledge;
    QPushButton* m_snooze;
    QPushButton* m_go;
};

} // namespace deltascope::desktop
