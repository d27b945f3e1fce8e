#include "window/main_window.h"

#include "canvas/canvas.h"
#include "look/look.h"
#include "look/type_scale.h"
#include "window/activity_bar.h"
#include "window/bottom_dock.h"
#include "window/inspector.h"
#include "window/scrubber.h"
#include "window/shortcuts_dialog.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QLineEdit>
#include <QMessageBox>
#include <QSettings>
#include <QUndoStack>

// How the window looks and what of it is shown.

namespace deltascope::desktop {
namespace {

constexpr double WallType = 1.5; ///< times the usual size

}

void MainWindow::addViewActions()
{
    const QString view = tr("View");
    m_actions->add({ .id = QStringLiteral("view.undo"),
                     .text = tr("Undo the last zoom, filter or sort"),
                     .menu = view,
                     .icon = QStringLiteral("undo"),
                     .shortcut = QKeySequence::Undo,
                     .act = [this] { m_viewUndo->undo(); },
                     .enabled = [this] { return m_viewUndo->canUndo(); } });
    m_actions->add({ .id = QStringLiteral("view.redo"),
                     .text = tr("Redo it"),
                     .menu = view,
                     .shortcut = QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z),
                     .act = [this] { m_viewUndo->redo(); },
                     .enabled = [this] { return m_viewUndo->canRedo(); } });
    m_actions->add({ .id = QStringLiteral("view.filter"),
                     .text = tr("Filter this page"),
                     .menu = view,
                     .icon = QStringLiteral("filter"),
                     .shortcut = QKeySequence::Find,
                     .act =
                         [this] {
                             page()->filterField()->setFocus(Qt::ShortcutFocusReason);
                             page()->filterField()->selectAll();
                         },
                     .enabled = [this] { return page() && page()->filterField(); } });
    m_actions->add({ .id = QStringLiteral("view.refresh"),
                     .text = tr("Refresh"),
                     .menu = view,
                     .icon = QStringLiteral("refresh"),
                     .shortcut = QKeySequence(Qt::Key_F5),
                     .act =
                         [this] {
                             m_session.tryAgain();
                             page()->refreshLater();
                         },
                     .enabled = [this] { return page() != nullptr; } });
    m_actions->add({ .id = QStringLiteral("view.table"),
                     .text = tr("Show as a table"),
                     .menu = view,
                     .icon = QStringLiteral("table"),
                     .shortcut = QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_T),
                     .act = [this] { showTwin(); },
                     .enabled = [this] { return page() && page()->canvas(); } });
    const auto addRow = [&](const char* id, const QString& text, Qt::Key key, int by) {
        m_actions->add({ .id = QString::fromLatin1(id),
                         .text = text,
                         .menu = view,
                         .shortcut = QKeySequence(key),
                         .act =
                             [this, by] {
                                 QAbstractItemView* list = page()->mainList();
                                 const QModelIndex now = list->currentIndex();
                                 const QModelIndex next = now.isValid() ? now.sibling(now.row() + by, now.column())
                                                                        : list->model()->index(0, 0);
                                 if (next.isValid())
                                     list->setCurrentIndex(next);
                             },
                         .enabled = [this] { return page() && page()->mainList() && page()->mainList()->model(); } });
    };
    addRow("row.previous", tr("Previous row"), Qt::Key_F7, -1);
    addRow("row.next", tr("Next row"), Qt::Key_F8, 1);
    m_actions->add({ .id = QStringLiteral("view.inspector"),
                     .text = tr("Inspector"),
                     .menu = view,
                     .shortcut = QKeySequence(Qt::Key_F4),
                     .act = [this] { m_inspector->setVisible(!m_inspector->isVisible()); },
                     .enabled = [this] { return m_focus->run() != nullptr; } });
    m_actions->add({ .id = QStringLiteral("view.bottom"),
                     .text = tr("Tasks, alerts and log"),
                     .menu = view,
                     .shortcut = QKeySequence(Qt::CTRL | Qt::Key_J),
                     .act = [this] { m_bottom->setVisible(!m_bottom->isVisible()); },
                     .enabled = [this] { return m_focus->run() != nullptr; } });
    m_actions->add({ .id = QStringLiteral("view.fullScreen"),
                     .text = tr("Full screen"),
                     .menu = view,
                     .shortcut = QKeySequence(Qt::Key_F11),
                     .act = [this] { setWindowState(windowState() ^ Qt::WindowFullScreen); },
                     .checkable = true,
                     .checked = [this] { return isFullScreen(); } });
    const auto addLayout = [&](const char* id, const QString& text, Layout layout) {
        m_actions->add({ .id = QString::fromLatin1(id),
                         .text = text,
                         .menu = view,
                         .act = [this, layout] { applyLayout(layout); },
                         .enabled = [this] { return m_focus->run() != nullptr; } });
    };
    addLayout("layout.watch", tr("Layout: Watch"), Layout::Watch);
    addLayout("layout.investigate", tr("Layout: Investigate"), Layout::Investigate);
    addLayout("layout.wall", tr("Layout: Wall screen"), Layout::WallScreen);
    const auto addAppearance = [&](const char* id, const QString& text, Appearance appearance) {
        m_actions->add(
            { .id = QString::fromLatin1(id),
              .text = text,
              .menu = view,
              .act = [this, appearance] { setLook(static_cast<int>(appearance), static_cast<int>(currentDensity())); },
              .checkable = true,
              .checked = [appearance] { return currentAppearance() == appearance; } });
    };
    addAppearance("look.light", tr("Light"), Appearance::Light);
    addAppearance("look.dark", tr("Dark"), Appearance::Dark);
    addAppearance("look.system", tr("As the system"), Appearance::System);
    m_actions->add({ .id = QStringLiteral("look.compact"),
                     .text = tr("Compact rows"),
                     .menu = view,
                     .act =
                         [this] {
                             const bool compact = currentDensity() == Density::Compact;
                             setLook(static_cast<int>(currentAppearance()),
                                     static_cast<int>(compact ? Density::Comfortable : Density::Compact));
                         },
                     .checkable = true,
                     .checked = [] { return currentDensity() == Density::Compact; } });
    m_actions->add({ .id = QStringLiteral("help.keys"),
                     .text = tr("Shortcuts"),
                     .menu = tr("Help"),
                     .icon = QStringLiteral("keyboard"),
                     .plainKey = QKeySequence(Qt::SHIFT | Qt::Key_Question),
                     .act = [this] { (new ShortcutsDialog(*m_actions, this))->open(); } });
    m_actions->add({ .id = QStringLiteral("help.about"),
                     .text = tr("About Deltascope"),
                     .menu = tr("Help"),
                     .icon = QStringLiteral("info"),
                     .act = [this] {
                         QMessageBox::about(
                             this, tr("About Deltascope"),
                             tr("Deltascope %1\n\nThis program is free software under the GNU General Public "
                                "License, version 3 or later; the engine in it is under the Apache License 2.0.")
                                 .arg(QApplication::applicationVersion()));
                     } });
}

void MainWindow::applyLayout(Layout layout)
{
    const bool wall = layout == Layout::WallScreen;
    m_inspector->setVisible(!wall && m_focus->run());
    m_bottom->setVisible(layout == Layout::Investigate && m_focus->run());
    m_activity->setVisible(!wall && m_focus->run());
    m_scrubber->setVisible(!wall && m_focus->run());
    setTypeScale(wall ? WallType : 1, *this);
    setWindowState(wall ? windowState() | Qt::WindowFullScreen : windowState() & ~Qt::WindowFullScreen);
    if (layout != Layout::Investigate)
        showPage(QStringLiteral("live"));
}

void MainWindow::setLook(int appearance, int density)
{
    QSettings settings;
    settings.setValue(QStringLiteral("look/appearance"), appearance);
    settings.setValue(QStringLiteral("look/density"), density);
    applyLook(*qApp, static_cast<Appearance>(appearance), static_cast<Density>(density));
    m_actions->refresh();
}

} // namespace deltascope::desktop
