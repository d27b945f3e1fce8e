#include "pages/lineage/lineage_strip.h"

#include "look/format.h"
#include "look/look.h"
#include "look/marks.h"
#include "look/tokens.h"
#include "pages/lineage/lineage_text.h"
#include "pages/lineage/strip_table.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace deltascope::desktop {

namespace {

constexpr int GripWidth = 6;
constexpr double FewestRows = 2;

}

LineageStrip::LineageStrip(QWidget* parent)
    : Canvas(parent)
    , m_table(std::make_unique<StripTable>())
{
    setAccessibleName(tr("All versions of the run, by size"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setFixedHeight(Height);
    setToolTipDuration(20'000);
}

LineageStrip::~LineageStrip() = default;

QSize LineageStrip::sizeHint() const { return { 600, Height }; }

void LineageStrip::showPicture(LineagePointer picture)
{
    m_picture = std::move(picture);
    m_hovered.reset();
    m_drag = Drag::None; // rows have other places now
    m_dragged.reset();
    m_table->show(m_picture);
    lookChanged();
    update();
}

void LineageStrip::setMarks(std::optional<StepId> a, std::optional<StepId> b, std::optional<StepRange> range)
{
    const bool moved = m_b != b;
    m_a = a;
    m_b = b;
    m_range = range;
    update();
    const std::optional<std::size_t> row = m_picture && b ? m_picture->find(*b) : std::nullopt;
    if (moved && row)
        announceCell(textOf(*row));
}

QAbstractItemModel* LineageStrip::table() { return m_table.get(); }

QModelIndex LineageStrip::currentCell() const
{
    const std::optional<std::size_t> row = m_picture && m_b ? m_picture->find(*m_b) : std::nullopt;
    return row ? m_table->index(static_cast<int>(*row), 0) : QModelIndex();
}

void LineageStrip::setCurrentCell(const QModelIndex& cell)
{
    if (!cell.isValid() || !m_picture)
        return;
    const auto row = static_cast<std::size_t>(cell.row());
    if (!isHole(*m_picture->rows()[row].step))
        emit chose(m_picture->idOf(row));
}

std::optional<StepId> LineageStrip::stepAtCursor() const
{
    if (m_hovered && *m_hovered < count() && !isHole(*m_picture->rows()[*m_hovered].step))
        return m_picture->idOf(*m_hovered);
    return m_b;
}

bool LineageStrip::wantsKey(const QKeyEvent& event) const
{
    const int key = event.key();
    return event.modifiers() == Qt::NoModifier
        && (key == Qt::Key_W || key == Qt::Key_S || key == Qt::Key_A || key == Qt::Key_D);
}

double LineageStrip::columnWidth() const
{
    return count() == 0 ? 0 : std::max(1, width() - 2 * SideMargin) / static_cast<double>(count());
}

double LineageStrip::xOf(std::size_t row) const
{
    return SideMargin + static_cast<double>(count() - 1 - row) * columnWidth();
}

std::optional<std::size_t> LineageStrip::rowAt(double x) const
{
    if (count() == 0)
        return std::nullopt;
    const auto column = static_cast<std::ptrdiff_t>(std::floor((x - SideMargin) / columnWidth()));
    const std::ptrdiff_t last = static_cast<std::ptrdiff_t>(count()) - 1;
    return static_cast<std::size_t>(last - std::clamp<std::ptrdiff_t>(column, 0, last));
}

LineageStrip::Window LineageStrip::wholeEpoch(int epoch) const
{
    const auto& rows = m_picture->rows();
    const auto first =
        std::partition_point(rows.begin(), rows.end(), [&](const auto& row) { return row.step->epoch > epoch; });
    const auto after =
        std::partition_point(first, rows.end(), [&](const auto& row) { return row.step->epoch == epoch; });
    const auto begin = static_cast<std::size_t>(first - rows.begin());
    const auto end = static_cast<std::size_t>(after - rows.begin());
    return { std::min(begin, count() - 1), end > begin ? end - 1 : std::min(begin, count() - 1) };
}

std::optional<LineageStrip::Window> LineageStrip::window() const
{
    if (m_dragged)
        return m_dragged;
    if (count() == 0)
        return std::nullopt;
    const int epoch = m_b ? m_b->epoch : m_picture->rows().front().step->epoch;
    Window rows = wholeEpoch(epoch);
    if (!m_range)
        return rows;
    const auto begin = m_picture->rows().begin() + static_cast<std::ptrdiff_t>(rows.first);
    const auto end = m_picture->rows().begin() + static_cast<std::ptrdiff_t>(rows.last) + 1;
    const auto first = std::partition_point(
        begin, end, [&](const app::LineageRowView& row) { return row.step->step > m_range->second; });
    const auto after = std::partition_point(first, end, [&](const app::LineageRowView& row) {
        return std::max(row.step->step, row.step->lastMissing) >= m_range->first;
    });
    if (first != after) {
        rows.first = static_cast<std::size_t>(first - m_picture->rows().begin());
        rows.last = static_cast<std::size_t>(after - m_picture->rows().begin()) - 1;
    }
    return rows;
}

std::optional<StepRange> LineageStrip::rangeOf(Window window) const
{
    const auto& rows = m_picture->rows();
    const Window whole = wholeEpoch(rows[window.first].step->epoch);
    if (window.first <= whole.first && window.last >= whole.last)
        return std::nullopt;
    const app::StepView& newest = *rows[window.first].step;
    return StepRange { rows[window.last].step->step, std::max(newest.step, newest.lastMissing) };
}

LineageStrip::Drag LineageStrip::gripAt(double x) const
{
    const std::optional<Window> shown = window();
    if (!shown)
        return Drag::None;
    const double left = xOf(shown->last);
    const double right = xOf(shown->first) + columnWidth();
    if (std::abs(x - left) <= GripWidth)
        return Drag::Begin;
    if (std::abs(x - right) <= GripWidth)
        return Drag::End;
    return m_range && x > left && x < right ? Drag::Move : Drag::Draw;
}

void LineageStrip::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton || count() == 0)
        return;
    m_pressX = event->position().x();
    m_drag = gripAt(m_pressX);
    m_before = window();
    m_moved = false;
}

void LineageStrip::mouseMoveEvent(QMouseEvent* event)
{
    const double x = event->position().x();
    if (m_drag != Drag::None) {
        m_moved = m_moved || std::abs(x - m_pressX) >= 3;
        if (m_moved)
            drag(x);
        return;
    }
    m_hovered = rowAt(x);
    const Drag grip = gripAt(x);
    setCursor(grip == Drag::Begin || grip == Drag::End ? Qt::SizeHorCursor
                  : grip == Drag::Move                 ? Qt::OpenHandCursor
                                                       : Qt::ArrowCursor);
}

void LineageStrip::drag(double x)
{
    const int epoch = m_picture->rows()[m_drag == Drag::Draw ? *rowAt(m_pressX) : m_before->first].step->epoch;
    const Window whole = wholeEpoch(epoch);
    const std::size_t row = std::clamp(*rowAt(x), whole.first, whole.last);
    Window next = *m_before;
    switch (m_drag) {
    case Drag::Begin:
        next.last = std::max(row, next.first);
        break;
    case Drag::End:
        next.first = std::min(row, next.last);
        break;
    case Drag::Draw: {
        const std::size_t from = std::clamp(*rowAt(m_pressX), whole.first, whole.last);
        next = { std::min(from, row), std::max(from, row) };
        break;
    }
    case Drag::Move: {
        const auto by = static_cast<std::ptrdiff_t>(std::llround((m_pressX - x) / columnWidth()));
        const auto size = m_before->last - m_before->first;
        const auto first = std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(m_before->first) + by,
                                                      static_cast<std::ptrdiff_t>(whole.first),
                                                      static_cast<std::ptrdiff_t>(whole.last - size));
        next = { static_cast<std::size_t>(first), static_cast<std::size_t>(first) + size };
        break;
    }
    case Drag::None:
        return;
    }
    m_dragged = next;
    update();
}

