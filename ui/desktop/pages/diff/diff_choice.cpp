#include "pages/diff/diff_choice.h"

#include "look/look.h"
#include "widgets/cards.h"

#include <QLayoutItem>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace deltascope::desktop {

namespace {

std::optional<StepId> firstOf(const app::EpochView* epoch)
{
    if (!epoch)
        return std::nullopt;
    const auto first = std::find_if(epoch->steps.begin(), epoch->steps.end(),
                                    [](const app::StepView& step) { return step.state != "gap"; });
    return first == epoch->steps.end() ? std::nullopt : std::optional(StepId { first->epoch, first->step });
}

}

DiffChoice::DiffChoice(PageContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_title(makeLabel({}, "section"))
    , m_text(makeLabel(tr("A is the older one. Set it in the bar above, with key 1 on any step of the other pages, or "
                          "choose here."),
                       "muted"))
    , m_choices(new QVBoxLayout)
{
    m_text->setWordWrap(true);
    m_text->setAlignment(Qt::AlignHCenter);
    m_choices->setSpacing(8);
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(48, 0, 48, 0);
    all->setSpacing(12);
    all->addStretch(2);
    all->addWidget(m_title, 0, Qt::AlignHCenter);
    all->addWidget(m_text);
    auto* column = new QWidget;
    column->setLayout(m_choices);
    all->addWidget(column, 0, Qt::AlignHCenter);
    all->addStretch(3);
}

void DiffChoice::refresh()
{
    const std::optional<StepId> b = m_context.cursor.b();
    if (!b)
        return;
    m_title->setText(tr("Compare step %1 with which one?").arg(b->step));
    while (QLayoutItem* item = m_choices->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    m_offered = { *b };
    offer(tr("Set A to the step before, %1"), m_context.focus.neighbor(-1));
    offer(tr("Set A to the anchor before, %1"), m_context.focus.neighborAnchor(-1));
    offer(tr("Set A to the first step, %1"), firstOf(m_context.focus.epoch()));
    if (m_offered.size() == 1)
        m_title->setText(tr("There is only one step, and nothing to compare it with yet"));
    m_text->setVisible(m_offered.size() > 1);
}

void DiffChoice::offer(const QString& text, const std::optional<StepId>& step)
{
    if (!step || std::find(m_offered.begin(), m_offered.end(), *step) != m_offered.end())
        return;
    QPushButton* button = makeButton(text.arg(step->step), {}, m_offered.size() == 1 ? "primary" : nullptr);
    connect(button, &QPushButton::clicked, this, [this, chosen = *step] { m_context.cursor.setA(chosen); });
    m_choices->addWidget(button);
    m_offered.push_back(*step);
}

} // namespace deltascope::desktop
