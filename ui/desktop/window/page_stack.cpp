#include "window/page_stack.h"

#include <algorithm>
#include <utility>

namespace deltascope::desktop {
namespace {

constexpr QSize Least(480, 240);

/// Where Tab would go first.
QWidget* firstControl(const QWidget& page)
{
    const QList<QWidget*> inside = page.findChildren<QWidget*>();
    const auto found = std::find_if(inside.begin(), inside.end(), [&](const QWidget* widget) {
        return widget->focusPolicy() & Qt::TabFocus && widget->isEnabled() && widget->isVisibleTo(&page);
    });
    return found == inside.end() ? nullptr : *found;
}

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
    const bool hadFocus = before && before->isAncestorOf(window()->focusWidget());
    page->setGeometry(rect());
    page->show();
    if (hadFocus) {
        QWidget* wanted = page->focusWidget() ? page->focusWidget() : firstControl(*page);
        (wanted ? wanted : page)->setFocus();
    }
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
