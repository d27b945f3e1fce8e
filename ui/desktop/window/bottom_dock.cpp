#include "window/bottom_dock.h"

#include "actions/action_registry.h"
#include "look/format.h"
#include "window/tasks_panel.h"

#include <QListWidget>
#include <QTabWidget>

namespace deltascope::desktop {

namespace {

constexpr int MostLines = 2000;
enum Tab { TasksTab, AlertsTab, LogTab };

QString markOf(const app::AlertView& alert)
{
    return alert.state == app::AlertState::Cleared ? QStringLiteral("✓")
        : alert.level == app::AlertLevel::Error    ? QStringLiteral("✕")
                                                   : QStringLiteral("⚑");
}

}

BottomDock::BottomDock(PageContext& context, QWidget* parent)
    : QDockWidget(tr("Tasks, alerts and log"), parent)
    , m_context(context)
    , m_tabs(new QTabWidget)
    , m_tasks(new TasksPanel(context.bridge))
    , m_alerts(new QListWidget)
    , m_log(new QListWidget)
{
    setObjectName(QStringLiteral("BottomDock"));
    setFeatures(QDockWidget::DockWidgetClosable);
    setAllowedAreas(Qt::BottomDockWidgetArea);
    setTitleBarWidget(new QWidget);
    m_alerts->setAccessibleName(tr("Alerts of this run"));
    m_log->setAccessibleName(tr("Log"));
    m_tabs->addTab(m_tasks, QString());
    m_tabs->addTab(m_alerts, QString());
    m_tabs->addTab(m_log, tr("Log"));
    m_tabs->setAccessibleName(tr("Below the page"));
    m_tabs->tabBar()->setAccessibleName(tr("Below the page"));
    setWidget(m_tabs);
    connect(m_tasks, &TasksPanel::countChanged, this, &BottomDock::titleTabs);
    connect(&context.bridge, &ServiceBridge::alertMoved, this, &BottomDock::takeAlert);
    connect(&context.focus, &RunFocus::moved, this, &BottomDock::titleTabs);
    connect(&context.focus, &RunFocus::opened, this, &BottomDock::titleTabs);
    connect(m_alerts, &QListWidget::itemActivated, this, [this](const QListWidgetItem* item) {
        m_context.actions.trigger(QStringLiteral("go.alerts"));
        const QVariant step = item->data(Qt::UserRole);
        if (step.isValid() && m_context.focus.epoch())
            m_context.cursor.setB({ m_context.focus.epoch()->epoch, step.toLongLong() });
    });
    titleTabs();
}

void BottomDock::showTasks()
{
    m_tabs->setCurrentIndex(TasksTab);
    setVisible(true);
}

void BottomDock::log(const QString& text)
{
    m_log->addItem(clockText(ServiceBridge::nowUs(), ServiceBridge::nowUs()) + QStringLiteral("   ") + text);
    while (m_log->count() > MostLines)
        delete m_log->takeItem(0);
    m_log->scrollToBottom();
}

void BottomDock::takeAlert(const app::AlertChange& change)
{
    const app::AlertView& alert = change.alert;
    if (change.kind == app::AlertChange::Kind::Repeated)
        return;
    const QString text = QStringLiteral("%1   %2 %3: %4")
                             .arg(clockText(alert.lastUs, ServiceBridge::nowUs()), markOf(alert),
                                  QString::fromStdString(alert.rule), safeName(alert.title));
    auto* item = new QListWidgetItem(text);
    item->setToolTip(safeName(alert.text) + QStringLiteral("\n") + safeName(alert.remedy));
    if (alert.step)
        item->setData(Qt::UserRole, static_cast<qlonglong>(*alert.step));
    m_alerts->insertItem(0, item);
    while (m_alerts->count() > MostLines)
        delete m_alerts->takeItem(m_alerts->count() - 1);
    log(text);
}

void BottomDock::titleTabs()
{
    const auto title = [this](Tab tab, const QString& name, std::uint64_t count) {
        const QString text = count > 0 ? QStringLiteral("%1  %2").arg(name).arg(count) : name;
        if (m_tabs->tabText(tab) != text)
            m_tabs->setTabText(tab, text); // lays the whole window out
    };
    title(TasksTab, tr("Tasks"), static_cast<std::uint64_t>(m_tasks->runningTasks()));
    const RunPointer& run = m_context.focus.run();
    title(AlertsTab, tr("Alerts"), run ? run->alertsFiring : 0);
}

} // namespace deltascope::desktop
