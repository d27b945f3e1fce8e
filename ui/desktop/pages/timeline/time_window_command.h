#pragma once

#include "pages/timeline/lanes_canvas.h"

#include <QPointer>
#include <QUndoCommand>

namespace deltascope::desktop {

/// A zoom or pan of the wall clock on the undo stack of the view. Those that follow each other closely are one.
class TimeWindowCommand final : public QUndoCommand {
public:
    TimeWindowCommand(LanesCanvas* canvas, const TimeWindow& to);

    void undo() override;
    void redo() override;
    int id() const override;
    bool mergeWith(const QUndoCommand* later) override;

private:
    QPointer<LanesCanvas> m_canvas;
    TimeWindow m_before;
    TimeWindow m_after;
    qint64 m_atMs; ///< since 1970
};

} // namespace deltascope::desktop
