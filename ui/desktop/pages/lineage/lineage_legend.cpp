#include "pages/lineage/lineage_legend.h"

#include "look/look.h"
#include "look/tokens.h"
#include "pages/lineage/chain_painter.h"

#include <QPainter>

namespace deltascope::desktop {

namespace {

enum Mark { Anchor, Delta, Hole, Broken, Restart, Path, OtherWay };

constexpr int MarkWidth = 18;
constexpr int Gap = 14;
constexpr int PathRoom = 4; ///< its mark is wider, as that of other ways

int markWidth(int mark) { return MarkWidth + (mark == Path || mark == OtherWay ? PathRoom : 0); }

app::StepView sample(const char* kind, const char* state)
{
    app::StepView step;
    step.kind = kind;
    step.state = state;
    return step;
}

}

LineageLegend::LineageLegend(QWidget* parent)
    : QWidget(parent)
    , m_entries { { tr("anchor"), Anchor }, { tr("delta"), Delta },     { tr("gap"), Hole },
                  { tr("broken"), Broken }, { tr("restart"), Restart }, { tr("replay path of B"), Path } }
{
    setFont(typeFont(Type::Label));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    tell();
}

void LineageLegend::setOtherWays(bool shown)
{
    const bool isShown = m_entries.back().mark == OtherWay;
    if (shown == isShown)
        return;
    if (shown)
        m_entries.push_back({ tr("other way"), OtherWay });
    else
        m_entries.pop_back();
    tell();
    updateGeometry();
    update();
}

void LineageLegend::tell()
{
    QStringList all;
    for (const Entry& entry : m_entries)
        all.append(entry.text);
    setAccessibleName(tr("Marks: %1").arg(all.join(QStringLiteral(", "))));
}

int LineageLegend::widthOf(const Entry& entry) const
{
    return markWidth(entry.mark) + fontMetrics().horizontalAdvance(entry.text) + Gap;
}

QSize LineageLegend::sizeHint() const
{
    int width = 0;
    for (const Entry& entry : m_entries)
        width += widthOf(entry);
    return { width, metrics().control };
}

QSize LineageLegend::minimumSizeHint() const { return { 0, metrics().control }; }

void LineageLegend::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(typeFont(Type::Label));
    painter.setBackground(color(Token::Surface));
    const double middle = height() / 2.0;
    int right = width() + Gap;
    for (auto entry = m_entries.rbegin(); entry != m_entries.rend(); ++entry) {
        const int left = right - widthOf(*entry);
        if (left < 0)
            break;
        const QPointF at(left + MarkWidth / 2.0, middle);
        painter.save();
        painter.translate(at);
        painter.scale(0.75, 0.75);
        const QColor ink = color(Token::Muted);
        switch (entry->mark) {
        case Anchor:
            paintStepMark(painter, sample("anchor", "complete"), {}, ink, false);
            break;
        case Delta:
            paintStepMark(painter, sample("delta", "complete"), {}, ink, false);
            break;
        case Hole:
            paintStepMark(painter, sample("", "gap"), {}, ink, false);
            break;
        case Broken:
            paintBrokenMark(painter, {});
            break;
        case Restart:
            paintRestartMark(painter, {});
            break;
        case OtherWay:
            painter.setPen(QPen(ink, 1.5));
            paintOpenDiamond(painter, QPointF(-6, 0));
            painter.drawPolyline(QPolygonF { QPointF(3, -7), QPointF(9, -5), QPointF(9, 5), QPointF(3, 7) });
            break;
        default:
            painter.setPen(QPen(color(Token::Accent), 4, Qt::SolidLine, Qt::FlatCap));
            painter.drawLine(QPointF(-9, 0), QPointF(9, 0));
        }
        painter.restore();
        painter.setPen(color(Token::Muted));
        painter.drawText(QRectF(left + markWidth(entry->mark), 0, width(), height()), Qt::AlignLeft | Qt::AlignVCenter,
                         entry->text);
        right = left;
    }
}

} // namespace deltascope::desktop
