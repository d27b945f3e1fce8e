#include "window/main_window.h"

#include "deltascope/app/command_line.h"

#include "acts/destination.h"
#include "look/look.h"
#include "pages/pages.h"
#include "window/omnibox.h"
#include "window/scrubber.h"

#include <QMenu>
#include <QMenuBar>

namespace deltascope::desktop {

void MainWindow::addActions()
{
    addSourceActions();
    addPageActions();
    addCursorActions();
    addRunActions();
    addChangeActions();
    addViewActions();
    addDesktopActions();
    addGuideActions();
}

void MainWindow::addSourceActions()
{
    const QString file = tr("File");
    m_actions->add({ .id = QStringLiteral("source.open"),
                     .text = tr("Open a folder or bucket…"),
                     .menu = file,
                     .icon = QStringLiteral("folder"),
                     .shortcut = QKeySequence::Open,
                     .act = [this] { askForSource(); },
                     .enabled = [this] { return !m_session.isRemote(); } });
    m_actions->add({ .id = QStringLiteral("source.bundle"),
                     .text = tr("Open a bundle…"),
                     .menu = file,
                     .icon = QStringLiteral("open"),
                     .act = [this] { askForBundle(); } });
    m_actions->add({ .id = QStringLiteral("source.connect"),
                     .text = tr("Connect to a server…"),
                     .menu = file,
                     .icon = QStringLiteral("server"),
                     .act = [this] { emit serverWanted(); } });
    m_actions->add({ .id = QStringLiteral("source.demo"),
                     .text = tr("Watch a live demo"),
                     .menu = file,
                     .icon = QStringLiteral("pulse"),
                     .act = [this] { openDemo(); },
                     .enabled = [this] { return !m_session.isRemote(); },
                     .cli = [] { return QStringLiteral("deltascope demo"); } });
    m_actions->add({ .id = QStringLiteral("source.all"),
                     .text = tr("All sources"),
                     .menu = file,
                     .icon = QStringLiteral("list"),
                     .act = [this] { showRun({}); },
                     .enabled = [this] { return m_focus->run() && !m_session.isRecorded(); } });
    m_actions->add({ .id = QStringLiteral("view.export"),
                     .text = tr("Export this view…"),
                     .menu = file,
                     .icon = QStringLiteral("download"),
                     .shortcut = QKeySequence::Save,
                     .act = [this] { exportPage(); },
                     .enabled = [this] { return page() != nullptr; } });
    m_actions->add({ .id = QStringLiteral("app.quit"),
                     .text = tr("Quit"),
                     .menu = file,
                     .shortcut = QKeySequence(Qt::CTRL | Qt::Key_Q),
                     .act = [this] { close(); } });
}

void MainWindow::addPageActions()
{
    int number = 0;
    for (const PageInfo& info : pageInfos()) {
        const QString id = info.id;
        m_actions->add({ .id = QStringLiteral("go.") + id,
                         .text = info.title,
                         .menu = tr("Go"),
                         .icon = info.icon,
                         .shortcut = QKeySequence(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_1 + number++)),
                         .act = [this, id] { showPage(id); },
                         .enabled = [this] { return m_focus->run() != nullptr; },
                         .checkable = true,
                         .checked = [this, id] { return m_page == id; } });
    }
    m_actions->add({ .id = QStringLiteral("view.back"),
                     .text = tr("Back"),
                     .menu = tr("Go"),
                     .icon = QStringLiteral("left"),
                     .shortcut = QKeySequence(Qt::ALT | Qt::Key_Left),
                     .act = [this] { m_history->goBack(); },
                     .enabled = [this] { return m_history->canGoBack(); } });
    m_actions->add({ .id = QStringLiteral("view.forward"),
                     .text = tr("Forward"),
                     .menu = tr("Go"),
                     .icon = QStringLiteral("right"),
                     .shortcut = QKeySequence(Qt::ALT | Qt::Key_Right),
                     .act = [this] { m_history->goForward(); },
                     .enabled = [this] { return m_history->canGoForward(); } });
    m_actions->add({ .id = QStringLiteral("view.omnibox"),
                     .text = tr("Find a step, tensor or command…"),
                     .menu = tr("Go"),
                     .icon = QStringLiteral("search"),
                     .shortcut = QKeySequence(Qt::CTRL | Qt::Key_K),
                     .act = [this] { (new Omnibox(m_context, {}, this))->show(); } });
    m_actions->add({ .id = QStringLiteral("view.palette"),
                     .text = tr("All commands…"),
                     .menu = tr("Go"),
                     .shortcut = QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_P),
                     .act = [this] { (new Omnibox(m_context, QStringLiteral(">"), this))->show(); } });
    m_actions->add({ .id = QStringLiteral("go.tensor"),
                     .text = tr("Go to tensor…"),
                     .menu = tr("Go"),
                     .shortcut = QKeySequence(Qt::CTRL | Qt::Key_P),
                     .act = [this] { (new Omnibox(m_context, QStringLiteral("/"), this))->show(); },
                     .enabled = [this] { return m_focus->run() && m_focus->run()->heat; } });
}

