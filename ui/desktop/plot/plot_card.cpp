#include "plot/plot_card.h"

#include "look/icon.h"
#include "look/look.h"

#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QMenu>
#include <QMessageBox>
#include <QSaveFile>
#include <QSettings>
#include <QStackedLayout>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <array>

namespace deltascope::desktop {

namespace {

constexpr std::array<double, 4> Smoothings { 0, 0.6, 0.9, 0.99 };
constexpr double UsualSmoothing = 0.6;
constexpr int NarrowCard = 420; ///< below it the note is the unit alone

}

PlotCard::PlotCard(const QString& key, const QString& title, Smoothing smoothing, QWidget* parent)
    : Card(title, parent)
    , m_key(QStringLiteral("plots/") + key)
    , m_title(title)
    , m_canSmooth(smoothing == Smoothing::Offered)
    , m_legend(new PlotLegend)
    , m_menu(new QToolButton)
    , m_stack(new QStackedLayout)
    , m_view(new PlotView)
{
    m_menu->setIcon(icon(QStringLiteral("more")));
    m_menu->setToolTip(tr("Scale, table, export"));
    m_menu->setAccessibleName(tr("Menu of %1").arg(title));
    m_menu->setPopupMode(QToolButton::InstantPopup);
    header()->addWidget(m_legend);
    header()->addWidget(m_menu);
    m_stack->addWidget(m_view);
    content()->addLayout(m_stack);
    const QSettings settings;
    m_view->setLog(settings.value(m_key + QStringLiteral("/log"), false).toBool());
    if (m_canSmooth)
        m_view->setSmoothing(settings.value(m_key + QStringLiteral("/smoothing"), UsualSmoothing).toDouble());
    makeMenu();
}

void PlotCard::makeMenu()
{
    auto* menu = new QMenu(this);
    QAction* log = menu->addAction(tr("Log scale"));
    log->setCheckable(true);
    log->setChecked(m_view->isLog());
    connect(log, &QAction::toggled, this, [this](bool on) {
        m_view->setLog(on);
        QSettings().setValue(m_key + QStringLiteral("/log"), on);
    });
    if (m_canSmooth) {
        menu->addSeparator();
        auto* group = new QActionGroup(menu);
        for (const double w : Smoothings) {
            QAction* action = menu->addAction(w == 0 ? tr("No smoothing") : tr("Smoothing %1").arg(w));
            action->setCheckable(true);
            action->setChecked(w == m_view->smoothing());
            group->addAction(action);
            connect(action, &QAction::triggered, this, [this, w] {
                m_view->setSmoothing(w);
                QSettings().setValue(m_key + QStringLiteral("/smoothing"), w);
                showLegend();
            });
        }
    }
    menu->addSeparator();
    QAction* table = menu->addAction(tr("Show as table"));
    table->setCheckable(true);
    connect(table, &QAction::toggled, this, &PlotCard::setAsTable);
    menu->addAction(tr("Reset zoom"), this, [this] { emit m_view->rangeChosen(std::nullopt); });
    menu->addSeparator();
    menu->addAction(tr("Copy values"), this, [this] { QApplication::clipboard()->setText(valuesAsText()); });
    menu->addAction(tr("Export CSV…"), this, [this] { save(QStringLiteral("csv"), tr("Comma separated (*.csv)")); });
    menu->addAction(tr("Export PNG…"), this, [this] { save(QStringLiteral("png"), tr("Picture (*.png)")); });
    connect(menu, &QMenu::aboutToShow, table, [this, table] { table->setChecked(isTable()); });
    m_menu->setMenu(menu);
}

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

void PlotCard::save(const QString& ending, const QString& filter)
{
    const QString name = QStringLiteral("%1.%2").arg(m_title.toLower().replace(QChar(u' '), QChar(u'-')), ending);
    const QString path = QFileDialog::getSaveFileName(this, tr("Export %1").arg(m_title), name, filter);
    if (path.isEmpty())
        return;
    bool written = false;
    if (ending == QLatin1String("png")) {
        written = picture().save(path, "PNG");
    } else {
        QSaveFile file(path);
        written = file.open(QIODevice::WriteOnly) && file.write(csv()) >= 0 && file.commit();
    }
    if (!written)
        QMessageBox::warning(this, tr("Not exported"), tr("✕ %1 cannot be written. Choose another folder.").arg(path));
}

} // namespace deltascope::desktop
