#include "pages/timeline/timeline_tools.h"

#include "look/format.h"
#include "pages/timeline/bars_canvas.h"
#include "pages/timeline/phase_legend.h"
#include "widgets/cards.h"
#include "widgets/segments.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QPushButton>
#include <QSettings>

namespace deltascope::desktop {

namespace {

constexpr int Margins = 24;
constexpr int OtherTools = 150; // names of the choices and the space between
const QString ModeKey = QStringLiteral("timeline/mode");

/// A combo box with its name in front of it.
QComboBox* addChoice(QHBoxLayout* row, const QString& name)
{
    auto* choice = new QComboBox;
    choice->setAccessibleName(name);
    choice->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    auto* label = makeLabel(name, "muted");
    label->setBuddy(choice);
    row->addWidget(label);
    row->addWidget(choice);
    return choice;
}

}

TimelineTools::TimelineTools(QWidget* parent)
    : QWidget(parent)
    , m_mode(new Segments(tr("Show"), { tr("Per step"), tr("Wall clock"), tr("Both") }))
    , m_ghost(new QCheckBox(tr("Ghost: full sync")))
    , m_legend(new PhaseLegend)
    , m_details(makeButton(tr("Details"), {}, "small"))
    , m_beside(new QHBoxLayout)
    , m_below(new QHBoxLayout)
{
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(12, 8, 12, 8);
    all->setSpacing(6);
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    const int last = static_cast<int>(TimelineMode::Both);
    m_mode->choose(std::clamp(QSettings().value(ModeKey, last).toInt(), 0, last));
    row->addWidget(m_mode);
    row->addSpacing(4);
    m_unit = addChoice(row, tr("Unit"));
    m_unit->addItems({ tr("seconds"), tr("% of sync") });
    m_actors = addChoice(row, tr("Bars"));
    m_actors->addItem(tr("slowest replica"), QByteArray());
    m_ghost->setChecked(true);
    m_ghost->setToolTip(tr("What one full checkpoint would take at the rate of the uploads"));
    m_details->setCheckable(true);
    m_details->setChecked(true);
    m_details->setToolTip(tr("The spans of the chosen sync"));
    row->addSpacing(4);
    m_beside->setSpacing(12);
    row->addLayout(m_beside, 100);
    row->addStretch(1); // where nothing stands beside
    row->addWidget(m_details);
    all->addLayout(row);
    m_below->setSpacing(12);
    all->addLayout(m_below);
    enableForMode();

    connect(m_mode, &Segments::chosenByUser, this, [this](int mode) {
        QSettings().setValue(ModeKey, mode);
        enableForMode();
        emit modeChosen();
    });
    connect(m_unit, &QComboBox::activated, this,
            [this](int unit) { emit unitChosen(unit == 0 ? BarUnit::Seconds : BarUnit::Percent); });
    connect(m_actors, &QComboBox::activated, this, &TimelineTools::actorChosen);
    connect(m_ghost, &QCheckBox::toggled, this, &TimelineTools::ghostToggled);
    connect(m_details, &QPushButton::toggled, this, &TimelineTools::detailsToggled);
}

TimelineMode TimelineTools::mode() const { return static_cast<TimelineMode>(m_mode->chosen()); }

std::string TimelineTools::actor() const { return m_actors->currentData().toByteArray().toStdString(); }

void TimelineTools::setActors(const std::vector<std::string>& replicas)
{
    QStringList names { tr("slowest replica") };
    for (const std::string& actor : replicas)
        names += shortened(safeName(actor), 28);
    QStringList shown;
    for (int i = 0; i < m_actors->count(); ++i)
        shown += m_actors->itemText(i);
    if (names == shown)
        return;
    const QByteArray chosen = m_actors->currentData().toByteArray();
    m_actors->clear();
    m_actors->addItem(names.front(), QByteArray());
    for (const std::string& actor : replicas)
        m_actors->addItem(names[m_actors->count()], QByteArray::fromStdString(actor));
    const int at = m_actors->findData(chosen);
    m_actors->setCurrentIndex(std::max(0, at));
    if (at < 0)
        emit actorChosen();
}

void TimelineTools::setGroups(std::vector<PhaseGroup> groups)
{
    m_legend->setGroups(std::move(groups));
    arrange();
}

void TimelineTools::setGhostRate(std::optional<double> bytesPerSecond)
{
    m_ghostRate = bytesPerSecond;
    m_ghost->setVisible(m_ghostRate.has_value());
    arrange();
}

void TimelineTools::setDetailsShown(bool shown) { m_details->setChecked(shown); }

void TimelineTools::enableForMode()
{
    for (QWidget* tool : std::initializer_list<QWidget*> { m_unit, m_actors, m_ghost })
        tool->setEnabled(mode() != TimelineMode::WallClock);
}

void TimelineTools::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    arrange();
}

/// Ghost and legend stand beside the other tools, or below them where there is little room.
void TimelineTools::arrange()
{
    const QString shortText = tr("Ghost: full sync");
    m_ghost->setText(m_ghostRate ? tr("Ghost: full sync at %1").arg(rateText(*m_ghostRate)) : shortText);
    const int needed = m_ghost->sizeHint().width() + m_legend->sizeHint().width() + 3 * m_below->spacing();
    const int others = m_mode->sizeHint().width() + m_unit->sizeHint().width() + m_actors->sizeHint().width()
        + m_details->sizeHint().width() + OtherTools;
    QHBoxLayout* wanted = width() >= needed + others ? m_beside : m_below;
    if (needed + Margins > width())
        m_ghost->setText(shortText);
    if (wanted->count() > 0)
        return;
    QHBoxLayout* other = wanted == m_beside ? m_below : m_beside;
    while (QLayoutItem* item = other->takeAt(0))
        delete item;
    wanted->addWidget(m_ghost);
    wanted->addStretch(1);
    wanted->addWidget(m_legend);
    m_below->setContentsMargins(0, wanted == m_below ? 2 : 0, 0, 0);
}

} // namespace deltascope::desktop
