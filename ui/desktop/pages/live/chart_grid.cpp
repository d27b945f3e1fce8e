#include "pages/live/chart_grid.h"

#include "look/look.h"
#include "widgets/part_mover.h"

#include <QApplication>
#include <QGridLayout>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QSettings>
#include <QToolButton>

#include <algorithm>
#include <array>

namespace deltascope::desktop {

namespace {

const QString OrderKey = QStringLiteral("live/order");
const QString PinnedKey = QStringLiteral("live/pinned");

struct Place {
    int row, column, parts;
};
/// The fourth chart has the most room in both.
constexpr std::array<Place, 5> Wide { { { 0, 0, 4 }, { 0, 4, 4 }, { 0, 8, 4 }, { 1, 0, 8 }, { 1, 8, 4 } } };
constexpr std::array<Place, 5> Narrow { { { 0, 0, 6 }, { 0, 6, 6 }, { 1, 0, 6 }, { 2, 0, 12 }, { 1, 6, 6 } } };

}

ChartGrid::ChartGrid(std::vector<Chart> charts, PartMover& mover, QWidget* parent)
    : QWidget(parent)
    , m_mover(mover)
    , m_charts(charts.begin(), charts.end())
    , m_pinned(QSettings().value(PinnedKey).toStringList())
    , m_grid(new QGridLayout(this))
{
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setSpacing(metrics().gap);
    const QStringList kept = QSettings().value(OrderKey).toStringList();
    const auto wanted = [&](const Chart& chart) {
        const auto at = kept.indexOf(chart.key);
        return std::pair(!m_pinned.contains(chart.key), at < 0 ? kept.size() : at);
    };
    std::stable_sort(m_charts.begin(), m_charts.end(),
                     [&](const Chart& a, const Chart& b) { return wanted(a) < wanted(b); });
    for (const Chart& chart : std::as_const(m_charts)) {
        addActs(chart);
        chart.card->titleBar()->installEventFilter(this);
        chart.card->titleBar()->setCursor(Qt::OpenHandCursor);
        chart.card->view()->installEventFilter(this);
        chart.card->setPinned(m_pinned.contains(chart.key));
    }
    arrange();
}

void ChartGrid::addActs(const Chart& chart)
{
    QMenu* menu = chart.card->menu();
    PlotCard* card = chart.card;
    menu->addSeparator();
    QAction* alone = menu->addAction(tr("Full size"), this, [this, card] { showAlone(m_alone ? nullptr : card); });
    alone->setCheckable(true);
    QAction* pin = menu->addAction(tr("Pinned to the front"));
    pin->setCheckable(true);
    connect(pin, &QAction::triggered, this, [this, card](bool on) { setPinned(card, on); });
    QAction* left = menu->addAction(tr("Move to the front"), this, [this, card] { move(card, -1); });
    QAction* right = menu->addAction(tr("Move to the back"), this, [this, card] { move(card, 1); });
    left->setShortcut(QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Left)); // told here, taken by the filter
    right->setShortcut(QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Right));
    left->setShortcutContext(Qt::WidgetShortcut);
    right->setShortcutContext(Qt::WidgetShortcut);
    connect(menu, &QMenu::aboutToShow, this, [this, card, alone, pin] {
        alone->setChecked(m_alone == card);
        pin->setChecked(isPinned(card));
    });
}

QStringList ChartGrid::order() const
{
    QStringList keys;
    for (const Chart& chart : m_charts)
        keys += chart.key;
    return keys;
}

void ChartGrid::setWide(bool wide)
{
    m_wide = wide;
    arrange();
}

void ChartGrid::showAlone(PlotCard* card)
{
    if (card == m_alone)
        return;
    m_alone = card;
    arrange();
    if (card)
        card->view()->setFocus();
    emit aloneChanged(card != nullptr);
}

bool ChartGrid::isPinned(const PlotCard* card) const { return m_pinned.contains(m_charts[placeOf(card)].key); }

void ChartGrid::setPinned(PlotCard* card, bool pinned)
{
    const QString key = m_charts[placeOf(card)].key;
    m_pinned.removeAll(key);
    const auto pins = static_cast<int>(m_pinned.size()); // behind the others, or before all that are not
    if (pinned)
        m_pinned += key;
    card->setPinned(pinned);
    m_charts.move(placeOf(card), pins);
    arrange();
    keep();
}

void ChartGrid::move(PlotCard* card, int by) { moveTo(card, placeOf(card) + by); }

void ChartGrid::moveTo(PlotCard* card, int place)
{
    const auto pins = static_cast<int>(m_pinned.size());
    const bool pinned = isPinned(card);
    const int last = static_cast<int>(m_charts.size()) - 1;
    m_charts.move(placeOf(card), std::clamp(place, pinned ? 0 : pins, pinned ? pins - 1 : last));
    arrange();
    keep();
}

