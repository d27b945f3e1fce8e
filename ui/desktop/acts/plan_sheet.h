#pragma once

#include "bridge/service_bridge.h"

#include <QDialog>
#include <QTimer>

class QLabel;
class QPushButton;
class QVBoxLayout;

namespace deltascope::desktop {

class CommandLine;

/// A sheet that shows what an act would do before it does it: the plan's steps, bytes, warnings and command line. Every
/// change of an option makes a new plan; the act is bound to the plan that is shown. Asynchronous: open(), never
/// exec().
class PlanSheet : public QDialog {
    Q_OBJECT

public:
    PlanSheet(ServiceBridge& bridge, const QString& run, const QString& title, const QString& actText, QWidget* parent);

signals:
    void started(const deltascope::app::TaskView& task);

protected:
    /// Where a subclass puts its options.
    QVBoxLayout* options() { return m_options; }
    virtual app::ActRequest request() const = 0;
    /// Called right after the act was started.
    virtual void actStarted() { }
    void planLater();
    void showEvent(QShowEvent* event) override;

private:
    void makePlan();
    void showPlan(const Result<app::PlanView>& plan);
    void act();

    ServiceBridge& m_bridge;
    QString m_run;
    std::optional<app::PlanView> m_plan;
    QString m_refusal; ///< why the plan that was shown before was not carried out
    QVBoxLayout* m_options;
    QLabel* m_steps;
    QLabel* m_room;
    QLabel* m_warnings;
    CommandLine* m_command;
    QPushButton* m_act;
    QList<QWidget*> m_below; ///< the options, from top to bottom
    QTimer m_later;
    std::uint64_t m_generation = 0; ///< of the plan that is waited for
};

} // namespace deltascope::desktop
