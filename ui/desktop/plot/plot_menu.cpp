#include "plot/plot_card.h"

#include "look/look.h"

#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QFileDialog>
#include <QMenu>
#include <QMessageBox>
#include <QPainter>
#include <QSaveFile>
#include <QSettings>
#include <QSvgGenerator>
#include <QToolButton>

#include <array>

// What the menu of a chart offers.

namespace deltascope::desktop {

namespace {

constexpr std::array<double, 4> Smoothings { 0, 0.6, 0.9, 0.99 };

}

void PlotCard::makeMenu()
{
    QMenu* all = m_menu->menu();
    const auto toggle = [this, all](const QString& text, const char* key, bool on, void (PlotView::*set)(bool)) {
        QAction* action = all->addAction(text);
        action->setCheckable(true);
        action->setChecked(on);
        connect(action, &QAction::toggled, this, [this, key, set](bool wanted) {
            (m_view->*set)(wanted);
            QSettings().setValue(m_key + QString::fromLatin1(key), wanted);
        });
    };
    addScales(*all->addMenu(tr("Y axis")));
    toggle(tr("Cut off outliers"), CutKey, m_view->cutsOutliers(), &PlotView::setCutting);
    if (m_canSmooth)
        addSmoothings(*all->addMenu(tr("Smoothing")));
    addAxes(*all->addMenu(tr("X axis")));
    all->addAction(tr("Reset zoom"), this, [this] { emit m_view->rangeChosen(std::nullopt); });
    all->addSeparator();
    QAction* table = all->addAction(tr("Show as table"));
    table->setCheckable(true);
    connect(table, &QAction::toggled, this, &PlotCard::setAsTable);
    connect(all, &QMenu::aboutToShow, table, [this, table] { table->setChecked(isTable()); });
    all->addAction(tr("Copy values"), this, [this] { QApplication::clipboard()->setText(valuesAsText()); });
    all->addAction(tr("Copy picture"), this, [this] { QApplication::clipboard()->setPixmap(picture()); });
    QMenu* files = all->addMenu(tr("Export"));
    files->addAction(tr("PNG…"), this, [this] { save(QStringLiteral("png"), tr("Picture (*.png)")); });
    files->addAction(tr("SVG…"), this, [this] { save(QStringLiteral("svg"), tr("Drawing (*.svg)")); });
    files->addAction(tr("CSV…"), this, [this] { save(QStringLiteral("csv"), tr("Comma separated (*.csv)")); });
}

void PlotCard::addScales(QMenu& menu)
{
    auto* group = new QActionGroup(&menu);
    for (const auto& [scale, text] :
         { std::pair(PlotScale::Linear, tr("Linear")), std::pair(PlotScale::Log, tr("Logarithmic")),
           std::pair(PlotScale::SymLog, tr("Logarithmic, with 0 (symlog)")) }) {
        QAction* action = menu.addAction(text);
        action->setCheckable(true);
        action->setChecked(scale == m_view->scale());
        group->addAction(action);
        connect(action, &QAction::triggered, this, [this, scale = scale] {
            m_view->setScale(scale);
            QSettings().setValue(m_key + QString::fromLatin1(ScaleKey), static_cast<int>(scale));
        });
    }
}

void PlotCard::addSmoothings(QMenu& menu)
{
    auto* group = new QActionGroup(&menu);
    for (const double w : Smoothings) {
        QAction* action = menu.addAction(w == 0 ? tr("None") : QString::number(w));
        action->setCheckable(true);
        action->setChecked(w == m_view->smoothing());
        group->addAction(action);
        connect(action, &QAction::triggered, this, [this, w] {
            m_view->setSmoothing(w);
            QSettings().setValue(m_key + QString::fromLatin1(SmoothingKey), w);
            showLegend();
        });
    }
}

void PlotCard::addAxes(QMenu& menu)
{
    auto* group = new QActionGroup(&menu);
    for (const auto& [x, text] : { std::pair(PlotX::Step, tr("Steps")), std::pair(PlotX::Wall, tr("Time of day")),
                                   std::pair(PlotX::SinceStart, tr("Time since the first step")) }) {
        QAction* action = menu.addAction(text);
        action->setCheckable(true);
        group->addAction(action);
        connect(action, &QAction::triggered, this, [this, x = x] { emit xChosen(x); });
        connect(&menu, &QMenu::aboutToShow, action, [this, action, x = x] {
            action->setChecked(m_view->x() == x);
            action->setEnabled(x == PlotX::Step || (m_view->data().clock && !m_view->data().clock->isEmpty()));
        });
    }
}

void PlotCard::contextMenuEvent(QContextMenuEvent* event) { menu()->popup(event->globalPos()); }

bool PlotCard::writeSvg(const QString& path)
{
    QSvgGenerator file;
    file.setFileName(path);
    file.setTitle(m_title);
    file.setSize(size());
    file.setViewBox(rect());
    QPainter painter;
    if (!painter.begin(&file))
        return false;
    m_menu->hide();
    render(&painter);
    m_menu->show();
    return painter.end();
}

void PlotCard::save(const QString& ending, const QString& filter)
{
    const QString name = QStringLiteral("%1.%2").arg(m_title.toLower().replace(QChar(u' '), QChar(u'-')), ending);
    auto* dialog = new QFileDialog(this, tr("Export %1").arg(m_title), name, filter);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(ending);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QFileDialog::fileSelected, this, &PlotCard::exportTo);
    dialog->open();
}

void PlotCard::exportTo(const QString& path)
{
    bool written = false;
    if (path.endsWith(QLatin1String(".png"))) {
        written = picture().save(path, "PNG");
    } else if (path.endsWith(QLatin1String(".svg"))) {
        written = writeSvg(path);
    } else {
        QSaveFile file(path);
        written = file.open(QIODevice::WriteOnly) && file.write(csv()) >= 0 && file.commit();
    }
    if (!written) {
        auto* box =
            new QMessageBox(QMessageBox::Warning, tr("Not exported"),
                            tr("✕ %1 cannot be written. Choose another folder.").arg(path), QMessageBox::Ok, this);
        box->setAttribute(Qt::WA_DeleteOnClose);
        box->open();
    }
}

} // namespace deltascope::desktop
