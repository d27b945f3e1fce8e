#include "pages/tensors/histogram_canvas.h"

#include "look/format.h"
#include "look/look.h"
#include "look/tokens.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace deltascope::desktop {

namespace {

QString edgeText(double edge) { return QString::number(edge, 'g', 3); }

}

// --- table -----------------------------------------------------------------------------------------------------------

void HistogramTable::setHistogram(const StatisticsPointer& statistics, HistogramForm form)
{
    beginResetModel();
    m_statistics = statistics;
    m_form = form;
    endResetModel();
}

const app::HistogramView* HistogramTable::histogram() const
{
    if (!m_statistics)
        return nullptr;
    const auto& shown = m_form == HistogramForm::Sizes ? m_statistics->logarithmic : m_statistics->linear;
    return shown.edges.empty() ? nullptr : &shown;
}

QString HistogramTable::range(int bin) const
{
    const auto& edges = histogram()->edges;
    const auto at = static_cast<std::size_t>(bin);
    return tr("%1 to %2").arg(edgeText(edges[at]), edgeText(edges[at + 1]));
}

int HistogramTable::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() || !histogram() ? 0 : static_cast<int>(histogram()->b.size());
}

int HistogramTable::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() || !histogram() ? 0 : histogram()->a.empty() ? 1 : 2;
}

QVariant HistogramTable::data(const QModelIndex& index, int role) const
{
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter));
    if (role != Qt::DisplayRole || !index.isValid())
        return {};
    const auto& counts = index.column() == 0 ? histogram()->b : histogram()->a;
    return exactText(counts[static_cast<std::size_t>(index.row())]);
}

QVariant HistogramTable::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role != Qt::DisplayRole || !histogram())
        return {};
    if (orientation == Qt::Vertical)
        return range(section);
    return section == 0 ? tr("B %1").arg(m_statistics->b.step) : tr("A %1").arg(m_statistics->a->step);
}

// --- canvas ----------------------------------------------------------------------------------------------------------

