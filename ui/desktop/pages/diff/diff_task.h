#pragma once

#include "bridge/service_bridge.h"
#include "pages/diff/diff_contents.h"
#include "state/step_cursor.h"

#include <QObject>

#include <optional>

namespace deltascope::desktop {

/// Two versions of a run.
struct DiffPair {
    QString run;
    StepId a;
    StepId b;

    bool operator==(const DiffPair&) const = default;
};

/// The exact comparison of a pair: first its plan, then its task, then what it found. A comparison that was made
/// before under the same plan is found again, one that runs is joined. GUI thread.
class DiffTask final : public QObject {
    Q_OBJECT

public:
    enum class State { None, Planning, Ready, Running, Done, Failed };

    /// `bridge` outlives it.
    explicit DiffTask(ServiceBridge& bridge, QObject* parent = nullptr);

    void setPair(std::optional<DiffPair> pair);
    const std::optional<DiffPair>& pair() const { return m_pair; }
    void planAgain();
    /// Begins, also again after a result; needs a plan.
    void start();
    void cancel(); ///< a running one; the task goes on without the page otherwise

    State state() const { return m_state; }
    const std::optional<app::PlanView>& plan() const { return m_plan; }
    const std::optional<app::TaskView>& task() const { return m_task; }
    const DiffPointer& result() const { return m_result; } ///< of state Done, else null
    const std::optional<app::ProblemView>& problem() const { return m_problem; } ///< of state Failed

signals:
    void changed();

private:
    void takePlan(const Result<app::PlanView>& plan);
    void takeTask(const app::TaskView& task);
    void enter(State state);

    ServiceBridge& m_bridge;
    std::optional<DiffPair> m_pair;
    State m_state = State::None;
    std::optional<app::PlanView> m_plan;
    std::optional<app::TaskView> m_task;
    DiffPointer m_result;
    std::optional<app::ProblemView> m_problem;
    std::uint64_t m_generation = 0; ///< of the plan that is waited for
};

} // namespace deltascope::desktop
