#include "pages/timeline/phase_legend.h"

#include "look/look.h"

#include <QFontMetrics>
#include <QPainter>

namespace deltascope::desktop {

namespace {

constexpr int Square = 10;
constexpr int Gap = 5; // between a square and its word
constexpr int Between = 14;

}

PhaseLegend::PhaseLegend(QWidget* parent)
    : QWidget(parent)
{
    setFont(typeFont(Type::Label));
    setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
}

void PhaseLegend::setGroups(std::vector<PhaseGroup> groups)
{
    if (groups == m_groups)
        return;
    m_groups = std::move(groups);
    QString words;
    for (const PhaseGroup group : m_groups)
        words += (words.isEmpty() ? QString() : QStringLiteral(", ")) + groupText(group);
    setAccessibleName(tr("Colors: %1").arg(words));
    updateGeometry();
    update();
}

QSize PhaseLegend::sizeHint() const
{
    const QFontMetrics metrics(font());
    int width = 0;
    for (const PhaseGroup group : m_groups)
        width += Square + Gap + metrics.horizontalAdvance(groupText(group)) + Between;
    return { std::max(0, width - Between), metrics.height() + 4 };
}

void PhaseLegend::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const QFontMetrics metrics(font());
    int x = 0;
    for (const PhaseGroup group : m_groups) {
        fillPhase(painter, QRectF(x, (height() - Square) / 2, Square, Square), group);
        x += Square + Gap;
        const QString text = groupText(group);
        painter.setPen(color(Token::Muted));
        const int wide = metrics.horizontalAdvance(text);
        painter.drawText(QRect(x, 0, wide + 1, height()), Qt::AlignVCenter | Qt::AlignLeft, text);
        x += wide + Between;
    }
}

} // namespace deltascope::desktop
