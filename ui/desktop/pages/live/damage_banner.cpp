#include "pages/live/damage_banner.h"

#include "bridge/service_bridge.h"
#include "look/format.h"
#include "look/icon.h"
#include "look/look.h"
#include "look/marks.h"
#include "widgets/cards.h"

#include <QHBoxLayout>
#include <QPushButton>

namespace deltascope::desktop {

namespace {

constexpr int NarrowBelow = 960; ///< pixels: there the acts stand below the words

}

DamageBanner::DamageBanner(QWidget* parent)
    : QFrame(parent)
    , m_all(new QBoxLayout(QBoxLayout::LeftToRight, this))
    , m_headline(makeLabel({}, "error"))
    , m_what(makeLabel({}, "body"))
    , m_why(makeLabel({}, "label"))
    , m_verify(makeButton(tr("Verify again"), QStringLiteral("shield")))
    , m_materialize(makeButton({}, QStringLiteral("download"), "primary"))
{
    setRole(this, "banner");
    QFont bold = typeFont(Type::Body);
    bold.setWeight(QFont::DemiBold);
    m_headline->setFont(bold);
    for (QLabel* label : { m_what, m_why }) {
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    }
    auto* words = new QVBoxLayout;
    words->setSpacing(2);
    auto* first = new QHBoxLayout;
    first->setSpacing(6);
    first->addWidget(m_headline, 0, Qt::AlignTop);
    first->addWidget(m_what, 1, Qt::AlignTop);
    words->addLayout(first);
    words->addWidget(m_why);
    QPushButton* go = makeButton(tr("Go to step"));
    connect(go, &QPushButton::clicked, this, [this] { emit stepWanted(m_damage->epoch, m_damage->step); });
    connect(m_verify, &QPushButton::clicked, this, [this] { emit verifyWanted(m_damage->epoch, m_damage->step); });
    connect(m_materialize, &QPushButton::clicked, this,
            [this] { emit materializeWanted(m_damage->epoch, *m_damage->sound); });
    auto* acts = new QHBoxLayout;
    acts->setSpacing(8);
    acts->addWidget(go);
    acts->addWidget(m_verify);
    acts->addWidget(m_materialize);
    acts->addStretch(1);
    m_all->setContentsMargins(16, 10, 12, 10);
    m_all->setSpacing(8);
    m_all->addLayout(words, 1);
    m_all->addLayout(acts);
    hide();
}

void DamageBanner::resizeEvent(QResizeEvent* event)
{
    QFrame::resizeEvent(event);
    m_all->setDirection(width() < NarrowBelow ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
}

void DamageBanner::setDamage(std::optional<Damage> damage)
{
    m_damage = std::move(damage);
    setVisible(m_damage.has_value());
    if (!m_damage)
        return;
    m_headline->setText(m_damage->damaged ? tr("✕ Step %1 is damaged:").arg(m_damage->step)
                                          : tr("✕ Step %1 cannot be rebuilt:").arg(m_damage->step));
    const app::ProblemView& problem = m_damage->problem;
    m_what->setText(shortened(safeName(problem.text), 300));
    QStringList why;
    if (m_damage->verified && m_damage->verified->result == "damaged")
        why +=
            tr("Verification at level %1 failed at %2.")
                .arg(levelText(m_damage->verified->level), clockText(m_damage->verified->tUs, ServiceBridge::nowUs()));
    if (!problem.where.empty())
        why += shortened(safeName(problem.where), 120) + QChar(u'.');
    if (!problem.remedy.empty())
        why += shortened(safeName(problem.remedy), 200);
    if (!problem.code.empty())
        why += tr("Code %1").arg(safeName(problem.code));
    m_why->setText(why.join(QChar(u' ')));
    m_why->setVisible(!why.isEmpty());
    m_verify->setVisible(m_damage->damaged);
    m_materialize->setVisible(m_damage->sound.has_value());
    if (m_damage->sound)
        m_materialize->setText(tr("Materialize %1…").arg(*m_damage->sound));
    setAccessibleName(text());
}

QString DamageBanner::text() const
{
    return m_damage ? QStringLiteral("%1 %2 %3").arg(m_headline->text(), m_what->text(), m_why->text()) : QString();
}

} // namespace deltascope::desktop
