#include "pages/live/health_tile.h"

#include "look/format.h"
#include "look/look.h"
#include "widgets/cards.h"

#include <QHBoxLayout>
#include <QPushButton>

namespace deltascope::desktop {

namespace {

constexpr int NarrowBelow = 960; ///< pixels: there the acts stand below the words
constexpr std::size_t MostDetails = 300; ///< characters

/// Roles of frame and headline, and the mark in front of it.
struct HealthLook {
    const char* frame;
    const char* headline;
    QString mark;
};
HealthLook healthLook(const std::string& state)
{
    if (state == "broken")
        return { "banner", "error", QStringLiteral("✕ ") };
    if (state == "doubtful" || state == "no_contact")
        return { "doubt", "doubt", QStringLiteral("! ") };
    return { "card", "body", {} };
}

}

HealthTile::HealthTile(QWidget* parent)
    : QFrame(parent)
    , m_all(new QBoxLayout(QBoxLayout::LeftToRight, this))
    , m_headline(makeLabel({}, "body"))
    , m_restorable(makeLabel({}, "body"))
    , m_remedy(makeLabel({}, "label"))
    , m_acts(new QWidget)
    , m_materialize(makeButton({}, QStringLiteral("download"), "primary"))
    , m_rollBack(makeButton({}, QStringLiteral("undo")))
{
    auto* words = new QVBoxLayout;
    words->setSpacing(2);
    for (QLabel* label : { m_headline, m_restorable, m_remedy }) {
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        words->addWidget(label);
    }
    QPushButton* go = makeButton(tr("Go to step"));
    connect(go, &QPushButton::clicked, this, [this] { emit stepWanted(m_epoch, *m_health.step); });
    QPushButton* verify = makeButton(tr("Verify again"), QStringLiteral("shield"));
    connect(verify, &QPushButton::clicked, this, [this] { emit verifyWanted(m_epoch, *m_health.step); });
    connect(m_materialize, &QPushButton::clicked, this, [this] { emit materializeWanted(m_epoch, *m_health.restore); });
    auto* acts = new QHBoxLayout(m_acts);
    acts->setContentsMargins(0, 0, 0, 0);
    acts->setSpacing(8);
    connect(m_rollBack, &QPushButton::clicked, this, [this] { emit rollBackWanted(m_epoch, *m_health.restore); });
    for (QPushButton* act : { go, verify, m_rollBack, m_materialize })
        acts->addWidget(act);
    acts->addStretch(1);
    m_all->setContentsMargins(12, 8, 12, 8);
    m_all->setSpacing(8);
    m_all->addLayout(words, 1);
    m_all->addWidget(m_acts);
    hide();
}

void HealthTile::resizeEvent(QResizeEvent* event)
{
    QFrame::resizeEvent(event);
    m_all->setDirection(width() < NarrowBelow ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
}

void HealthTile::setHealth(const app::HealthView& health, int epoch)
{
    m_epoch = epoch;
    setVisible(!health.state.empty());
    if (health == m_health)
        return;
    const bool sameLook = health.state == m_health.state;
    m_health = health;
    const HealthLook look = healthLook(health.state);
    if (!sameLook) {
        setRole(this, look.frame);
        dressLabel(m_headline, look.headline);
        QFont bold = typeFont(Type::Body);
        bold.setWeight(QFont::DemiBold);
        m_headline->setFont(bold);
    }
    const auto say = [](QLabel* label, const QString& text) {
        label->setText(text);
        label->setAccessibleName(text); // it takes the focus, to be copied from
    };
    say(m_headline, look.mark + safeName(health.headline));
    say(m_restorable, safeName(health.restorable));
    say(m_remedy, safeName(health.remedy));
    m_remedy->setVisible(!health.remedy.empty());
    m_acts->setVisible(health.step.has_value());
    m_materialize->setVisible(health.restore.has_value());
    if (health.restore) {
        m_materialize->setText(tr("Materialize %1…").arg(*health.restore));
        m_rollBack->setText(tr("Roll back to %1…").arg(*health.restore));
    }
    setMayAct(m_mayAct);
    setToolTip(health.problem
                   ? tr("%1\n%2\nCode %3")
                         .arg(safeName(health.proven), shortened(safeName(health.problem->text), MostDetails),
                              safeName(health.problem->code))
                   : QString());
    setAccessibleName(text());
}

void HealthTile::setMayAct(bool may)
{
    m_mayAct = may;
    m_rollBack->setVisible(may && m_health.restore.has_value());
}

QString HealthTile::text() const { return safeName(app::healthText(m_health)); }

} // namespace deltascope::desktop
