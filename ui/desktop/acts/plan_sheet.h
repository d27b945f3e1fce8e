#pragma once

#include "bridge/service_bridge.h"

#include <QDialog>
#include <QTimer>

class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QScrollArea;
class QVBoxLayout;

namespace deltascope::desktop {

class CommandLine;
class PlanBody;

/// A sheet that shows what an act would do before it does it. Every change of an option makes a new plan, which may
/// have to be waited for; the act is bound to the plan that is shown, and a plan that nobody wants is forgotten.
/// Asynchronous: open(), never exec().
class PlanSheet : public QDialog {
    Q_OBJECT

public:
    PlanSheet(ServiceBridge& bridge, const QString& run, const QString& title, const QString& actText, QWidget* parent);

    void done(int result) override;

signals:
    void started(const deltascope::app::TaskView& task);

protected:
    ServiceBridge& bridge() { return m_bridge; }
    const QString& run() const { return m_run; }
    /// The title of the window and of the sheet.
    void setHeading(const QString& title);
    /// Puts a widget of a fixed width to the left of the plan. Once, in a constructor.
    void putAside(QWidget* side);
    /// Where a subclass puts its options.
    QVBoxLayout* options() { return m_options; }
    virtual app::ActRequest request() const = 0;
    /// What has to be filled in before there can be a plan: "Name". Empty: nothing.
    virtual QString missing() const { return {}; }
    /// Called right after the act was started. Closes the sheet.
    virtual void actStarted(const app::TaskView& task);
    /// Puts a widget in the place of the plan.
    void showInstead(QWidget* widget);
    void planLater();
    void showEvent(QShowEvent* event) override;

private:
    void makePlan();
    void look();
    void forgetPlan();
    void take(const Result<app::PlanView>& plan);
    void hidePlan();
    void showProgress(const app::PlanView& plan);
    void showReady(const app::PlanView& plan);
    void showProblem(const std::string& text, const std::string& remedy);
    void askFor(const std::string& word);
    void showWord();
    bool wordFits() const;
    void fitBody();
    void stayOnScreen();
    void act();

    ServiceBridge& m_bridge;
    QString m_run;
    std::optional<app::PlanView> m_plan; ///< that is being made or shown
    bool m_begun = false; ///< what it says is being done
    QString m_refusal; ///< why the plan that was shown before was not carried out
    QWidget* m_side = nullptr; ///< to the left of the plan
    QWidget* m_all; ///< everything about the plan
    QLabel* m_heading;
    QVBoxLayout* m_options;
    QWidget* m_below; ///< the options
    QWidget* m_waiting;
    QLabel* m_phase;
    QProgressBar* m_progress;
    PlanBody* m_body;
    QScrollArea* m_scroll;
    QLabel* m_warnings;
    CommandLine* m_remedy; ///< lines to paste
    QWidget* m_word = nullptr; ///< made for the first plan that asks for one
    QLabel* m_wordLabel = nullptr;
    QLineEdit* m_wordField = nullptr;
    QLabel* m_wordState = nullptr;
    CommandLine* m_command;
    QPushButton* m_act;
    bool m_inOrder = false; ///< of the keys
    QTimer m_later;
    QTimer m_look; ///< again at a plan that is being made
    std::uint64_t m_generation = 0; ///< of the plan that is waited for
};

} // namespace deltascope::desktop