void LineageStrip::mouseReleaseEvent(QMouseEvent* event)
{
    if (m_drag == Drag::None || event->button() != Qt::LeftButton)
        return;
    m_drag = Drag::None;
    const std::optional<Window> dragged = std::exchange(m_dragged, std::nullopt);
    update();
    if (m_moved && dragged) {
        emit rangeChosen(rangeOf(*dragged));
        return;
    }
    const std::optional<std::size_t> row = rowAt(event->position().x());
    if (!row || isHole(*m_picture->rows()[*row].step))
        return;
    if (event->modifiers().testFlag(Qt::ShiftModifier))
        emit choseToCompare(m_picture->idOf(*row));
    else
        emit chose(m_picture->idOf(*row));
}

void LineageStrip::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton && m_range)
        emit rangeChosen(std::nullopt);
}

void LineageStrip::leaveEvent(QEvent* event)
{
    Canvas::leaveEvent(event);
    m_hovered.reset();
}

void LineageStrip::keyPressEvent(QKeyEvent* event)
{
    switch (wantsKey(*event) ? event->key() : 0) {
    case Qt::Key_A:
        pan(1); // older rows have higher numbers
        break;
    case Qt::Key_D:
        pan(-1);
        break;
    case Qt::Key_W:
        zoom(0.5);
        break;
    case Qt::Key_S:
        zoom(2);
        break;
    default:
        Canvas::keyPressEvent(event);
    }
}

