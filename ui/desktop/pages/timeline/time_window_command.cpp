#include "pages/timeline/time_window_command.h"

#include <QCoreApplication>
#include <QDateTime>

namespace deltascope::desktop {

namespace {

constexpr int CommandId = 0x54574e;
constexpr qint64 MergeMs = 600;

}

TimeWindowCommand::TimeWindowCommand(LanesCanvas* canvas, const TimeWindow& to)
    : QUndoCommand(QCoreApplication::translate("TimeWindowCommand", "zoom"))
    , m_canvas(canvas)
    , m_before(canvas->window())
    , m_after(to)
    , m_atMs(QDateTime::currentMSecsSinceEpoch())
{
}

void TimeWindowCommand::undo()
{
    if (m_canvas)
        m_canvas->setWindow(m_before);
}

void TimeWindowCommand::redo()
{
    if (m_canvas)
        m_canvas->setWindow(m_after);
}

int TimeWindowCommand::id() const { return CommandId; }

bool TimeWindowCommand::mergeWith(const QUndoCommand* later)
{
    const auto* next = static_cast<const TimeWindowCommand*>(later);
    if (next->m_canvas != m_canvas || next->m_atMs - m_atMs > MergeMs)
        return false;
    m_after = next->m_after;
    m_atMs = next->m_atMs;
    return true;
}

} // namespace deltascope::desktop
