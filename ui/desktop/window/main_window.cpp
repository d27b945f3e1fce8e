#include "window/main_window.h"

#include "firstrun/coach_marks.h"
#include "firstrun/demo_strip.h"
#include "look/format.h"
#include "look/look.h"
#include "pages/pages.h"
#include "welcome/welcome_page.h"
#include "window/activity_bar.h"
#include "window/bottom_dock.h"
#include "window/inspector.h"
#include "window/open_dialog.h"
#include "window/page_stack.h"
#include "window/scrubber.h"
#include "window/status_line.h"
#include "window/tasks_panel.h"
#include "window/top_bar.h"

#include <QDropEvent>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QMessageBox>
#include <QMimeData>
#include <QScreen>
#include <QSettings>
#include <QUndoStack>
#include <QUrl>
#include <QVBoxLayout>

namespace deltascope::desktop {

namespace {

constexpr int StateVersion = 1; ///< of docks and bars
constexpr int SayMs = 6000;
const QString GeometryKey = QStringLiteral("window/geometry");
const QString StateKey = QStringLiteral("window/state");

}

MainWindow::MainWindow(Session& session, QWidget* parent)
    : QMainWindow(parent)
    , m_session(session)
    , m_cursor(new StepCursor(this))
    , m_focus(new RunFocus(session.bridge(), *m_cursor, this))
    , m_viewUndo(new QUndoStack(this))
    , m_history(new ViewHistory(this))
    , m_actions(new ActionRegistry(this))
    , m_context { session.bridge(), *m_cursor, *m_focus, *m_actions, *m_viewUndo }
    , m_pages(new PageStack)
{
    setObjectName(QStringLiteral("MainWindow"));
    setMinimumSize(1024, 640);
    resize(QSize(1600, 1000).boundedTo(screen()->availableSize()));
    setAcceptDrops(true);
    addActions();
    makeMenus();
    makeBars();
    makeDocks();
    makePages();
    connect(m_focus, &RunFocus::opened, this, [this] {
        m_viewUndo->clear();
        m_history->clear();
        showTitle();
        m_actions->refresh();
    });
    connect(m_focus, &RunFocus::moved, m_actions, &ActionRegistry::refresh);
    connect(m_focus, &RunFocus::moved, this, &MainWindow::goToLink);
    connect(m_focus, &RunFocus::opened, this, &MainWindow::goToLink);
    connect(m_focus, &RunFocus::moved, this,
            [this] { m_activity->setBadge(QStringLiteral("alerts"), static_cast<int>(m_focus->run()->alertsFiring)); });
    connect(m_cursor, &StepCursor::changed, this, [this] {
        m_actions->refresh();
        visit();
    });
    connect(m_history, &ViewHistory::changed, m_actions, &ActionRegistry::refresh);
    connect(m_viewUndo, &QUndoStack::indexChanged, m_actions, &ActionRegistry::refresh);
    connect(m_history, &ViewHistory::goTo, this, [this](const ViewHistory::Place& place) {
        showPage(place.page);
        m_cursor->set(place.cursor);
    });
    dress(*this);
    restoreGeometry(QSettings().value(GeometryKey).toByteArray());
    restoreState(QSettings().value(StateKey).toByteArray(), StateVersion);
    showRun({});
    showInterrupted();
}

MainWindow::~MainWindow()
{
    m_viewUndo->disconnect(); // its end would refresh actions that ask what is gone by then
}

void MainWindow::makeBars()
{
    auto* top = new TopBar(m_context, m_session);
    connect(top, &TopBar::runChosen, this, &MainWindow::showRun);
    addToolBar(Qt::TopToolBarArea, top);
    addToolBarBreak(Qt::TopToolBarArea);
    m_scrubber = new Scrubber(m_context);
    addToolBar(Qt::TopToolBarArea, m_scrubber);
    makeGuide();
    m_activity = new ActivityBar(*m_actions);
    m_welcome = new WelcomePage(m_session, *m_actions);
    connect(m_welcome, &WelcomePage::sourceChosen, this, [this](const QString& source, const QString& base) {
        app::SourceRequest request;
        request.source = source.toStdString();
        request.base = base.toStdString();
        openSource(request);
    });
    m_pages->add(m_welcome);
    m_pages->choose(m_welcome);
    auto* middle = new QWidget;
    auto* row = new QHBoxLayout(middle);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    row->addWidget(m_activity);
    auto* column = new QVBoxLayout;
    column->setSpacing(0);
    column->addWidget(m_demoStrip);
    column->addWidget(m_pages, 1);
    row->addLayout(column, 1);
    setCentralWidget(middle);
    setStatusBar(new StatusLine(m_context));
}

void MainWindow::makeDocks()
{
    m_inspector = new Inspector(m_context, this);
    addDockWidget(Qt::RightDockWidgetArea, m_inspector);
    m_bottom = new BottomDock(m_context, this);
    addDockWidget(Qt::BottomDockWidgetArea, m_bottom);
    resizeDocks({ m_inspector }, { 288 }, Qt::Horizontal);
    resizeDocks({ m_bottom }, { 104 }, Qt::Vertical);
    connect(&m_bottom->tasks(), &TasksPanel::planWanted, this, &MainWindow::planAgain);
    connect(&m_bottom->tasks(), &TasksPanel::acceptWanted, this, &MainWindow::planAccepting);
    connect(&m_bottom->tasks(), &TasksPanel::discardWanted, this, &MainWindow::discardLeftBy);
    connect(&m_bottom->tasks(), &TasksPanel::undoWanted, this, &MainWindow::undoRollBack);
    connect(&m_bottom->tasks(), &TasksPanel::interruptedFound, this, &MainWindow::showInterrupted);
}

/// All at once: a page that is made when it is first shown keeps the window waiting then.
void MainWindow::makePages()
{
    for (const PageInfo& info : pageInfos()) {
        Page* page = info.make(m_context, nullptr);
        m_pages->add(page);
        m_pageOf.insert(info.id, page);
    }
}

void MainWindow::openSource(const app::SourceRequest& request)
{
    if (const QString bundle = Session::bundleFile(request.source.text()); !bundle.isEmpty())
        emit bundleWanted(bundle);
    else
        showRun(m_session.openSource(request));
}

void MainWindow::openDemo(double rate)
{
    const Result<QString> run = m_session.demo().start(rate);
    if (run)
        return showRun(*run);
    say(QStringLiteral("✕ ") + safeName(run.error().text));
    auto* box = new QMessageBox(QMessageBox::Warning, tr("The demo cannot start"), safeName(run.error().text),
                                QMessageBox::Ok, this);
    box->setInformativeText(safeName(run.error().action));
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->open();
}

void MainWindow::showRun(const QString& id)
{
    m_focus->open(id);
    const bool open = m_focus->run() != nullptr;
    for (QWidget* part : { static_cast<QWidget*>(m_activity), static_cast<QWidget*>(m_scrubber),
                           static_cast<QWidget*>(m_inspector), static_cast<QWidget*>(m_bottom) })
        part->setVisible(open);
    if (auto* top = findChild<TopBar*>())
        top->setVisible(open);
    if (open)
        return showPage(m_page.isEmpty() && !pageInfos().empty() ? pageInfos().front().id : m_page);
    m_page.clear();
    m_pages->choose(m_welcome);
    m_welcome->setFocus();
    m_actions->refresh();
}

void MainWindow::showPage(const QString& id)
{
    Page* page = m_pageOf.value(id);
    if (!page || !m_focus->run())
        return;
    m_page = id;
    m_pages->choose(page);
    page->takeFocus();
    m_activity->setCurrent(id);
    m_actions->refresh();
    visit();
}

void MainWindow::keepLayout() const
{
    QSettings().setValue(GeometryKey, saveGeometry());
    if (m_focus->run())
        QSettings().setValue(StateKey, saveState(StateVersion));
}

/// What the last program left is seen also where no run is open yet.
void MainWindow::showInterrupted()
{
    if (m_bottom->tasks().hasInterrupted())
        m_bottom->showTasks();
}

Page* MainWindow::page() const { return m_page.isEmpty() ? nullptr : m_pageOf.value(m_page); }

void MainWindow::showTitle()
{
    QStringList parts;
    if (m_focus->run())
        parts << safeName(m_focus->run()->name);
    if (m_session.isRecorded() && !parts.isEmpty())
        parts.back() = tr("%1 (bundle)").arg(parts.back());
    else if (m_session.isRemote())
        parts << m_session.bridge().server();
    setWindowTitle((parts << QStringLiteral("Deltascope")).join(QStringLiteral(" – ")));
}

void MainWindow::visit()
{
    if (!m_page.isEmpty())
        m_history->visit({ m_page, m_cursor->state() });
}

void MainWindow::askForSource(const QString& source)
{
    if (const QString bundle = Session::bundleFile(source.toStdString()); !bundle.isEmpty())
        return emit bundleWanted(bundle);
    auto* dialog = new OpenDialog(m_session, source, this);
    connect(dialog, &OpenDialog::chosen, this, &MainWindow::openSource);
    dialog->open();
}

void MainWindow::askForBundle()
{
    auto* dialog = new QFileDialog(this, tr("Open a bundle"));
    dialog->setFileMode(QFileDialog::ExistingFile);
    dialog->setNameFilter(tr("Bundles (*.dscope)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QFileDialog::fileSelected, this, &MainWindow::bundleWanted);
    dialog->open();
}

void MainWindow::say(const QString& text)
{
    m_bottom->log(text);
    statusBar()->showMessage(text, SayMs);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    const QList<QUrl> urls = event->mimeData()->urls();
    if (urls.size() != 1 || !urls.front().isLocalFile())
        return;
    const bool bundle = !Session::bundleFile(urls.front().toLocalFile().toStdString()).isEmpty();
    if (bundle || !m_session.isRemote())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event)
{
    event->acceptProposedAction();
    askForSource(event->mimeData()->urls().front().toLocalFile());
}

} // namespace deltascope::desktop