void LineageStrip::pan(int direction)
{
    const std::optional<Window> shown = window();
    if (!shown || !m_range)
        return;
    const Window whole = wholeEpoch(m_picture->rows()[shown->first].step->epoch);
    const std::size_t size = shown->last - shown->first;
    const auto by = direction * static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, size / 4));
    const auto first = std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(shown->first) + by,
                                                  static_cast<std::ptrdiff_t>(whole.first),
                                                  static_cast<std::ptrdiff_t>(whole.last - size));
    emit rangeChosen(rangeOf({ static_cast<std::size_t>(first), static_cast<std::size_t>(first) + size }));
}

void LineageStrip::zoom(double factor)
{
    const std::optional<Window> shown = window();
    if (!shown)
        return;
    const Window whole = wholeEpoch(m_picture->rows()[shown->first].step->epoch);
    const std::optional<std::size_t> b = m_b ? m_picture->find(*m_b) : std::nullopt;
    const auto most = static_cast<double>(whole.last - whole.first + 1);
    const auto now = static_cast<double>(shown->last - shown->first + 1);
    const double size = std::clamp(now * factor, std::min(FewestRows, most), most);
    // B keeps its place in the window if it is there, else the middle does.
    const bool inside = b && *b >= shown->first && *b <= shown->last;
    const double center = inside ? static_cast<double>(*b) : static_cast<double>(shown->first + shown->last) / 2;
    const double part = (center - static_cast<double>(shown->first)) / std::max(1.0, now);
    const double first =
        std::clamp(center - part * size, static_cast<double>(whole.first), static_cast<double>(whole.last) + 1 - size);
    const auto from = static_cast<std::size_t>(std::llround(first));
    const auto rows = static_cast<std::size_t>(std::max(1.0, std::round(size)));
    emit rangeChosen(rangeOf({ from, std::min(from + rows - 1, whole.last) }));
}

QString LineageStrip::textOf(std::size_t row) const
{
    const app::StepView& step = *m_picture->rows()[row].step;
    const QString number = stepText(m_picture->rows()[row]);
    if (isHole(step))
        return tr("Step %1: %2").arg(number, stepStateText(step.state));
    return tr("Step %1: %2, %3, %4")
        .arg(number, kindText(step.kind), bytesText(step.wireBytes), stepStateText(step.state));
}

bool LineageStrip::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const std::optional<std::size_t> row = rowAt(help->pos().x());
        if (!row)
            return true;
        QString text = textOf(*row);
        const QString& alert = m_picture->remark(*row).alert;
        if (!alert.isEmpty())
            text += QLatin1Char('\n') + alert;
        QToolTip::showText(help->globalPos(), text, this);
        return true;
    }
    return Canvas::event(event);
}

void LineageStrip::resizeEvent(QResizeEvent* event)
{
    Canvas::resizeEvent(event);
    lookChanged();
}

void LineageStrip::lookChanged() { m_rendered = {}; }

} // namespace deltascope::desktop
