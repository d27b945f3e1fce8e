#include "widgets/part_mover.h"

#include <QLayoutItem>

#include <algorithm>

namespace deltascope::desktop {

/// Tells where its part should be, instead of moving it.
class PartMover::Place final : public QWidgetItem {
public:
    Place(PartMover& mover, QWidget* part)
        : QWidgetItem(part)
        , m_mover(mover)
    {
    }
    void setGeometry(const QRect& rect) override { m_mover.want(widget(), rect); }

private:
    PartMover& m_mover;
};

PartMover::PartMover(QWidget* page)
    : QObject(page)
    , m_page(page)
{
    m_turn.setInterval(0);
    connect(&m_turn, &QTimer::timeout, this, &PartMover::moveNext);
}

QLayoutItem* PartMover::place(QWidget* part, QWidget* room)
{
    part->setParent(room);
    return new Place(*this, part);
}

void PartMover::want(QWidget* part, const QRect& to)
{
    std::erase_if(m_waiting, [part](const Move& move) { return move.part == part; });
    if (m_page->isVisible() && m_page->size() == m_doneFor)
        m_waiting.push_back({ part, to });
    else
        QWidgetItem(part).setGeometry(to);
    m_turn.start();
}

/// From below where parts go down, from above where they go up: so none covers another.
void PartMover::moveNext()
{
    std::erase_if(m_waiting, [](const Move& move) { return !move.part || move.part->geometry() == move.to; });
    if (m_waiting.empty()) {
        m_doneFor = m_page->size();
        return m_turn.stop();
    }
    const bool down =
        std::any_of(m_waiting.begin(), m_waiting.end(), [](const Move& move) { return move.to.y() > move.part->y(); });
    const auto higher = [](const Move& a, const Move& b) { return a.to.bottom() < b.to.bottom(); };
    const auto next = down ? std::max_element(m_waiting.begin(), m_waiting.end(), higher)
                           : std::min_element(m_waiting.begin(), m_waiting.end(), higher);
    const Move move = *next;
    m_waiting.erase(next);
    QWidgetItem(move.part).setGeometry(move.to);
}

} // namespace deltascope::desktop
