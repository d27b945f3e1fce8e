#include "acts/materialize_sheet.h"

#include "acts/destination.h"
#include "look/format.h"
#include "widgets/cards.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

namespace deltascope::desktop {

namespace {

/// Whether trained and served state were seen to differ at the step.
bool statesDiffer(const RunPointer& run, StepId step)
{
    for (const app::DriftView& drift : run->run->drift) {
        if (drift.epoch == step.epoch && drift.step == step.step && drift.differs > 0)
            return true;
    }
    return false;
}

}

app::MaterializeArgs materializePlan(StepId step, const QString& destination)
{
    app::MaterializeArgs plan;
    plan.step = step.address().toStdString();
    plan.to = destination.toStdString();
    return plan;
}

MaterializeSheet::MaterializeSheet(ServiceBridge& bridge, const RunPointer& run, StepId step, QWidget* parent)
    : PlanSheet(bridge, QString::fromStdString(run->id),
                tr("Materialize step %1 of %2").arg(step.step).arg(safeName(run->name)), tr("Materialize"), parent)
    , m_step(step)
    , m_source(run->source)
    , m_local(bridge.server().isEmpty())
    , m_to(new QLineEdit)
    , m_remember(new QCheckBox(tr("Remember this folder: next time one click is enough")))
    , m_shards(new QComboBox)
    , m_state(new QComboBox)
    , m_forTraining(new QCheckBox(tr("For training: also the optimizer, scheduler and random state of the step")))
    , m_acrossGap(new QCheckBox(tr("Across the gap, although something is lost there")))
{
    if (bridge.server().isEmpty())
        askForFolder(run);
    else
        askForName(run, bridge.server());
    m_shards->setAccessibleName(tr("Size of the shards"));
    m_shards->addItem(tr("as in the anchor"), 0);
    for (const int gigabytes : { 1, 2, 5, 10 })
        m_shards->addItem(tr("%1 GB").arg(gigabytes), static_cast<qlonglong>(gigabytes) * 1'000'000'000);
    m_state->setAccessibleName(tr("State"));
    m_state->addItem(tr("served: what the deltas lead to"), false);
    m_state->addItem(tr("trained: the full form that the trainer wrote"), true);
    auto* form = new QFormLayout;
    form->addRow(tr("Shards"), m_shards);
    if (statesDiffer(run, step))
        form->addRow(tr("State"), m_state);
    else
        m_state->setParent(this), m_state->hide();
    options()->addLayout(form);
    options()->addWidget(m_forTraining);
    const app::StepView* view = nullptr;
    for (const app::EpochView& epoch : run->run->epochs) {
        for (const app::StepView& candidate : epoch.steps) {
            if (epoch.epoch == step.epoch && candidate.step == step.step)
                view = &candidate;
        }
    }
    if (view && !view->restorable)
        options()->addWidget(m_acrossGap);
    else
        m_acrossGap->setParent(this), m_acrossGap->hide();
    connect(m_to, &QLineEdit::textChanged, this, [this] { planLater(); });
    connect(m_shards, &QComboBox::currentIndexChanged, this, [this] { planLater(); });
    connect(m_state, &QComboBox::currentIndexChanged, this, [this] { planLater(); });
    connect(m_forTraining, &QCheckBox::toggled, this, [this] { planLater(); });
    connect(m_acrossGap, &QCheckBox::toggled, this, [this] { planLater(); });
}

QHBoxLayout* MaterializeSheet::addDestination(const QString& text)
{
    auto* to = new QHBoxLayout;
    auto* label = makeLabel(tr("To"), "muted");
    label->setBuddy(m_to);
    to->addWidget(label);
    to->addWidget(m_to, 1);
    options()->addLayout(to);
    m_to->setText(text);
    return to;
}

void MaterializeSheet::askForFolder(const RunPointer& run)
{
    const QString id = QString::fromStdString(run->id);
    const QString known = rememberedFolder(run->source);
    m_to->setAccessibleName(tr("Folder of the checkpoint"));
    m_remember->setChecked(true);
    auto* choose = makeButton(tr("Browse…"), QStringLiteral("folder"));
    connect(choose, &QPushButton::clicked, this, &MaterializeSheet::browse);
    addDestination(destinationIn(known.isEmpty() ? suggestedFolder(id) : known, m_step.step))->addWidget(choose);
    options()->addWidget(m_remember);
}

/// A server writes below a folder of its own and knows no folder of this machine.
void MaterializeSheet::askForName(const RunPointer& run, const QString& server)
{
    m_to->setAccessibleName(tr("Name below the output folder of the server"));
    addDestination(destinationIn(QString::fromStdString(run->id), m_step.step));
    m_remember->setParent(this), m_remember->hide();
    if (run->state == "recorded") // which is refused, so that nothing is written
        return;
    auto* where = makeLabel(
        tr("Written on the machine of %1, below its output folder; nothing is copied to this one.").arg(server),
        "muted");
    where->setWordWrap(true);
    options()->addWidget(where);
}

void MaterializeSheet::browse()
{
    auto* dialog =
        new QFileDialog(this, tr("Folder for checkpoints of this run"), QFileInfo(m_to->text()).absolutePath());
    dialog->setFileMode(QFileDialog::Directory);
    dialog->setOption(QFileDialog::ShowDirsOnly);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QFileDialog::fileSelected, this,
            [this](const QString& folder) { m_to->setText(destinationIn(folder, m_step.step)); });
    dialog->open();
}

app::ActRequest MaterializeSheet::request() const
{
    app::MaterializeArgs plan = materializePlan(m_step, m_to->text());
    plan.shardBytes = static_cast<std::uint64_t>(m_shards->currentData().toLongLong());
    plan.trained = m_state->currentData().toBool();
    plan.acrossGap = m_acrossGap->isChecked();
    plan.forTraining = m_forTraining->isChecked();
    return plan;
}

void MaterializeSheet::actStarted(const app::TaskView& task)
{
    if (m_local)
        rememberFolder(m_source, m_remember->isChecked() ? QFileInfo(m_to->text()).absolutePath() : QString());
    PlanSheet::actStarted(task);
}

} // namespace deltascope::desktop
