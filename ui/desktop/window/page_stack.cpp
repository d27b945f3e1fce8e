#include "window/page_stack.h"

#include <utility>

namespace deltascope::desktop {
namespace {

constexpr QSize Least(480, 240);

}

void PageStack::add(QWidget* page)
{
    page->setParent(this);
    page->hide();
}

void PageStack::choose(QWidget* page)
{
    if (page == m_page)
        return;
    const QPointer<QWidget> before = std::exchange(m_page, page);
    page->setGeometry(rect());
    page->show();
    if (before)
        before->hide();
}

QSize PageStack::minimumSizeHint() const { return Least; }

void PageStack::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    if (m_page)
        m_page->setGeometry(rect());
}

} // namespace deltascope::desktop
