#include "window/main_window.h"

#include "deltascope/app/command_line.h"

#include "acts/again_sheet.h"
#include "acts/destination.h"
#include "acts/materialize_sheet.h"
#include "acts/verify_sheet.h"
#include "canvas/canvas.h"
#include "look/format.h"
#include "window/bottom_dock.h"
#include "window/table_twin.h"

#include <QApplication>
#include <QClipboard>
#include <QDesktopServices>
#include <QFileDialog>
#include <QFileInfo>
#include <QSaveFile>
#include <QUrl>

// What is done with the step that is looked at, and with the view of it.

namespace deltascope::desktop {

QString MainWindow::versionAddress() const
{
    if (!m_focus->run() || !m_cursor->b())
        return {};
    return safeName(m_focus->run()->source) + QLatin1Char('@') + m_cursor->b()->address();
}

QString MainWindow::commandOnB(const QString& command) const
{
    const std::optional<app::SourceRequest> source = m_session.monitor().sourceOf(m_focus->id().toStdString());
    if (!source || !m_cursor->b())
        return {};
    const std::string address = source->source.text() + "@" + m_cursor->b()->address().toStdString();
    return QStringLiteral("deltascope %1 ").arg(command)
        + QString::fromStdString(app::quotedPath(address) + app::sourceOptions(*source));
}

void MainWindow::materialize(bool ask)
{
    const app::StepView* step = m_focus->b();
    if (!step)
        return;
    const StepId id { step->epoch, step->step };
    const QString folder = m_session.isRemote() ? QString() : rememberedFolder(m_focus->run()->source);
    if (ask || folder.isEmpty()) {
        auto* sheet = new MaterializeSheet(m_session.bridge(), m_focus->run(), id, this);
        connect(sheet, &PlanSheet::started, m_bottom, &BottomDock::showTasks);
        return sheet->open();
    }
    m_bottom->showTasks();
    m_session.bridge().planToTheEnd(
        this, m_focus->id(), materializePlan(id, destinationIn(folder, step->step)),
        [this](const Result<app::PlanView>& plan) {
            if (plan && plan->warnings.empty()) {
                const QString title = safeName(plan->title);
                return m_session.bridge().start(this, *plan, [this, title](const Result<app::TaskView>& task) {
                    say(task ? title : QStringLiteral("✕ ") + safeName(task.error().text));
                });
            }
            materialize(true); // there is something to look at first
        });
}

void MainWindow::verify()
{
    const app::StepView* step = m_focus->b();
    if (!step)
        return;
    auto* sheet =
        new VerifySheet(m_session.bridge(), m_focus->run(), StepId { step->epoch, step->step }.address(), this);
    connect(sheet, &PlanSheet::started, m_bottom, &BottomDock::showTasks);
    sheet->open();
}

void MainWindow::planAgain(const app::TaskView& task)
{
    const std::optional<app::ActRequest> request = m_session.monitor().requestOf(task.id);
    if (request)
        (new AgainSheet(m_session.bridge(), task, *request, this))->open();
}

void MainWindow::planAccepting(const app::TaskView& task)
{
    const std::optional<app::ActRequest> request = m_session.monitor().requestOf(task.id);
    if (request)
        AgainSheet::accepting(m_session.bridge(), task, *request, this)->open();
}

void MainWindow::exportPage()
{
    Page* shown = page();
    if (!shown)
        return;
    const QString name = shown->exportName();
    const QString type = QFileInfo(name).suffix();
    QString filter = tr("Picture (*.png)");
    if (!name.isEmpty())
        filter += QStringLiteral(";;") + tr("Data (*.%1)").arg(type);
    auto* dialog = new QFileDialog(this, tr("Export this view"), m_page + QStringLiteral(".png"), filter);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QFileDialog::fileSelected, shown, [this, shown, type](const QString& path) {
        bool done = false;
        if (!type.isEmpty() && path.endsWith(QLatin1Char('.') + type)) {
            QSaveFile file(path);
            const QByteArray text = shown->exportText();
            done = file.open(QIODevice::WriteOnly) && file.write(text) == text.size() && file.commit();
        } else {
            done = shown->grab().save(path);
        }
        say(done ? tr("Exported to %1").arg(path) : tr("✕ %1 cannot be written").arg(path));
    });
    dialog->open();
}

void MainWindow::showTwin()
{
    if (Page* shown = page(); shown && shown->canvas())
        (new TableTwin(*shown->canvas(), this))->show();
}

void MainWindow::copyAddress()
{
    QApplication::clipboard()->setText(versionAddress());
    say(tr("Copied %1").arg(versionAddress()));
}

void MainWindow::showFiles()
{
    const app::StepView* step = m_focus->b();
    const QUrl source(QString::fromStdString(m_focus->run()->source));
    if (!step || step->objects.empty() || !source.isLocalFile() || m_session.isRemote())
        return;
    const QFileInfo file(source.toLocalFile() + QLatin1Char('/') + QString::fromStdString(step->objects.front().key));
    QDesktopServices::openUrl(QUrl::fromLocalFile(file.absolutePath()));
}

} // namespace deltascope::desktop
