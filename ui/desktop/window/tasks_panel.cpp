#include "window/tasks_panel.h"

#include "window/task_row.h"

#include "look/look.h"
#include "widgets/cards.h"

#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>
#include <set>

namespace deltascope::desktop {

namespace {

constexpr int MostRows = 50;

}

TasksPanel::TasksPanel(ServiceBridge& bridge, QWidget* parent)
    : QWidget(parent)
    , m_bridge(bridge)
    , m_rows(new QVBoxLayout)
    , m_none(makeLabel(tr("No tasks. What is verified, compared, materialized or rolled back runs here and goes on in "
                          "the background."),
                       "muted"))
{
    auto* list = new QWidget;
    setRole(list, "page");
    m_rows->setContentsMargins(0, 0, 0, 0);
    m_rows->setSpacing(0);
    m_none->setContentsMargins(16, 10, 16, 10);
    m_rows->addWidget(m_none);
    m_rows->addStretch(1);
    list->setLayout(m_rows);
    auto* scroll = new QScrollArea;
    scroll->setWidget(list);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setFocusPolicy(Qt::NoFocus);
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(0, 0, 0, 0);
    all->addWidget(scroll);
    connect(&bridge, &ServiceBridge::taskMoved, this, &TasksPanel::take);
    const std::vector<app::TaskView> tasks = bridge.monitor().tasks();
    for (auto task = tasks.rbegin(); task != tasks.rend(); ++task)
        take(*task);
}

int TasksPanel::runningTasks() const
{
    return static_cast<int>(
        std::count_if(m_rowOf.begin(), m_rowOf.end(), [](const TaskRow* row) { return isAtWork(row->task()); }));
}

bool TasksPanel::hasInterrupted() const
{
    return std::any_of(m_rowOf.begin(), m_rowOf.end(), [](const TaskRow* row) { return row->task().interrupted; });
}

/// Newest first, also where an older one comes later.
int TasksPanel::placeOf(const app::TaskView& task) const
{
    int place = 0;
    while (const auto* row = qobject_cast<TaskRow*>(m_rows->itemAt(place)->widget())) {
        if (row->task().startedUs <= task.startedUs)
            break;
        ++place;
    }
    return place;
}

/// Of each run what was done last can be undone, and nothing before it.
void TasksPanel::offerUndo()
{
    std::set<std::string> seen;
    for (int i = 0; i < m_rows->count(); ++i) {
        auto* row = qobject_cast<TaskRow*>(m_rows->itemAt(i)->widget());
        if (row)
            row->offerUndo(row->canBeUndone() && seen.insert(row->task().plan.run).second);
    }
}

void TasksPanel::take(const app::TaskView& task)
{
    const QString id = QString::fromStdString(task.id);
    TaskRow*& row = m_rowOf[id];
    if (!row) {
        row = new TaskRow(m_bridge);
        connect(row, &TaskRow::planWanted, this, [this, row = row] { emit planWanted(row->task()); });
        connect(row, &TaskRow::undoWanted, this,
                [this, row = row] { emit undoWanted(QString::fromStdString(row->task().plan.run)); });
        connect(row, &TaskRow::acceptWanted, this, [this, row = row] { emit acceptWanted(row->task()); });
        connect(row, &TaskRow::discardWanted, this, [this, row = row] { emit discardWanted(row->task()); });
        m_rows->insertWidget(placeOf(task), row);
    }
    const bool found = task.interrupted && !row->task().interrupted;
    row->showTask(task);
    offerUndo();
    m_none->hide();
    if (found)
        emit interruptedFound();
    for (int i = m_rows->count() - 1; i >= 0 && m_rowOf.size() > MostRows; --i) { // the oldest that is over
        auto* old = qobject_cast<TaskRow*>(m_rows->itemAt(i)->widget());
        if (!old || !isOver(old->task()))
            continue;
        m_rowOf.remove(QString::fromStdString(old->task().id));
        old->deleteLater();
    }
    emit countChanged(runningTasks());
}

} // namespace deltascope::desktop
