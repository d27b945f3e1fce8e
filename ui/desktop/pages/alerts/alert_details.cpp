#include "pages/alerts/alert_details.h"

#include "bridge/service_bridge.h"
#include "look/format.h"
#include "look/icon.h"
#include "look/look.h"
#include "pages/alerts/alert_model.h"
#include "widgets/cards.h"

#include <QHBoxLayout>
#include <QMenu>
#include <QPushButton>

namespace deltascope::desktop {

AlertDetails::AlertDetails(QWidget* parent)
    : QWidget(parent)
    , m_title(makeLabel({}, "section"))
    , m_text(makeLabel({}, "body"))
    , m_remedy(makeLabel({}, "body"))
    , m_facts(makeLabel({}, "label"))
    , m_acknowledge(makeButton(tr("Acknowledge"), QStringLiteral("check")))
    , m_snooze(makeButton(tr("Snooze"), QStringLiteral("pause")))
    , m_go(makeButton({}, QStringLiteral("right"), "primary"))
{
    for (QLabel* label : { m_title, m_text, m_remedy, m_facts }) {
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    }
    m_acknowledge->setToolTip(tr("Somebody takes care of it: silent until it gets worse or fires anew"));
    connect(m_acknowledge, &QPushButton::clicked, this, [this] { emit acknowledgeWanted(m_alert->id); });
    m_snooze->setToolTip(tr("Nobody is told of it for a while, whatever it does"));
    m_snooze->setMenu(makeSnoozes());
    connect(m_go, &QPushButton::clicked, this, [this] { emit stepWanted(m_alert->run, *m_alert->step); });
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(8);
    buttons->addWidget(m_acknowledge);
    buttons->addWidget(m_snooze);
    buttons->addWidget(m_go);
    buttons->addStretch(1);
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(12, 10, 12, 12);
    all->setSpacing(6);
    all->addWidget(m_title);
    all->addWidget(m_text);
    all->addWidget(m_remedy);
    all->addWidget(m_facts);
    all->addLayout(buttons);
    setAlert(std::nullopt, {}, {}, 0);
}

QMenu* AlertDetails::makeSnoozes()
{
    constexpr std::int64_t HourUs = 3'600'000'000;
    auto* menu = new QMenu(this);
    menu->addAction(tr("For 1 hour"), this,
                    [this] { emit snoozeWanted(m_alert->id, ServiceBridge::nowUs() + HourUs); });
    menu->addAction(tr("Until it clears"), this, [this] { emit snoozeWanted(m_alert->id, app::UntilCleared); });
    QAction* end = menu->addAction(tr("No longer"), this, [this] { emit snoozeWanted(m_alert->id, 0); });
    connect(menu, &QMenu::aboutToShow, end,
            [this, end] { end->setEnabled(isSnoozed(*m_alert, ServiceBridge::nowUs())); });
    return menu;
}

void AlertDetails::setAlert(std::optional<app::AlertView> alert, const QString& run, const QString& unit,
                            std::int64_t nowUs)
{
    m_alert = std::move(alert);
    setVisible(m_alert.has_value());
    if (!m_alert)
        return;
    const app::AlertView& shown = *m_alert;
    const bool bad = shown.level == app::AlertLevel::Error && shown.state != app::AlertState::Cleared;
    m_title->setText(QStringLiteral("%1  %2").arg(alertLevelText(shown.level), safeName(shown.title)));
    setRole(m_title, bad ? "error" : "section");
    m_text->setText(safeName(shown.text));
    m_text->setVisible(!shown.text.empty());
    m_remedy->setText(tr("What to do: %1").arg(safeName(shown.remedy)));
    m_remedy->setVisible(!shown.remedy.empty());
    QStringList facts { tr("since %1").arg(clockText(shown.firstUs, nowUs)) };
    if (shown.clearedUs)
        facts += tr("cleared %1").arg(clockText(*shown.clearedUs, nowUs));
    else
        facts += tr("last held %1").arg(clockText(shown.lastUs, nowUs));
    if (isSnoozed(shown, nowUs))
        facts += *shown.snoozedUntilUs == app::UntilCleared
            ? tr("snoozed until it clears")
            : tr("snoozed until %1").arg(clockText(*shown.snoozedUntilUs, nowUs));
    if (shown.count > 1)
        facts += tr("seen %1 times").arg(exactText(shown.count));
    if (shown.value && shown.threshold)
        facts += tr("%1 %3, threshold %2 %3").arg(*shown.value, 0, 'g', 4).arg(*shown.threshold, 0, 'g', 4).arg(unit);
    facts += tr("run %1").arg(run);
    if (shown.replica)
        facts += tr("replica %1").arg(safeName(*shown.replica));
    m_facts->setText(facts.join(QStringLiteral(" · ")));
    m_facts->setToolTip(fullTimeText(shown.firstUs));
    m_acknowledge->setVisible(shown.state == app::AlertState::Firing);
    m_snooze->setVisible(shown.state != app::AlertState::Cleared);
    m_go->setVisible(shown.step.has_value());
    if (shown.step)
        m_go->setText(tr("Go to step %1").arg(*shown.step));
}

} // namespace deltascope::desktop
