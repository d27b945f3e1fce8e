#include "pages/heatmap/element_canvas.h"

#include "heat/color_map.h"
#include "look/format.h"
#include "look/look.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace deltascope::desktop {

namespace {

constexpr int Pad = 8;

}

ElementCanvas::ElementCanvas(ElementModel& model, QWidget* parent)
    : Canvas(parent)
    , m_model(model)
{
    setAccessibleName(tr("Change of elements"));
    connect(&model, &QAbstractItemModel::modelReset, this, [this] {
        m_imageDirty = true;
        m_current = std::clamp(m_current, 0, std::max(0, m_model.elementCount() - 1));
        update();
    });
}

int ElementCanvas::columns() const { return m_model.elements() ? static_cast<int>(m_model.elements()->cols) : 0; }
int ElementCanvas::rows() const { return m_model.elements() ? static_cast<int>(m_model.elements()->rows) : 0; }

double ElementCanvas::side() const
{
    const int foot = fontMetrics().height() + 8;
    return std::min((width() - 2.0 * Pad) / std::max(1, columns()),
                    (height() - 2.0 * Pad - foot) / std::max(1, rows()));
}

void ElementCanvas::makeImage()
{
    if (!m_imageDirty)
        return;
    m_imageDirty = false;
    m_most = 0;
    for (int i = 0; i < m_model.elementCount(); ++i)
        m_most = std::max(m_most, std::abs(m_model.delta(i).value_or(0)));
    m_image = QImage(columns(), rows(), QImage::Format_ARGB32_Premultiplied);
    m_image.fill(Qt::transparent);
    const ColorTable table = makeSignedTable(currentShade());
    for (int i = 0; i < m_model.elementCount(); ++i) {
        if (const std::optional<double> delta = m_model.delta(i)) {
            const int place = 128 + (m_most == 0 ? 0 : static_cast<int>(std::lround(*delta / m_most * 127)));
            m_image.setPixel(i % columns(), i / columns(), table[static_cast<std::size_t>(place)]);
        }
    }
}

void ElementCanvas::paint(QPainter& painter, const QRect& exposed)
{
    painter.fillRect(exposed, color(Token::Surface));
    if (m_model.elementCount() == 0)
        return;
    makeImage();
    const double each = side();
    const QRectF grid(Pad, Pad, each * columns(), each * rows());
    paintUnknown(painter, grid.toAlignedRect());
    painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
    painter.drawImage(grid, m_image, QRectF(m_image.rect()));
    const QRectF cell(Pad + m_current % columns() * each, Pad + m_current / columns() * each, std::max(4.0, each),
                      std::max(4.0, each));
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(color(Token::Surface), 4));
    painter.drawRect(cell);
    painter.setPen(QPen(color(Token::Text), 2));
    painter.drawRect(cell);
    painter.setFont(typeFont(Type::Label));
    painter.setPen(color(Token::Muted));
    QString scale = tr("no change");
    if (!m_model.elements()->a)
        scale = tr("compared with nothing");
    else if (m_most > 0)
        scale = tr("Δ from %1 to %2").arg(QString::number(-m_most, 'e', 1), QString::number(m_most, 'e', 1));
    else if (m_model.changedCount() > 0)
        scale = tr("changes without a numeric value");
    painter.drawText(QRectF(Pad, grid.bottom() + 4, width() - Pad, painter.fontMetrics().height() + 2), Qt::AlignLeft,
                     scale);
    paintFocus(painter, grid.toAlignedRect().adjusted(-3, -3, 3, 3));
}

QModelIndex ElementCanvas::currentCell() const
{
    const int row = m_model.rowOfElement(m_current);
    return row < 0 ? QModelIndex() : m_model.index(row, ElementModel::Delta);
}

void ElementCanvas::setCurrentCell(const QModelIndex& cell)
{
    if (cell.isValid())
        setCurrentElement(m_model.elementAt(cell.row()));
}

void ElementCanvas::setCurrentElement(int element)
{
    if (element == m_current || element < 0 || element >= m_model.elementCount())
        return;
    m_current = element;
    const app::ElementsView& window = *m_model.elements();
    const auto row = window.row + static_cast<std::uint64_t>(element / columns());
    const auto column = window.col + static_cast<std::uint64_t>(element % columns());
    const std::optional<double> delta = m_model.delta(element);
    announceCell(tr("row %1, column %2, %3")
                     .arg(exactText(row), exactText(column),
                          !m_model.isChanged(element) ? tr("unchanged")
                              : delta                 ? tr("Δ %1").arg(*delta, 0, 'g', 6)
                                                      : tr("not a number")));
    update();
}

int ElementCanvas::elementAt(const QPoint& at) const
{
    const double each = side();
    const auto column = static_cast<int>(std::floor((at.x() - Pad) / each));
    const auto row = static_cast<int>(std::floor((at.y() - Pad) / each));
    return column < 0 || row < 0 || column >= columns() || row >= rows() ? -1 : row * columns() + column;
}

void ElementCanvas::mouseMoveEvent(QMouseEvent* event)
{
    if (const int element = elementAt(event->pos()); element >= 0)
        setToolTip(tr("row %1, column %2")
                       .arg(m_model.elements()->row + static_cast<std::uint64_t>(element / columns()))
                       .arg(m_model.elements()->col + static_cast<std::uint64_t>(element % columns())));
}

void ElementCanvas::mousePressEvent(QMouseEvent* event)
{
    if (const int element = elementAt(event->pos()); element >= 0) {
        setCurrentElement(element);
        emit elementChosen(element);
    }
}

bool ElementCanvas::wantsKey(const QKeyEvent& event) const
{
    const int key = event.key();
    return !(event.modifiers() & ~Qt::KeypadModifier)
        && ((key >= Qt::Key_Left && key <= Qt::Key_Down) || key == Qt::Key_Backspace);
}

void ElementCanvas::moveBy(int elements)
{
    setCurrentElement(std::clamp(m_current + elements, 0, std::max(0, m_model.elementCount() - 1)));
    emit elementChosen(m_current);
}

void ElementCanvas::keyPressEvent(QKeyEvent* event)
{
    switch (event->key()) {
    case Qt::Key_Left:
        return moveBy(-1);
    case Qt::Key_Right:
        return moveBy(1);
    case Qt::Key_Up:
        return moveBy(-columns());
    case Qt::Key_Down:
        return moveBy(columns());
    case Qt::Key_Backspace:
        emit upWanted();
        return;
    default:
        Canvas::keyPressEvent(event);
    }
}

} // namespace deltascope::desktop
