#include "firstrun/coach_mark.h"

#include "look/look.h"
#include "look/tokens.h"
#include "widgets/cards.h"

#include <QAccessible>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>
#include <array>

namespace deltascope::desktop {

namespace {

constexpr int Width = 296;
constexpr int Gap = 10; ///< between the hint and what it is about
constexpr int Margin = 8; ///< to the edges of the window
constexpr int FrameOutside = 3; ///< of the target

}

/// A line around the target; takes no input.
class CoachMark::Frame final : public QWidget {
public:
    explicit Frame(QWidget* window)
        : QWidget(window)
    {
        setAttribute(Qt::WA_TransparentForMouseEvents);
        hide();
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(color(Token::Accent), 2));
        painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 7, 7);
    }
};

QRect besideOf(const QRect& target, const QSize& size, const QRect& room)
{
    const int x = std::clamp(target.left(), room.left(), std::max(room.left(), room.right() + 1 - size.width()));
    const int y = std::clamp(target.top(), room.top(), std::max(room.top(), room.bottom() + 1 - size.height()));
    const std::array<QPoint, 4> places { QPoint(x, target.bottom() + 1 + Gap),
                                         QPoint(x, target.top() - Gap - size.height()),
                                         QPoint(target.right() + 1 + Gap, y),
                                         QPoint(target.left() - Gap - size.width(), y) };
    const auto place =
        std::find_if(places.begin(), places.end(), [&](const QPoint& at) { return room.contains(QRect(at, size)); });
    return place == places.end() ? QRect() : QRect(*place, size);
}

CoachMark::CoachMark(QWidget* window)
    : QFrame(window)
    , m_frame(new Frame(window))
    , m_title(makeLabel({}, "title"))
    , m_text(makeLabel({}, "body"))
    , m_count(makeLabel({}, "label"))
    , m_done(makeButton(tr("Got it"), {}, "primary"))
{
    setRole(this, "coach");
    m_text->setWordWrap(true);
    QPushButton* all = makeButton(tr("No more hints"), {}, "link");
    connect(m_done, &QPushButton::clicked, this, &CoachMark::dismissed);
    connect(all, &QPushButton::clicked, this, &CoachMark::allDismissed);
    auto* acts = new QHBoxLayout;
    acts->setSpacing(8);
    acts->addWidget(m_count);
    acts->addStretch(1);
    acts->addWidget(all);
    acts->addWidget(m_done);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(14, 12, 12, 12);
    column->setSpacing(6);
    column->addWidget(m_title);
    column->addWidget(m_text);
    column->addLayout(acts);
    hide();
}

void CoachMark::setText(const QString& title, const QString& text, const QString& count)
{
    m_title->setText(title);
    m_text->setText(text);
    m_count->setText(count);
    setAccessibleName(this->text());
    m_target = {};
}

QString CoachMark::text() const { return QStringLiteral("%1. %2").arg(m_title->text(), m_text->text()); }

bool CoachMark::pointAt(const QRect& target)
{
    if (target == m_target && isVisible())
        return true;
    m_target = target;
    const QRect room = parentWidget()->rect().adjusted(Margin, Margin, -Margin, -Margin);
    const QRect outside = target.adjusted(-FrameOutside, -FrameOutside, FrameOutside, FrameOutside);
    layout()->activate();
    setFixedWidth(std::max(Width, layout()->minimumSize().width()));
    const QRect place = besideOf(outside, { width(), heightForWidth(width()) }, room);
    const bool wasHidden = isHidden();
    setVisible(!place.isNull());
    m_frame->setVisible(!place.isNull());
    if (place.isNull())
        return false;
    setGeometry(place);
    m_frame->setGeometry(outside);
    m_frame->raise();
    raise();
    if (wasHidden) {
        QAccessibleEvent heard(this, QAccessible::Alert);
        QAccessible::updateAccessibility(&heard);
    }
    return true;
}

void CoachMark::dismiss()
{
    const bool had = isAncestorOf(window()->focusWidget());
    hide();
    m_frame->hide();
    m_target = {};
    const QList<QWidget*> others = had ? parentWidget()->findChildren<QWidget*>() : QList<QWidget*>();
    if (others.contains(m_focusBefore))
        m_focusBefore->setFocus();
    m_focusBefore = nullptr;
}

void CoachMark::takeFocus()
{
    m_focusBefore = window()->focusWidget();
    m_done->setFocus(Qt::ShortcutFocusReason);
}

void CoachMark::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Escape)
        emit dismissed();
    else
        QFrame::keyPressEvent(event);
}

} // namespace deltascope::desktop
