#include "state/range_command.h"

#include <QCoreApplication>
#include <QDateTime>

namespace deltascope::desktop {

namespace {

constexpr qint64 MergeMs = 600;
constexpr int RangeCommandId = 1;

}

RangeCommand::RangeCommand(StepCursor& cursor, std::optional<StepRange> to)
    : QUndoCommand(QCoreApplication::translate("RangeCommand", "zoom"))
    , m_cursor(cursor)
    , m_before(cursor.state().range)
    , m_after(to)
    , m_atMs(QDateTime::currentMSecsSinceEpoch())
{
}

void RangeCommand::undo() { m_cursor.setRange(m_before); }
void RangeCommand::redo() { m_cursor.setRange(m_after); }
int RangeCommand::id() const { return RangeCommandId; }

bool RangeCommand::mergeWith(const QUndoCommand* later)
{
    const auto* next = static_cast<const RangeCommand*>(later);
    if (next->m_atMs - m_atMs > MergeMs)
        return false;
    m_after = next->m_after;
    m_atMs = next->m_atMs;
    return true;
}

void showRange(StepCursor& cursor, QUndoStack& views, std::optional<StepRange> range)
{
    if (cursor.state().range != range)
        views.push(new RangeCommand(cursor, range));
}

} // namespace deltascope::desktop
