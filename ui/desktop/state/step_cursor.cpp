#include "state/step_cursor.h"

namespace deltascope::desktop {

void StepCursor::set(State state)
{
    if (state == m_state)
        return;
    m_state = std::move(state);
    emit changed();
}

void StepCursor::setB(StepId step)
{
    State state = m_state;
    state.b = step;
    state.follow = false;
    set(std::move(state));
}

void StepCursor::setA(std::optional<StepId> step)
{
    State state = m_state;
    state.a = step;
    set(std::move(state));
}

void StepCursor::setRange(std::optional<StepRange> range)
{
    State state = m_state;
    state.range = range;
    set(std::move(state));
}

void StepCursor::setTensor(const std::string& name)
{
    State state = m_state;
    state.tensor = name;
    set(std::move(state));
}

void StepCursor::setFollow(bool follow)
{
    State state = m_state;
    state.follow = follow;
    set(std::move(state));
}

void StepCursor::swap()
{
    if (!m_state.a || !m_state.b)
        return;
    State state = m_state;
    std::swap(state.a, state.b);
    state.follow = false;
    set(std::move(state));
}

void StepCursor::moveTo(std::optional<StepId> newest)
{
    if (!m_state.follow && m_state.b)
        return;
    State state = m_state;
    state.b = newest;
    set(std::move(state));
}

} // namespace deltascope::desktop