void MainWindow::addCursorActions()
{
    const auto atStep = [this] { return m_focus->b() != nullptr; };
    const auto addMove = [this](const char* id, const QString& text, const QString& iconName, const QKeySequence& keys,
                                const std::function<std::optional<StepId>()>& target) {
        m_actions->add({ .id = QString::fromLatin1(id),
                         .text = text,
                         .menu = tr("Go"),
                         .icon = iconName,
                         .plainKey = keys,
                         .act =
                             [this, target] {
                                 if (const auto step = target())
                                     m_cursor->setB(*step);
                             },
                         .enabled = [target] { return target().has_value(); } });
    };
    addMove("step.previousAnchor", tr("Previous anchor"), QStringLiteral("first"),
            QKeySequence(Qt::SHIFT | Qt::Key_Left), [this] { return m_focus->neighborAnchor(-1); });
    addMove("step.previous", tr("Previous step"), QStringLiteral("previous"), QKeySequence(Qt::Key_Left),
            [this] { return m_focus->neighbor(-1); });
    addMove("step.next", tr("Next step"), QStringLiteral("next"), QKeySequence(Qt::Key_Right),
            [this] { return m_focus->neighbor(1); });
    addMove("step.nextAnchor", tr("Next anchor"), QStringLiteral("last"), QKeySequence(Qt::SHIFT | Qt::Key_Right),
            [this] { return m_focus->neighborAnchor(1); });
    addMove("step.first", tr("First step"), {}, QKeySequence(Qt::Key_Home),
            [this] { return m_focus->neighbor(-1'000'000'000); });
    addMove("step.last", tr("Last step"), {}, QKeySequence(Qt::Key_End),
            [this] { return m_focus->neighbor(1'000'000'000); });
    m_actions->add({ .id = QStringLiteral("step.go"),
                     .text = tr("Go to step…"),
                     .menu = tr("Go"),
                     .shortcut = QKeySequence(Qt::CTRL | Qt::Key_G),
                     .act = [this] { m_scrubber->focusB(); },
                     .enabled = atStep });
    m_actions->add({ .id = QStringLiteral("cursor.follow"),
                     .text = tr("Follow the newest step"),
                     .menu = tr("View"),
                     .plainKey = QKeySequence(Qt::Key_Space),
                     .act = [this] { m_cursor->setFollow(!m_cursor->state().follow); },
                     .enabled = atStep,
                     .checkable = true,
                     .checked = [this] { return m_cursor->state().follow; } });
    m_actions->add({ .id = QStringLiteral("cursor.setA"),
                     .text = tr("Set A here"),
                     .menu = tr("Run"),
                     .plainKey = QKeySequence(Qt::Key_1),
                     .act = [this] { m_cursor->setA(page() ? page()->stepAtCursor() : m_cursor->b()); },
                     .enabled = atStep });
    m_actions->add({ .id = QStringLiteral("cursor.setB"),
                     .text = tr("Set B here"),
                     .menu = tr("Run"),
                     .plainKey = QKeySequence(Qt::Key_2),
                     .act =
                         [this] {
                             if (const auto step = page() ? page()->stepAtCursor() : std::nullopt)
                                 m_cursor->setB(*step);
                         },
                     .enabled = atStep });
    m_actions->add({ .id = QStringLiteral("cursor.swap"),
                     .text = tr("Swap A and B"),
                     .menu = tr("Run"),
                     .icon = QStringLiteral("swap"),
                     .plainKey = QKeySequence(Qt::Key_X),
                     .act = [this] { m_cursor->swap(); },
                     .enabled = [this] { return m_cursor->a() && m_cursor->b(); } });
    m_actions->add({ .id = QStringLiteral("cursor.resetRange"),
                     .text = tr("Show the whole range"),
                     .menu = tr("View"),
                     .act = [this] { m_cursor->setRange(std::nullopt); },
                     .enabled = [this] { return m_cursor->state().range.has_value(); } });
}

void MainWindow::addRunActions()
{
    const auto atStep = [this] { return m_focus->b() != nullptr; };
    const auto restorable = [this] { return m_focus->b() && m_focus->b()->restorable; };
    m_actions->add({ .id = QStringLiteral("run.materialize"),
                     .text = tr("Materialize B"),
                     .menu = tr("Run"),
                     .icon = QStringLiteral("download"),
                     .shortcut = QKeySequence(Qt::CTRL | Qt::Key_M),
                     .act = [this] { materialize(false); },
                     .enabled = restorable,
                     .cli =
                         [this] {
                             const QString folder = rememberedFolder(m_focus->run()->source);
                             const QString to = destinationIn(
                                 folder.isEmpty() ? suggestedFolder(m_focus->id()) : folder, m_cursor->b()->step);
                             return commandOnB(QStringLiteral("materialize")) + QStringLiteral(" -o ")
                                 + QString::fromStdString(app::quotedPath(to.toStdString()));
                         } });
    m_actions->add({ .id = QStringLiteral("run.materializeOptions"),
                     .text = tr("Materialize B with options…"),
                     .menu = tr("Run"),
                     .shortcut = QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_M),
                     .act = [this] { materialize(true); },
                     .enabled = atStep });
    m_actions->add({ .id = QStringLiteral("run.verify"),
                     .text = tr("Verify B…"),
                     .menu = tr("Run"),
                     .icon = QStringLiteral("shield"),
                     .shortcut = QKeySequence(Qt::CTRL | Qt::Key_E),
                     .act = [this] { verify(); },
                     .enabled = atStep,
                     .cli = [this] { return commandOnB(QStringLiteral("verify")); } });
    m_actions->add({ .id = QStringLiteral("run.diff"),
                     .text = tr("Compare A with B"),
                     .menu = tr("Run"),
                     .icon = QStringLiteral("diff"),
                     .shortcut = QKeySequence(Qt::CTRL | Qt::Key_D),
                     .act =
                         [this] {
                             if (!m_cursor->a())
                                 m_cursor->setA(m_focus->neighbor(-1));
                             showPage(QStringLiteral("diff"));
                         },
                     .enabled = atStep });
    m_actions->add({ .id = QStringLiteral("step.copyAddress"),
                     .text = tr("Copy the address of B"),
                     .menu = tr("Run"),
                     .icon = QStringLiteral("copy"),
                     .shortcut = QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C),
                     .act = [this] { copyAddress(); },
                     .enabled = atStep });
    m_actions->add({ .id = QStringLiteral("step.showFiles"),
                     .text = tr("Open the folder of B"),
                     .menu = tr("Run"),
                     .icon = QStringLiteral("folder"),
                     .act = [this] { showFiles(); },
                     .enabled =
                         [this, atStep] {
                             return atStep() && !m_session.isRemote()
                                 && m_focus->run()->source.rfind("file://", 0) == 0;
                         } });
}

void MainWindow::makeMenus()
{
    const auto fill = [this](QMenu* menu) {
        for (const ActionSpec& spec : m_actions->specs()) {
            if (spec.menu == menu->title())
                menu->addAction(m_actions->action(spec.id));
        }
    };
    for (const QString& title : { tr("File"), tr("View"), tr("Go"), tr("Run"), tr("Help") }) {
        QMenu* menu = menuBar()->addMenu(title);
        fill(menu);
        if (title == tr("Run"))
            fill(menu->addMenu(tr("Alert rules")));
    }
}

} // namespace deltascope::desktop
