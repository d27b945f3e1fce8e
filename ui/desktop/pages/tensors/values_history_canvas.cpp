#include "pages/tensors/values_history_canvas.h"

#include "look/format.h"
#include "look/look.h"
#include "look/tokens.h"
#include "pages/tensors/values_table.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>

namespace deltascope::desktop {

// --- table -----------------------------------------------------------------------------------------------------------

void ValuesHistoryTable::setHistory(const ValuesHistoryPointer& history)
{
    beginResetModel();
    m_history = history;
    m_series.clear();
    const auto add = [this](const QString& name, auto of) {
        Series series { name, {} };
        for (const app::ValuesView& values : m_history->steps)
            series.values.push_back(of(values));
        m_series.push_back(std::move(series));
    };
    if (history) {
        using View = app::ValuesView;
        add(tr("min"), [](const View& v) { return v.min; });
        add(tr("max"), [](const View& v) { return v.max; });
        add(tr("mean"), [](const View& v) { return v.mean; });
        add(tr("std"), [](const View& v) { return v.std; });
        add(tr("L2 norm"), [](const View& v) { return v.norm; });
        add(tr("zeros"), [](const View& v) { return std::optional(static_cast<double>(v.zeros)); });
        add(tr("NaN, infinite"), [](const View& v) {
            return std::optional(static_cast<double>(v.nan + v.positiveInfinite + v.negativeInfinite));
        });
    }
    endResetModel();
}

int ValuesHistoryTable::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() || !m_history ? 0 : static_cast<int>(m_history->steps.size());
}

int ValuesHistoryTable::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_series.size());
}

QVariant ValuesHistoryTable::data(const QModelIndex& index, int role) const
{
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter));
    if (role != Qt::DisplayRole || !index.isValid())
        return {};
    const Series& series = m_series[static_cast<std::size_t>(index.column())];
    return valueText(series.values[static_cast<std::size_t>(index.row())]);
}

QVariant ValuesHistoryTable::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role != Qt::DisplayRole || !m_history)
        return {};
    const auto at = static_cast<std::size_t>(section);
    return orientation == Qt::Horizontal ? m_series[at].name : tr("step %1").arg(m_history->steps[at].step);
}

// --- canvas ----------------------------------------------------------------------------------------------------------