HistogramCanvas::HistogramCanvas(QWidget* parent)
    : Canvas(parent)
{
    setAccessibleName(tr("How the values are spread"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void HistogramCanvas::setStatistics(const StatisticsPointer& statistics)
{
    m_statistics = statistics;
    show();
}

void HistogramCanvas::setForm(HistogramForm form)
{
    m_form = form;
    show();
}

void HistogramCanvas::show()
{
    m_table.setHistogram(m_statistics, m_form);
    m_bin = -1;
    m_hover = -1;
    m_most = 0;
    if (const app::HistogramView* shown = m_table.histogram()) {
        for (const auto* counts : { &shown->a, &shown->b }) {
            for (const std::uint64_t count : *counts)
                m_most = std::max(m_most, count);
        }
    }
    update();
}

QString HistogramCanvas::binText() const
{
    const int bin = m_hover >= 0 ? m_hover : m_bin;
    if (bin < 0 || bin >= m_table.rowCount())
        return {};
    QString text = tr("%1:").arg(m_table.range(bin));
    for (int column = m_table.columnCount(); column-- > 0;)
        text +=
            QStringLiteral(" %1 %2").arg(column == 0 ? tr("B") : tr("A"), m_table.index(bin, column).data().toString());
    return text;
}

QModelIndex HistogramCanvas::currentCell() const { return m_bin < 0 ? QModelIndex() : m_table.index(m_bin, 0); }

void HistogramCanvas::setCurrentCell(const QModelIndex& cell)
{
    if (cell.isValid())
        moveTo(cell.row());
}

bool HistogramCanvas::wantsKey(const QKeyEvent& event) const
{
    return event.modifiers() == Qt::NoModifier
        && (event.key() == Qt::Key_Left || event.key() == Qt::Key_Right || event.key() == Qt::Key_Home
            || event.key() == Qt::Key_End);
}

QRect HistogramCanvas::plot() const
{
    const int text = QFontMetrics(typeFont(Type::Label)).height();
    return { 1, text + 8, std::max(1, width() - 2), std::max(1, height() - 2 * text - 16) };
}

int HistogramCanvas::binAt(int x) const
{
    const int bins = m_table.rowCount();
    if (bins == 0)
        return -1;
    return std::clamp((x - plot().x()) * bins / plot().width(), 0, bins - 1);
}

double HistogramCanvas::heightOf(std::uint64_t count) const
{
    if (count == 0 || m_most == 0)
        return 0;
    const auto part = [&](double of) { return m_form == HistogramForm::LogCounts ? std::log10(1 + of) : of; };
    return part(static_cast<double>(count)) / part(static_cast<double>(m_most));
}

/// First and last edge, and zero where it lies between.
void HistogramCanvas::paintEdges(QPainter& painter, const QRect& box) const
{
    const auto& edges = m_table.histogram()->edges;
    const int text = painter.fontMetrics().height();
    const QRect below(box.x(), box.bottom() + 4, box.width(), text);
    painter.setPen(color(Token::Muted));
    painter.drawText(below, Qt::AlignLeft, edgeText(edges.front()));
    painter.drawText(below, Qt::AlignRight, edgeText(edges.back()));
    if (m_form == HistogramForm::Sizes || edges.front() >= 0 || edges.back() <= 0)
        return;
    const double zero = box.x() - edges.front() / (edges.back() - edges.front()) * box.width();
    painter.drawLine(QPointF(zero, box.bottom() + 1), QPointF(zero, box.bottom() + 4));
    const int room = painter.fontMetrics().horizontalAdvance(edgeText(edges.front()) + QStringLiteral("  0"));
    if (zero - box.left() > room && box.right() - zero > room)
        painter.drawText(QRectF(zero - 10, below.y(), 20, text), Qt::AlignHCenter, QStringLiteral("0"));
}

void HistogramCanvas::paint(QPainter& painter, const QRect& exposed)
{
    painter.fillRect(exposed, color(Token::Surface));
    const app::HistogramView* shown = m_table.histogram();
    if (!shown)
        return;
    const QRect box = plot();
    painter.setFont(typeFont(Type::Label));
    painter.setPen(color(Token::Muted));
    const QRect above(box.x(), 2, box.width(), painter.fontMetrics().height() + 2);
    const QString bin = binText();
    painter.drawText(above, Qt::AlignLeft,
                     !bin.isEmpty()         ? bin
                         : shown->a.empty() ? tr("values at B")
                                            : tr("bars B, line A"));
    if (bin.isEmpty())
        painter.drawText(above, Qt::AlignRight, tr("max %1").arg(countText(m_most)));
    painter.fillRect(QRect(box.x(), box.bottom() + 1, box.width(), 1), color(Token::Border));

    const double each = box.width() / static_cast<double>(shown->b.size());
    const auto top = [&](std::uint64_t count) { return box.bottom() + 1 - heightOf(count) * box.height(); };
    QColor fill = color(Token::Accent);
    fill.setAlphaF(shown->a.empty() ? 1.0F : 0.6F);
    for (std::size_t i = 0; i < shown->b.size(); ++i) {
        if (shown->b[i] == 0)
            continue;
        const double y = std::min(top(shown->b[i]), box.bottom() + 0.0); // a single value is seen as well
        painter.fillRect(
            QRectF(box.x() + static_cast<double>(i) * each, y, std::max(1.0, each - 0.5), box.bottom() + 1 - y), fill);
    }
    if (!shown->a.empty()) {
        QPainterPath line;
        line.moveTo(box.x(), box.bottom() + 1);
        for (std::size_t i = 0; i < shown->a.size(); ++i) {
            const double x = box.x() + static_cast<double>(i) * each;
            line.lineTo(x, top(shown->a[i]));
            line.lineTo(x + each, top(shown->a[i]));
        }
        painter.setPen(QPen(color(Token::Text), 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawPath(line);
    }
    if (const int marked = m_hover >= 0 ? m_hover : hasFocus() ? m_bin : -1; marked >= 0) {
        QColor mark = color(Token::Text);
        mark.setAlphaF(0.14F);
        painter.fillRect(QRectF(box.x() + marked * each, box.y(), std::max(2.0, each), box.height()), mark);
    }
    paintEdges(painter, box);
    paintFocus(painter, rect());
}

void HistogramCanvas::moveTo(int bin)
{
    if (m_table.rowCount() == 0)
        return;
    m_bin = std::clamp(bin, 0, m_table.rowCount() - 1);
    m_hover = -1;
    announceCell(binText());
    update();
}

void HistogramCanvas::mouseMoveEvent(QMouseEvent* event)
{
    const int bin = binAt(event->pos().x());
    if (bin == m_hover)
        return;
    m_hover = bin;
    update();
}

void HistogramCanvas::mousePressEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton)
        moveTo(binAt(event->pos().x()));
}

void HistogramCanvas::leaveEvent(QEvent* event)
{
    Canvas::leaveEvent(event);
    m_hover = -1;
    update();
}

void HistogramCanvas::keyPressEvent(QKeyEvent* event)
{
    if (!wantsKey(*event))
        return Canvas::keyPressEvent(event);
    const int last = m_table.rowCount() - 1;
    switch (event->key()) {
    case Qt::Key_Left:
        return moveTo(m_bin < 0 ? last : m_bin - 1);
    case Qt::Key_Right:
        return moveTo(m_bin + 1);
    case Qt::Key_Home:
        return moveTo(0);
    default:
        return moveTo(last);
    }
}

} // namespace deltascope::desktop
