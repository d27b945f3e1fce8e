#pragma once

#include "state/step_cursor.h"

#include <QUndoCommand>
#include <QUndoStack>

namespace deltascope::desktop {

/// The range of steps that is shown, as a step of the view's undo stack. Zooms that follow each other closely are one.
/// GUI thread.
class RangeCommand final : public QUndoCommand {
public:
    /// `cursor` outlives it. Nothing in `to`: the whole epoch.
    RangeCommand(StepCursor& cursor, std::optional<StepRange> to);

    void undo() override;
    void redo() override;
    int id() const override;
    bool mergeWith(const QUndoCommand* later) override;

private:
    StepCursor& m_cursor;
    std::optional<StepRange> m_before;
    std::optional<StepRange> m_after;
    qint64 m_atMs; ///< since 1970
};

/// Shows a range, undoably; nothing: the whole epoch.
void showRange(StepCursor& cursor, QUndoStack& views, std::optional<StepRange> range);

} // namespace deltascope::desktop
