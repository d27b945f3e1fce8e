#include "window/main_window.h"

#include "firstrun/coach_marks.h"
#include "firstrun/demo_strip.h"
#include "help/page_help.h"
#include "pages/alerts/alerts_page.h"
#include "pages/lineage/lineage_page.h"
#include "pages/lineage/lineage_tree.h"
#include "pages/live/kpi_row.h"
#include "pages/live/live_page.h"
#include "pages/pages.h"
#include "widgets/cards.h"
#include "widgets/kpi_tile.h"
#include "window/scrubber.h"

#include <algorithm>
#include <functional>
#include <utility>

// What guides through the window: the demo and its strip, hints, help, and the way to the rules of alerts.

namespace deltascope::desktop {

namespace {

/// The part of a widget that is in sight, in coordinates of its window.
QRect inWindow(const QWidget* widget, const QRect& part)
{
    if (!widget->isVisible())
        return {};
    const QRect seen = part & widget->visibleRegion().boundingRect();
    return seen.isEmpty() ? QRect() : QRect(widget->mapTo(widget->window(), seen.topLeft()), seen.size());
}

/// The first whole line of an anchor, as far as it says what it is.
QRect anchorIn(LineageTree& tree, const RunFocus& focus)
{
    const QRect view = tree.viewport()->rect();
    for (QModelIndex line = tree.indexAt(view.topLeft()); line.isValid(); line = line.siblingAtRow(line.row() + 1)) {
        const QRect place = tree.visualRect(line.siblingAtColumn(LineageModel::Chain));
        if (!view.contains(QRect(0, place.top(), 1, place.height())))
            continue;
        const std::optional<StepId> version = tree.lineage().versionOf(line);
        if (const app::StepView* step = version ? focus.step(*version) : nullptr; step && step->kind == "anchor")
            return inWindow(tree.viewport(),
                            QRect(0, place.top(), tree.columnViewportPosition(LineageModel::Age), place.height()));
    }
    return {};
}

}

void MainWindow::addGuideActions()
{
    const auto addDemo = [this](const char* id, const QString& text, std::function<void()> act) {
        m_actions->add(
            { .id = QString::fromLatin1(id),
              .text = text,
              .menu = tr("File"),
              .act = std::move(act),
              .enabled = [this] { return m_focus->run() && m_focus->run()->demo && !m_session.demo().isEnding(); } });
    };
    addDemo("demo.files", tr("Show the files of the demo"), [this] { m_demoStrip->showFiles(); });
    addDemo("demo.restart", tr("Restart the demo"), [this] { m_demoStrip->restart(); });
    addDemo("demo.delete", tr("Stop the demo and delete its files"), [this] { m_demoStrip->stopAndDelete(); });
    for (const app::AlertRuleView& rule : m_session.monitor().alerts().list({}).rules) {
        const QString id = QString::fromStdString(rule.id);
        m_actions->add({ .id = QStringLiteral("rule.") + id,
                         .text = tr("Alert rule: %1…").arg(id),
                         .menu = tr("Alert rules"),
                         .act =
                             [this, rule = rule.id] {
                                 showPage(QStringLiteral("alerts"));
                                 if (auto* alerts = qobject_cast<AlertsPage*>(page()))
                                     alerts->editRule(rule);
                             },
                         .enabled = [this] { return m_focus->run() != nullptr; } });
    }
    m_actions->add({ .id = QStringLiteral("help.page"),
                     .text = tr("Help for this page"),
                     .menu = tr("Help"),
                     .icon = QStringLiteral("info"),
                     .shortcut = QKeySequence::HelpContents,
                     .act = [this] {
                         if (auto* help = findChild<PageHelp*>())
                             help->close();
                         (new PageHelp(m_page, *m_actions, this))->show();
                     } });
    m_actions->add({ .id = QStringLiteral("help.hint"),
                     .text = tr("Go to the hint"),
                     .menu = tr("Help"),
                     .shortcut = QKeySequence(Qt::SHIFT | Qt::Key_F1),
                     .act = [this] { m_hints->focusMark(); },
                     .enabled = [this] { return m_hints && !m_hints->shown().isEmpty(); } });
    m_actions->add({ .id = QStringLiteral("help.hints"),
                     .text = tr("Show the hints of the demo again"),
                     .menu = tr("Help"),
                     .act = [this] { m_hints->startAnew(); },
                     .enabled = [this] { return m_focus->run() && m_focus->run()->demo; } });
}

void MainWindow::makeGuide()
{
    m_demoStrip = new DemoStrip(m_context, m_session.demo());
    connect(m_demoStrip, &DemoStrip::restarted, this, &MainWindow::showRun);
    connect(m_demoStrip, &DemoStrip::deleted, this, [this] { showRun({}); });
    connect(m_demoStrip, &DemoStrip::failed, this, [this](const QString& text) { say(QStringLiteral("✕ ") + text); });
    const auto live = [this] { return qobject_cast<LivePage*>(page()); };
    m_hints = new CoachMarks(
        this,
        { { QStringLiteral("pause"), tr("Time without tokens"),
            tr("While a replica swaps its weights it produces nothing. This color means that everywhere, and nothing "
               "else."),
            [live] {
                if (!live())
                    return QRect();
                const KpiTile& tile = live()->tiles().tile(KpiRow::Paused);
                return inWindow(&tile, tile.rect());
            } },
          { QStringLiteral("heatmap"), tr("Where training acts"),
            tr("A column is a step, a line a layer; the brighter, the more of it changed. A click goes to a step, "
               "Enter "
               "to every tensor."),
            [live] { return live() ? inWindow(&live()->heatCard(), live()->heatCard().rect()) : QRect(); } },
          { QStringLiteral("materialize"), tr("Any step as a checkpoint"),
            tr("Rebuilds the whole checkpoint of step B from its anchor and the deltas after it. It works on the demo, "
               "too."),
            [this] {
                const auto* button = m_scrubber->findChild<QWidget*>(QStringLiteral("run.materialize"));
                return inWindow(button, button->rect());
            } },
          { QStringLiteral("anchor"), tr("Anchors"),
            tr("A diamond is a full version. Steps after it are rebuilt from it and the deltas up to them; the line "
               "beside the list shows the way."),
            [this] {
                auto* lineage = qobject_cast<LineagePage*>(page());
                return lineage ? anchorIn(lineage->tree(), *m_focus) : QRect();
            } } });
    connect(m_focus, &RunFocus::opened, this, [this] { m_hints->setOn(m_focus->run() && m_focus->run()->demo); });
}

} // namespace deltascope::desktop
