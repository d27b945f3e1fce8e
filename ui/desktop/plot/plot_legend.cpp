#include "plot/plot_legend.h"

#include "look/look.h"

#include <QPainter>

namespace deltascope::desktop {

namespace {

constexpr int Gap = 12;
constexpr int MarkRoom = 16;

}

PlotLegend::PlotLegend(QWidget* parent)
    : QWidget(parent)
{
    setFont(typeFont(Type::Label));
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void PlotLegend::setEntries(std::vector<Entry> entries)
{
    if (entries == m_entries)
        return;
    m_entries = std::move(entries);
    setToolTip(text());
    setAccessibleName(text());
    updateGeometry();
    update();
}

QString PlotLegend::text() const
{
    QStringList texts;
    for (const Entry& entry : m_entries)
        texts += entry.text;
    return texts.join(QStringLiteral(", "));
}

int PlotLegend::widthOf(const Entry& entry) const
{
    return (entry.mark == Mark::None ? 0 : MarkRoom) + fontMetrics().horizontalAdvance(entry.text);
}

QSize PlotLegend::sizeHint() const
{
    int width = 0;
    for (const Entry& entry : m_entries)
        width += widthOf(entry) + Gap;
    return { std::max(0, width - Gap), fontMetrics().height() };
}

void PlotLegend::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    std::size_t shown = m_entries.size();
    const auto needed = [&] {
        int width = 0;
        for (std::size_t i = 0; i < shown; ++i)
            width += widthOf(m_entries[i]) + (i > 0 ? Gap : 0);
        return width;
    };
    while (shown > 0 && needed() > width())
        --shown;
    int x = width() - needed();
    const int middle = height() / 2;
    for (std::size_t i = 0; i < shown; ++i) {
        const Entry& entry = m_entries[i];
        const QColor ink = color(entry.token);
        if (entry.mark == Mark::Square)
            painter.fillRect(x, middle - 5, 10, 10, ink);
        else if (entry.mark == Mark::Line)
            painter.fillRect(x, middle - 1, 11, 2, ink);
        else if (entry.mark == Mark::FaintLine)
            painter.fillRect(x, middle, 11, 1, ink);
        painter.setPen(color(Token::Muted));
        painter.drawText(QPoint(x + (entry.mark == Mark::None ? 0 : MarkRoom),
                                (height() + fontMetrics().ascent() - fontMetrics().descent()) / 2),
                         entry.text);
        x += widthOf(entry) + Gap;
    }
}

} // namespace deltascope::desktop
