#include "widgets/notice_pane.h"

#include "look/look.h"

#include <QApplication>
#include <QEvent>
#include <QLayout>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>

namespace deltascope::desktop {

NoticePane::NoticePane(QWidget* notice, QWidget* column, int padding)
    : m_above(new QWidget(this))
    , m_column(column)
    , m_scroll(new QScrollArea(this))
    , m_padding(padding)
{
    setRole(m_above, "page");
    auto* around = new QVBoxLayout(m_above);
    around->setContentsMargins(padding, padding, padding, padding);
    around->addWidget(notice);
    notice->installEventFilter(this);
    m_above->installEventFilter(this);
    m_above->hide();
    m_above->raise();
    setRole(m_scroll, "page");
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setWidgetResizable(true);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setFocusPolicy(Qt::NoFocus);
    m_scroll->setWidget(column);
    m_scroll->viewport()->installEventFilter(this);
    for (QWidget* room : { m_scroll->viewport(), column })
        room->setAttribute(Qt::WA_StaticContents); // all the same ground: else another size paints all parts anew
    connect(qApp, &QApplication::focusChanged, this, [this](const QWidget*, const QWidget* now) { uncover(now); });
}

bool NoticePane::eventFilter(QObject* watched, QEvent* event)
{
    const QEvent::Type type = event->type();
    const bool ofNotice = watched != m_above && watched != m_scroll->viewport();
    if (ofNotice && (type == QEvent::ShowToParent || type == QEvent::HideToParent)) {
        m_above->setVisible(type == QEvent::ShowToParent);
        placeNotice();
    } else if (watched == m_above && type == QEvent::LayoutRequest) { // its text is another
        placeNotice();
    } else if (watched == m_scroll->viewport() && type == QEvent::Resize) {
        placeNotice();
    }
    return QWidget::eventFilter(watched, event);
}

void NoticePane::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    m_scroll->setGeometry(rect());
}

void NoticePane::placeNotice()
{
    const int width = m_scroll->viewport()->width();
    const int height = m_above->isHidden() ? m_padding : m_above->layout()->totalHeightForWidth(width);
    m_above->setGeometry(0, 0, width, height);
    QMargins margins = m_column->layout()->contentsMargins();
    margins.setTop(height);
    m_column->layout()->setContentsMargins(margins);
}

/// The notice covers nothing that has the focus.
void NoticePane::uncover(const QWidget* focused)
{
    if (!focused || m_above->isHidden() || !m_column->isAncestorOf(focused))
        return;
    const int top = focused->mapTo(this, QPoint()).y();
    if (const int covered = m_above->height() - top; covered > 0)
        m_scroll->verticalScrollBar()->setValue(m_scroll->verticalScrollBar()->value() - covered);
}

} // namespace deltascope::desktop
