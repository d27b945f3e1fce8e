#include "plot/plot_card.h"

#include "look/icon.h"
#include "look/look.h"
#include "widgets/table_header.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QMenu>
#include <QSettings>
#include <QStackedLayout>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace deltascope::desktop {

namespace {

constexpr double UsualSmoothing = 0.6;
constexpr int PinSide = 12;
constexpr int NarrowCard = 420; ///< below it the note is the unit alone

}

PlotCard::PlotCard(const QString& key, const QString& title, Smoothing smoothing, Outliers outliers, QWidget* parent)
    : Card(title, parent)
    , m_key(QStringLiteral("plots/") + key)
    , m_title(title)
    , m_canSmooth(smoothing == Smoothing::Offered)
    , m_legend(new PlotLegend)
    , m_menu(new QToolButton)
    , m_pin(new QLabel)
    , m_stack(new QStackedLayout)
    , m_view(new PlotView)
{
    m_menu->setIcon(icon(QStringLiteral("more")));
    m_menu->setToolTip(tr("Scale, table, export"));
    m_menu->setAccessibleName(tr("Menu of %1").arg(title));
    m_menu->setPopupMode(QToolButton::InstantPopup);
    m_menu->setMenu(new QMenu(this));
    m_pin->setPixmap(iconPixmap(QStringLiteral("pin"), color(Token::Muted), PinSide, devicePixelRatioF()));
    m_pin->setToolTip(tr("Pinned to the front"));
    m_pin->hide();
    header()->addWidget(m_pin);
    header()->addWidget(m_legend);
    header()->addWidget(m_menu);
    m_stack->addWidget(m_view);
    content()->addLayout(m_stack);
    const QSettings settings;
    m_view->setScale(
        static_cast<PlotScale>(std::clamp(settings.value(m_key + QString::fromLatin1(ScaleKey)).toInt(), 0, 2)));
    m_view->setCutting(settings.value(m_key + QString::fromLatin1(CutKey), outliers == Outliers::Cut).toBool());
    if (m_canSmooth)
        m_view->setSmoothing(settings.value(m_key + QString::fromLatin1(SmoothingKey), UsualSmoothing).toDouble());
    makeMenu();
}

QMenu* PlotCard::menu() { return m_menu->menu(); }

QWidget* PlotCard::titleBar() { return header()->parentWidget(); }

QToolButton* PlotCard::menuButton() { return m_menu; }

void PlotCard::setPinned(bool pinned) { m_pin->setVisible(pinned); }

void PlotCard::setData(PlotData data, const QString& unit, const QString& note, std::vector<PlotLegend::Entry> legend)
{
    m_unit = unit;
    m_note = note;
    m_legendEntries = std::move(legend);
    m_view->setAccessibleName(
        tr("%1, %2, steps %3 to %4").arg(m_title, note).arg(data.range.first).arg(data.range.second));
    m_view->setData(std::move(data));
    showLegend();
}

void PlotCard::showLegend()
{
    setNote(width() < NarrowCard ? m_unit : m_note);
    std::vector<PlotLegend::Entry> entries = m_legendEntries;
    if (m_canSmooth && m_view->smoothing() > 0 && !m_view->data().isEmpty()) {
        const Token token = m_view->data().series.front().token;
        entries.push_back({ tr("smoothed %1").arg(m_view->smoothing()), PlotLegend::Mark::Line, token });
        entries.push_back({ tr("raw"), PlotLegend::Mark::FaintLine, token });
    }
    m_legend->setEntries(std::move(entries));
}

void PlotCard::resizeEvent(QResizeEvent* event)
{
    Card::resizeEvent(event);
    showLegend();
}

bool PlotCard::isTable() const { return m_table && m_stack->currentWidget() == m_table; }

void PlotCard::setAsTable(bool table)
{
    if (table && !m_table) {
        m_table = new QTableView;
        TableHeader::give(*m_table);
        m_table->setModel(m_view->table());
        m_table->setAccessibleName(tr("Values of %1").arg(m_title));
        m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
        m_table->setShowGrid(false);
        m_table->setWordWrap(false);
        m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
        m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignRight | Qt::AlignVCenter);
        m_table->verticalHeader()->setDefaultSectionSize(metrics().row - 6);
        m_table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
        connect(m_table, &QTableView::activated, m_view, &PlotView::setCurrentCell);
        m_stack->addWidget(m_table);
    }
    m_stack->setCurrentIndex(table ? 1 : 0);
    if (table)
        m_table->scrollTo(m_view->currentCell(), QAbstractItemView::PositionAtCenter);
}

QString PlotCard::valuesAsText() const { return QString::fromUtf8(linesOf(m_view->data(), m_unit, QChar(u'\t'))); }

QByteArray PlotCard::csv() const { return linesOf(m_view->data(), m_unit, QChar(u',')); }

QPixmap PlotCard::picture()
{
    m_menu->hide();
    const QPixmap picture = grab();
    m_menu->show();
    return picture;
}

} // namespace deltascope::desktop
