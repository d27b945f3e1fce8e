#include "acts/plan_body.h"

#include "deltascope/app/view/act_words.h"
#include "look/format.h"
#include "look/look.h"
#include "widgets/cards.h"
#include "widgets/text_table.h"

#include <QFormLayout>
#include <QVBoxLayout>

#include <algorithm>

namespace deltascope::desktop {

namespace {

constexpr int MostChanges = 5; ///< rows in sight
constexpr int MostObjects = 4;

double shareOf(const app::ChangedTensorView& tensor)
{
    return tensor.elements > 0 ? static_cast<double>(tensor.changed) / static_cast<double>(tensor.elements) : 0;
}

QString besideText(const app::ActPlanView& act)
{
    const QString words = safeName(app::besideWords(act));
    return words.isEmpty() ? QString() : PlanBody::tr(" Beside the run: %1.").arg(words);
}

}

PlanBody::PlanBody(QWidget* parent)
    : QWidget(parent)
    , m_facts(new QWidget)
    , m_factRows(new QFormLayout(m_facts))
    , m_changesTitle(makeLabel({}, "muted"))
    , m_changes(new TextTable(
          tr("Tensors that change"),
          { { tr("tensor"), false, true }, { tr("changed"), false, false, true }, { tr("elements"), true } }))
    , m_objectsTitle(makeLabel({}, "muted"))
    , m_objects(new TextTable(tr("Objects that are written, deleted and read"),
                              { { tr("act") }, { tr("object"), false, true }, { tr("bytes"), true } }))
    , m_steps(makeLabel({}, "muted"))
    , m_room(makeLabel({}, "body"))
    , m_unknown(makeLabel({}, "muted"))
{
    m_factRows->setContentsMargins(0, 0, 0, 0);
    m_factRows->setHorizontalSpacing(16);
    m_factRows->setVerticalSpacing(4);
    m_changes->limitHeight(MostChanges);
    m_objects->limitHeight(MostObjects);
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(0, 0, 0, 0);
    all->setSpacing(10);
    all->addWidget(m_facts);
    const auto addTable = [all](QLabel* title, TextTable* table) {
        auto* frame = new QFrame;
        setRole(frame, "card");
        auto* inside = new QVBoxLayout(frame);
        inside->setContentsMargins(1, 1, 1, 1);
        inside->addWidget(table);
        auto* part = new QVBoxLayout;
        part->setSpacing(5);
        title->setWordWrap(true);
        part->addWidget(title);
        part->addWidget(frame);
        all->addLayout(part);
    };
    addTable(m_changesTitle, m_changes);
    addTable(m_objectsTitle, m_objects);
    for (QLabel* label : { m_steps, m_room, m_unknown }) {
        label->setWordWrap(true);
        all->addWidget(label);
    }
    clear();
}

void PlanBody::clear()
{
    showPlan({});
    hide();
}

void PlanBody::showPlan(const app::PlanView& plan)
{
    showFacts(plan.facts);
    showChanges(plan.changes);
    showObjects(plan.act.value_or(app::ActPlanView {}));
    showSteps(plan);
    show();
}

void PlanBody::showFacts(const std::vector<app::PlanFactView>& facts)
{
    while (m_factRows->rowCount() > 0)
        m_factRows->removeRow(0);
    for (const app::PlanFactView& fact : facts) {
        QLabel* text = makeLabel(safeName(fact.text), "body");
        text->setWordWrap(true);
        text->setTextInteractionFlags(Qt::TextSelectableByMouse);
        m_factRows->addRow(makeLabel(safeName(fact.label), "muted"), text);
    }
    m_facts->setVisible(!facts.empty());
}

void PlanBody::showChanges(const std::vector<app::ChangedTensorView>& changes)
{
    double largest = 0;
    for (const app::ChangedTensorView& tensor : changes)
        largest = std::max(largest, shareOf(tensor));
    std::vector<TextRow> rows;
    for (const app::ChangedTensorView& tensor : changes) {
        TextRow row;
        row.cells = { shortened(safeName(tensor.name)), percentText(shareOf(tensor)),
                      tr("%1 of %2").arg(exactText(tensor.changed), exactText(tensor.elements)) };
        row.tip = safeName(tensor.name);
        row.bar = largest > 0 ? shareOf(tensor) / largest : 0;
        rows.push_back(std::move(row));
    }
    m_changesTitle->setText(
        tr("Tensors that change, the largest share first. The longest bar stands for %1.").arg(percentText(largest)));
    m_changes->setRows(std::move(rows));
    m_changesTitle->setVisible(!changes.empty());
    m_changes->parentWidget()->setVisible(!changes.empty());
}

void PlanBody::showObjects(const app::ActPlanView& act)
{
    std::vector<TextRow> rows;
    const auto add = [&rows](const QString& verb, const std::vector<app::PlannedObjectView>& objects) {
        for (const app::PlannedObjectView& object : objects) {
            TextRow row;
            row.cells = { verb, shortened(safeName(object.key)),
                          object.bytes > 0 ? bytesText(object.bytes) : QString() };
            row.tip = object.store.empty() ? safeName(object.key)
                                           : safeName(object.store) + QLatin1Char('/') + safeName(object.key);
            rows.push_back(std::move(row));
        }
    };
    add(tr("delete"), act.deletes);
    add(tr("write"), act.writes);
    add(tr("read"), act.reads);
    QString text = tr("%1 written, %2 read (%3). ")
                       .arg(pluralText(act.writes.size(), tr("object is", "written"), tr("objects are", "written")),
                            exactText(act.reads.size()), bytesText(act.readBytes));
    text += act.deletes.empty() ? tr("Nothing is overwritten or deleted.")
                                : pluralText(act.deletes.size(), tr("object is deleted."), tr("objects are deleted."));
    m_objectsTitle->setText(text + besideText(act));
    m_objectsTitle->setVisible(!rows.empty());
    m_objects->parentWidget()->setVisible(!rows.empty());
    m_objects->setRows(std::move(rows));
    QString unknown;
    for (const std::string& line : act.unknown)
        unknown +=
            (unknown.isEmpty() ? QString() : QStringLiteral("\n")) + tr("Not known here: %1").arg(safeName(line));
    m_unknown->setText(unknown);
    m_unknown->setVisible(!unknown.isEmpty());
}

/// The objects say the same, and more, where they are known.
void PlanBody::showSteps(const app::PlanView& plan)
{
    QString steps;
    int number = 0;
    for (const app::PlanStepView& step : plan.steps) {
        steps += QStringLiteral("%1%2. %3")
                     .arg(steps.isEmpty() ? QString() : QStringLiteral("\n"))
                     .arg(++number)
                     .arg(safeName(step.text));
        if (step.bytes > 0)
            steps += QStringLiteral(" (%1)").arg(bytesText(step.bytes));
    }
    m_steps->setText(steps);
    m_steps->setVisible(!steps.isEmpty() && !plan.act);
    m_room->setVisible(!plan.destination.empty() && plan.freeBytes);
    if (plan.freeBytes)
        m_room->setText(tr("Needs %1, free %2").arg(bytesText(plan.writeBytes), bytesText(plan.freeBytes)));
}

} // namespace deltascope::desktop
