#pragma once

#include "heat/heat_model.h"

#include <QElapsedTimer>
#include <QUndoCommand>

#include <functional>

namespace deltascope::desktop {

/// Undoes a change of what a view shows; quick changes of one kind are one step. The change itself has been made when
/// the command is pushed.
template <class State> class ViewCommand final : public QUndoCommand {
public:
    using Apply = std::function<void(const State&)>;

    /// `kind`: commands of one kind may be merged; -1: never.
    ViewCommand(const QString& text, State before, State after, Apply apply, int kind)
        : QUndoCommand(text)
        , m_before(std::move(before))
        , m_after(std::move(after))
        , m_apply(std::move(apply))
        , m_kind(kind)
    {
        m_age.start();
    }

    int id() const override { return m_kind; }
    bool mergeWith(const QUndoCommand* other) override
    {
        constexpr qint64 TogetherMs = 800;
        const auto* next = dynamic_cast<const ViewCommand*>(other);
        if (!next || m_age.elapsed() > TogetherMs)
            return false;
        m_after = next->m_after;
        m_age.restart();
        return true;
    }
    void undo() override { m_apply(m_before); }
    void redo() override
    {
        if (std::exchange(m_made, true))
            m_apply(m_after);
    }

private:
    State m_before;
    State m_after;
    Apply m_apply;
    int m_kind;
    bool m_made = false;
    QElapsedTimer m_age;
};

} // namespace deltascope::desktop
