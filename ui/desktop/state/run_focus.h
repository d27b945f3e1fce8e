#pragma once

#include "bridge/service_bridge.h"
#include "state/step_cursor.h"

#include <QObject>

namespace deltascope::desktop {

/// Which of the followed runs the window shows, as it is now. GUI thread.
class RunFocus final : public QObject {
    Q_OBJECT

public:
    RunFocus(ServiceBridge& bridge, StepCursor& cursor, QObject* parent = nullptr);

    const QString& id() const { return m_id; } ///< empty: none
    const RunPointer& run() const { return m_run; } ///< null: none
    void open(const QString& id); ///< resets the cursor; empty: none

    /// Null: not in the run, or it is not open.
    const app::StepView* step(const StepId& id) const;
    const app::StepView* b() const;
    const app::StepView* a() const;
    /// Versions of B's epoch, ascending, holes too; null while the run is not open.
    const app::EpochView* epoch() const;
    /// First and last step shown: the cursor's range, cut to the epoch; nothing without steps.
    std::optional<StepRange> shownRange() const;
    /// The version `by` places after B in its epoch, holes left out; nothing at the ends.
    std::optional<StepId> neighbor(int by) const;
    /// The next anchor after (by > 0) or before B.
    std::optional<StepId> neighborAnchor(int by) const;

signals:
    void opened(); ///< another run, or none
    void moved(); ///< the same run has changed

private:
    void take(const RunPointer& now);

    ServiceBridge& m_bridge;
    StepCursor& m_cursor;
    QString m_id;
    RunPointer m_run;
};

} // namespace deltascope::desktop