ValuesHistoryCanvas::ValuesHistoryCanvas(QWidget* parent)
    : Canvas(parent)
{
    setAccessibleName(tr("Statistics over the steps"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void ValuesHistoryCanvas::setHistory(const ValuesHistoryPointer& history, int epoch)
{
    m_table.setHistory(history);
    m_epoch = epoch;
    m_point = -1;
    m_hover = -1;
    updateGeometry();
    update();
}

QModelIndex ValuesHistoryCanvas::currentCell() const { return m_point < 0 ? QModelIndex() : m_table.index(m_point, 0); }

void ValuesHistoryCanvas::setCurrentCell(const QModelIndex& cell)
{
    if (cell.isValid())
        moveTo(cell.row());
}

std::optional<StepId> ValuesHistoryCanvas::stepAtCursor() const
{
    const int at = m_hover >= 0 ? m_hover : m_point;
    if (at < 0)
        return std::nullopt;
    return StepId { m_epoch, m_table.history()->steps[static_cast<std::size_t>(at)].step };
}

bool ValuesHistoryCanvas::wantsKey(const QKeyEvent& event) const
{
    return event.modifiers() == Qt::NoModifier && (event.key() == Qt::Key_Left || event.key() == Qt::Key_Right);
}

int ValuesHistoryCanvas::rowHeight() const { return QFontMetrics(typeFont(Type::Label)).height() + 12; }

QSize ValuesHistoryCanvas::sizeHint() const
{
    const int text = QFontMetrics(typeFont(Type::Label)).height();
    return { 280, text + 6 + m_table.columnCount() * rowHeight() };
}

QRect ValuesHistoryCanvas::plot() const
{
    const QFontMetrics letters(typeFont(Type::Label));
    const int names = letters.horizontalAdvance(tr("NaN, infinite")) + 8;
    const int numbers = letters.horizontalAdvance(QStringLiteral("-0.0001234567")) + 8;
    const int top = letters.height() + 6;
    return { names, top, std::max(10, width() - names - numbers), std::max(1, height() - top) };
}

int ValuesHistoryCanvas::shown() const
{
    return m_hover >= 0 ? m_hover : m_point >= 0 ? m_point : m_table.rowCount() - 1;
}

int ValuesHistoryCanvas::pointAt(int x) const
{
    const QRect box = plot();
    const int points = m_table.rowCount();
    if (points == 0 || x < box.left() - 8 || x > box.right() + 8)
        return -1;
    if (points == 1)
        return 0;
    const double place = (x - box.x()) * (points - 1.0) / box.width();
    return std::clamp(static_cast<int>(place + 0.5), 0, points - 1);
}

void ValuesHistoryCanvas::paintLine(QPainter& painter, const QRectF& box,
                                    const std::vector<std::optional<double>>& values) const
{
    std::optional<double> least;
    std::optional<double> most;
    for (const std::optional<double>& value : values) {
        if (!value)
            continue;
        least = std::min(least.value_or(*value), *value);
        most = std::max(most.value_or(*value), *value);
    }
    if (!least)
        return;
    const double range = *most - *least;
    const double each = values.size() > 1 ? box.width() / (static_cast<double>(values.size()) - 1) : 0;
    const auto place = [&](std::size_t i) {
        const double part = range > 0 ? (*values[i] - *least) / range : 0.5;
        return QPointF(box.x() + static_cast<double>(i) * each, box.bottom() - part * box.height());
    };
    QPainterPath path;
    bool open = false;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!values[i]) {
            open = false;
            continue;
        }
        if (open)
            path.lineTo(place(i));
        else
            path.moveTo(place(i));
        open = true;
    }
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(color(Token::Accent), 1.5, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(path);
    if (const auto at = static_cast<std::size_t>(shown()); at < values.size() && values[at]) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(color(Token::Text));
        painter.drawEllipse(place(at), 2.5, 2.5);
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void ValuesHistoryCanvas::paint(QPainter& painter, const QRect& exposed)
{
    painter.fillRect(exposed, color(Token::Surface));
    if (m_table.rowCount() == 0)
        return;
    const QRect box = plot();
    painter.setFont(typeFont(Type::Label));
    painter.setPen(color(Token::Muted));
    const auto& steps = m_table.history()->steps;
    const QRect above(0, 0, width(), box.top());
    painter.drawText(above, Qt::AlignLeft | Qt::AlignTop,
                     tr("steps %1 – %2").arg(steps.front().step).arg(steps.back().step));
    painter.drawText(above, Qt::AlignRight | Qt::AlignTop,
                     tr("step %1").arg(steps[static_cast<std::size_t>(shown())].step));
    for (int row = 0; row < m_table.columnCount(); ++row) {
        const auto& series = m_table.series()[static_cast<std::size_t>(row)];
        const QRect line(0, box.top() + row * rowHeight(), width(), rowHeight());
        painter.setPen(color(Token::Muted));
        painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, series.name);
        painter.setPen(color(Token::Text));
        painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, m_table.index(shown(), row).data().toString());
        paintLine(painter, QRectF(box.x(), line.y() + 4, box.width(), line.height() - 8), series.values);
    }
    paintFocus(painter, rect());
}

void ValuesHistoryCanvas::moveTo(int point)
{
    if (m_table.rowCount() == 0)
        return;
    m_point = std::clamp(point, 0, m_table.rowCount() - 1);
    m_hover = -1;
    QStringList said { m_table.headerData(m_point, Qt::Vertical).toString() };
    for (int column = 0; column < m_table.columnCount(); ++column)
        said << tr("%1 %2").arg(m_table.headerData(column, Qt::Horizontal).toString(),
                                m_table.index(m_point, column).data().toString());
    announceCell(said.join(QStringLiteral(", ")));
    update();
}

void ValuesHistoryCanvas::mouseMoveEvent(QMouseEvent* event)
{
    const int at = pointAt(event->pos().x());
    if (at == m_hover)
        return;
    m_hover = at;
    update();
}

void ValuesHistoryCanvas::mousePressEvent(QMouseEvent* event)
{
    if (const int at = pointAt(event->pos().x()); at >= 0 && event->button() == Qt::LeftButton)
        moveTo(at);
}

void ValuesHistoryCanvas::leaveEvent(QEvent* event)
{
    Canvas::leaveEvent(event);
    m_hover = -1;
    update();
}

void ValuesHistoryCanvas::keyPressEvent(QKeyEvent* event)
{
    if (!wantsKey(*event))
        return Canvas::keyPressEvent(event);
    moveTo(shown() + (event->key() == Qt::Key_Left ? -1 : 1));
}

} // namespace deltascope::desktop
