#pragma once

#include <QObject>
#include <QPointer>
#include <QRect>
#include <QTimer>
#include <QWidget>

#include <vector>

class QLayoutItem;

namespace deltascope::desktop {

/// Gives the parts of a page the places that its layouts want one after the other, each in an event of its own: painted
/// together they would keep the window from anything else. When the page itself changes its size, all follow at once.
/// GUI thread.
class PartMover final : public QObject {
    Q_OBJECT

public:
    /// Owned by the page.
    explicit PartMover(QWidget* page);

    /// The place of a part, to be added to the layout of `room` instead of the part. The layout owns it.
    QLayoutItem* place(QWidget* part, QWidget* room);
    bool isDone() const { return m_waiting.empty(); }

private:
    class Place;
    struct Move {
        QPointer<QWidget> part;
        QRect to;
    };
    void want(QWidget* part, const QRect& to);
    void moveNext();

    QWidget* m_page;
    QSize m_doneFor; ///< the size of the page when all parts had their places
    std::vector<Move> m_waiting;
    QTimer m_turn; ///< runs while parts wait
};

} // namespace deltascope::desktop
