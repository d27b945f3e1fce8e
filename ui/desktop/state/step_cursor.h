#pragma once

#include <QObject>
#include <QString>

#include <cstdint>
#include <optional>
#include <utility>

namespace deltascope::desktop {

/// A version of a run.
struct StepId {
    int epoch = 0;
    std::int64_t step = 0;

    bool operator==(const StepId&) const = default;
    QString address() const { return QStringLiteral("%1:%2").arg(epoch).arg(step); }
};

/// First and last step, both included.
using StepRange = std::pair<std::int64_t, std::int64_t>;

/// Where the user is in a run; every page shows the same. GUI thread.
class StepCursor final : public QObject {
    Q_OBJECT

public:
    struct State {
        std::optional<StepId> b; ///< the current step
        std::optional<StepId> a; ///< what it is compared with
        std::optional<StepRange> range; ///< nothing: the whole epoch of B
        bool follow = true; ///< B stays on the newest step
        std::string tensor; ///< selected one; empty: none

        bool operator==(const State&) const = default;
    };

    using QObject::QObject;

    const State& state() const { return m_state; }
    std::optional<StepId> b() const { return m_state.b; }
    std::optional<StepId> a() const { return m_state.a; }

    void set(State state);
    void setB(StepId step); ///< the user's choice: following ends
    void setA(std::optional<StepId> step);
    void setRange(std::optional<StepRange> range);
    void setTensor(const std::string& name);
    void setFollow(bool follow);
    void swap(); ///< needs both
    /// Keeps B on the newest step while following, and off what is not there. `newest`: of the newest epoch.
    void moveTo(std::optional<StepId> newest);

signals:
    void changed();

private:
    State m_state;
};

} // namespace deltascope::desktop