void ChartGrid::keep() const
{
    QSettings settings;
    settings.setValue(OrderKey, order());
    settings.setValue(PinnedKey, m_pinned);
}

void ChartGrid::arrange()
{
    for (const Chart& chart : std::as_const(m_charts))
        m_grid->removeWidget(chart.card);
    for (int i = 0; i < GridColumns; ++i) {
        m_grid->setColumnStretch(i, 1);
        m_grid->setColumnMinimumWidth(i, 1);
    }
    const auto& places = m_wide ? Wide : Narrow;
    for (int i = 0; i < m_charts.size(); ++i) {
        PlotCard* card = m_charts[i].card;
        const Place& place = places[static_cast<std::size_t>(i)];
        if (card == m_alone)
            m_grid->addItem(m_mover.place(card, this), 0, 0, 1, GridColumns);
        else if (!m_alone)
            m_grid->addItem(m_mover.place(card, this), place.row, place.column, 1, place.parts);
        card->setVisible(!m_alone || card == m_alone);
        if (i > 0)
            QWidget::setTabOrder(m_charts[i - 1].card->menuButton(), card->view());
        QWidget::setTabOrder(card->view(), card->menuButton());
    }
    for (int row = 0; row < 3; ++row)
        m_grid->setRowStretch(row, m_alone ? (row == 0 ? 1 : 0) : row < (m_wide ? 2 : 3) ? 1 : 0);
}

int ChartGrid::placeOf(const PlotCard* card) const
{
    const auto found =
        std::find_if(m_charts.begin(), m_charts.end(), [card](const Chart& chart) { return chart.card == card; });
    return static_cast<int>(found - m_charts.begin());
}

PlotCard* ChartGrid::cardOf(const QObject* part) const
{
    const auto found = std::find_if(m_charts.begin(), m_charts.end(), [part](const Chart& chart) {
        return chart.card->titleBar() == part || chart.card->view() == part;
    });
    return found == m_charts.end() ? nullptr : found->card;
}

PlotCard* ChartGrid::cardAt(const QPoint& global) const
{
    const auto found = std::find_if(m_charts.begin(), m_charts.end(), [&](const Chart& chart) {
        return chart.card->isVisible() && chart.card->rect().contains(chart.card->mapFromGlobal(global));
    });
    return found == m_charts.end() ? nullptr : found->card;
}

bool ChartGrid::eventFilter(QObject* watched, QEvent* event)
{
    PlotCard* card = cardOf(watched);
    if (!card)
        return QWidget::eventFilter(watched, event);
    return watched == card->view() ? pressed(card, *event) : dragged(card, *event);
}

/// Of the title.
bool ChartGrid::dragged(PlotCard* card, const QEvent& event)
{
    const auto& mouse = static_cast<const QMouseEvent&>(event);
    switch (event.type()) {
    case QEvent::MouseButtonDblClick:
        showAlone(m_alone ? nullptr : card);
        return true;
    case QEvent::MouseButtonPress:
        if (mouse.button() == Qt::LeftButton && !m_alone)
            m_pressedAt = mouse.globalPosition().toPoint();
        return false;
    case QEvent::MouseMove:
        if (!m_pressedAt)
            return false;
        if (!m_drags
            && (mouse.globalPosition().toPoint() - *m_pressedAt).manhattanLength()
                >= QApplication::startDragDistance()) {
            m_drags = true;
            card->titleBar()->setCursor(Qt::ClosedHandCursor);
        }
        if (PlotCard* over = m_drags ? cardAt(mouse.globalPosition().toPoint()) : nullptr; over && over != card)
            moveTo(card, placeOf(over)); // the others make room at once
        return m_drags;
    case QEvent::MouseButtonRelease:
        m_pressedAt.reset();
        m_drags = false;
        card->titleBar()->setCursor(Qt::OpenHandCursor);
        return false;
    default:
        return false;
    }
}

/// Of the chart.
bool ChartGrid::pressed(PlotCard* card, QEvent& event)
{
    if (event.type() != QEvent::KeyPress)
        return false;
    const auto& key = static_cast<const QKeyEvent&>(event);
    const bool moves = key.modifiers() == (Qt::ControlModifier | Qt::ShiftModifier);
    if (moves && (key.key() == Qt::Key_Left || key.key() == Qt::Key_Right)) {
        move(card, key.key() == Qt::Key_Left ? -1 : 1);
        return true;
    }
    if (key.key() == Qt::Key_Return || key.key() == Qt::Key_Enter) {
        showAlone(m_alone ? nullptr : card);
        return true;
    }
    if (key.key() == Qt::Key_Escape && m_alone) {
        showAlone(nullptr);
        return true;
    }
    return false;
}

} // namespace deltascope::desktop
