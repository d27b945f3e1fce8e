#include "integration/tray.h"

#include "look/format.h"
#include "look/icon.h"
#include "look/tokens.h"

#include <QApplication>
#include <QMenu>
#include <QPainter>
#include <QSettings>
#include <QSystemTrayIcon>

namespace deltascope::desktop {

namespace {

const QString WantedKey = QStringLiteral("desktop/tray");
constexpr int IconSize = 64;
constexpr int DotSize = 24;

QIcon withDot(const QIcon& icon)
{
    QPixmap picture(IconSize, IconSize);
    picture.fill(Qt::transparent);
    QPainter painter(&picture);
    icon.paint(&painter, picture.rect());
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color(Token::Accent));
    painter.drawEllipse(IconSize - DotSize, IconSize - DotSize, DotSize, DotSize);
    return picture;
}

}

Tray::Tray(TaskTally& tally, QObject* parent)
    : QObject(parent)
    , m_tally(tally)
    , m_menu(std::make_unique<QMenu>())
    , m_icon(new QSystemTrayIcon(this))
{
    m_icon->setContextMenu(m_menu.get());
    connect(m_icon, &QSystemTrayIcon::activated, this, [this](QSystemTrayIcon::ActivationReason reason) {
        if (reason != QSystemTrayIcon::Context)
            emit windowWanted();
    });
    connect(&tally, &TaskTally::changed, this, &Tray::showTasks);
    showTasks();
}

Tray::~Tray() = default;

bool& Tray::wanted()
{
    static bool wanted = QSettings().value(WantedKey).toBool(); // its menu item asks at every step of a run
    return wanted;
}

void Tray::setWanted(bool on)
{
    wanted() = on;
    QSettings().setValue(WantedKey, on);
}

bool Tray::refresh()
{
    m_icon->setVisible(isWanted());
    return m_icon->isVisible() && QSystemTrayIcon::isSystemTrayAvailable();
}

QString Tray::toolTip() const { return m_icon->toolTip(); }

void Tray::showTasks()
{
    const int running = m_tally.running();
    m_icon->setToolTip(running == 0 ? tr("Deltascope")
                                    : tr("Deltascope: %1, %2 %")
                                          .arg(pluralText(static_cast<std::uint64_t>(running), tr("task"), tr("tasks")))
                                          .arg(static_cast<int>(100 * m_tally.share())));
    if (running == m_shown)
        return;
    m_shown = running;
    m_icon->setIcon(running > 0 ? withDot(QApplication::windowIcon()) : QApplication::windowIcon());
    m_menu->clear();
    m_menu->addAction(tr("Show the window"), this, &Tray::windowWanted);
    m_menu->addSeparator();
    for (const app::TaskView& task : m_tally.tasks())
        m_menu->addAction(shortened(safeName(task.plan.title), 60), this, &Tray::tasksWanted);
    if (running > 0)
        m_menu->addSeparator();
    m_menu->addAction(tr("Quit"), this, &Tray::quitWanted);
}

} // namespace deltascope::desktop
