#include "window/activity_bar.h"

#include "actions/action_registry.h"
#include "look/icon.h"
#include "look/look.h"
#include "pages/pages.h"

#include <QButtonGroup>
#include <QPaintEvent>
#include <QPainter>
#include <QToolButton>
#include <QVBoxLayout>

#include <utility>

namespace deltascope::desktop {

namespace {

constexpr int BarWidth = 72;
constexpr int ItemHeight = 56;

/// A page's button, with a number at its icon.
class PageButton final : public QToolButton {
public:
    using QToolButton::QToolButton;

    void setBadge(int count)
    {
        const QString badge = count > 99 ? QStringLiteral("99+") : count > 0 ? QString::number(count) : QString();
        if (std::exchange(m_badge, badge) != badge)
            update();
    }

protected:
    void paintEvent(QPaintEvent* event) override
    {
        QToolButton::paintEvent(event);
        if (m_badge.isEmpty())
            return;
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        QFont small = typeFont(Type::Label);
        small.setPixelSize(small.pixelSize() - 1);
        painter.setFont(small);
        const int wide = std::max(16, painter.fontMetrics().horizontalAdvance(m_badge) + 8);
        const QRect round(width() / 2 + 6, 5, wide, 16);
        painter.setPen(Qt::NoPen);
        painter.setBrush(color(Token::Text));
        painter.drawRoundedRect(round, 8, 8);
        painter.setPen(color(Token::Window));
        painter.drawText(round, Qt::AlignCenter, m_badge);
    }

private:
    QString m_badge;
};

}

ActivityBar::ActivityBar(ActionRegistry& actions, QWidget* parent)
    : QWidget(parent)
    , m_group(new QButtonGroup(this))
{
    setRole(this, "chrome");
    setAttribute(Qt::WA_StyledBackground);
    setFixedWidth(BarWidth);
    setAccessibleName(tr("Pages"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 2, 0, 0);
    column->setSpacing(0);
    for (const PageInfo& page : pageInfos()) {
        auto* button = new PageButton;
        button->setText(page.title);
        button->setIcon(icon(page.icon));
        button->setIconSize({ 20, 20 });
        button->setFont(typeFont(Type::Label));
        button->setToolButtonStyle(Qt::ToolButtonTextUnderIcon);
        button->setCheckable(true);
        button->setFixedSize(BarWidth, ItemHeight);
        button->setFocusPolicy(Qt::TabFocus);
        const QString id = QStringLiteral("go.") + page.id;
        button->setToolTip(
            QStringLiteral("%1 (%2)").arg(page.title, actions.shortcutOf(id).toString(QKeySequence::NativeText)));
        button->setAccessibleName(page.title);
        setRole(button, "activity");
        connect(button, &QToolButton::clicked, &actions, [&actions, id] { actions.trigger(id); });
        m_group->addButton(button);
        m_buttons.insert(page.id, button);
        column->addWidget(button);
    }
    column->addStretch(1);
}

void ActivityBar::setCurrent(const QString& page)
{
    if (QToolButton* button = m_buttons.value(page))
        button->setChecked(true);
}

void ActivityBar::setBadge(const QString& page, int count)
{
    if (auto* button = static_cast<PageButton*>(m_buttons.value(page))) {
        button->setBadge(count);
        button->setAccessibleDescription(count > 0 ? tr("%1 new").arg(count) : QString());
    }
}

} // namespace deltascope::desktop
