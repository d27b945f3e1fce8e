#include "window/scrubber.h"

#include "actions/action_registry.h"
#include "look/format.h"
#include "look/icon.h"
#include "look/look.h"
#include "widgets/cards.h"
#include "widgets/readout.h"

#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QToolButton>

namespace deltascope::desktop {

namespace {

QToolButton* buttonOf(ActionRegistry& actions, const QString& id)
{
    auto* button = new QToolButton;
    button->setDefaultAction(actions.action(id));
    button->setToolButtonStyle(Qt::ToolButtonIconOnly);
    button->setIconSize({ 16, 16 });
    button->setAccessibleName(actions.action(id)->text());
    const QString keys = actions.shortcutOf(id).toString(QKeySequence::NativeText);
    button->setToolTip(keys.isEmpty() ? button->accessibleName()
                                      : QStringLiteral("%1 (%2)").arg(button->accessibleName(), keys));
    return button;
}

QPushButton* actButton(ActionRegistry& actions, const QString& id, const QString& text, const char* role)
{
    const QAction* action = actions.action(id);
    QPushButton* button = makeButton(text, actions.spec(id)->icon, role);
    button->setObjectName(id);
    button->setToolTip(
        QStringLiteral("%1 (%2)").arg(action->text(), actions.shortcutOf(id).toString(QKeySequence::NativeText)));
    QObject::connect(button, &QPushButton::clicked, button, [&actions, id] { actions.trigger(id); });
    QObject::connect(action, &QAction::changed, button, [button, action] { button->setEnabled(action->isEnabled()); });
    return button;
}

}

Scrubber::Scrubber(PageContext& context, QWidget* parent)
    : QToolBar(parent)
    , m_context(context)
    , m_a(new QLineEdit)
    , m_b(new QLineEdit)
    , m_range(new Readout("body"))
{
    setObjectName(QStringLiteral("Scrubber"));
    setWindowTitle(tr("Cursor"));
    setIconSize({ 16, 16 });
    setMovable(false);
    const auto field = [this](const QString& name, QLineEdit* edit, const QString& tip, bool isB) {
        auto* label = makeLabel(name, "muted");
        label->setContentsMargins(4, 0, 0, 0);
        label->setBuddy(edit);
        addWidget(label);
        edit->setFixedWidth(92);
        edit->setAccessibleName(tip);
        edit->setToolTip(tip);
        connect(edit, &QLineEdit::editingFinished, this, [this, edit, isB] { enterStep(edit, isB); });
        addWidget(edit);
    };
    field(QStringLiteral("A"), m_a, tr("Step to compare with: a number, EPOCH:STEP, ~3, anchor, or nothing"), false);
    m_a->setPlaceholderText(tr("none"));
    field(QStringLiteral("B"), m_b, tr("Current step: a number, EPOCH:STEP, ~3, anchor or latest"), true);
    for (const char* id : { "step.previousAnchor", "step.previous", "step.next", "step.nextAnchor" })
        addWidget(buttonOf(context.actions, QString::fromLatin1(id)));
    auto* follow = makeButton({});
    follow->setCheckable(true);
    follow->setToolTip(tr("B stays on the newest step (Space)"));
    connect(follow, &QPushButton::clicked, this,
            [this] { m_context.actions.trigger(QStringLiteral("cursor.follow")); });
    const auto showFollow = [this, follow] {
        const bool follows = m_context.cursor.state().follow;
        const QString text = follows ? tr("Following") : tr("Follow");
        follow->setChecked(follows);
        if (follow->text() == text)
            return;
        follow->setText(text);
        follow->setIcon(icon(follows ? QStringLiteral("play") : QStringLiteral("pause")));
    };
    showFollow();
    connect(&context.cursor, &StepCursor::changed, follow, showFollow);
    addWidget(follow);
    auto* middle = new QWidget;
    auto* row = new QHBoxLayout(middle);
    row->setContentsMargins(10, 0, 10, 0);
    row->setSpacing(8);
    row->addWidget(makeLabel(tr("Range"), "muted"));
    row->addWidget(m_range);
    QPushButton* reset = makeButton(tr("Reset"), {}, "link");
    connect(reset, &QPushButton::clicked, this,
            [this] { m_context.actions.trigger(QStringLiteral("cursor.resetRange")); });
    row->addWidget(reset);
    row->addStretch(1);
    m_resetRange = reset;
    middle->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    addWidget(middle);
    addWidget(actButton(context.actions, QStringLiteral("run.materialize"), tr("Materialize"), "primary"));
    addWidget(actButton(context.actions, QStringLiteral("run.verify"), tr("Verify"), "plain"));
    connect(&context.cursor, &StepCursor::changed, this, &Scrubber::showCursor);
    connect(&context.focus, &RunFocus::opened, this, &Scrubber::showCursor);
    connect(&context.focus, &RunFocus::moved, this, &Scrubber::showCursor);
    showCursor();
}

void Scrubber::focusB()
{
    m_b->setFocus(Qt::ShortcutFocusReason);
    m_b->selectAll();
}

void Scrubber::showCursor()
{
    const int newest = m_context.focus.epoch() ? m_context.focus.run()->run->epochs.back().epoch : 0;
    const auto text = [newest](const std::optional<StepId>& step) {
        if (!step)
            return QString();
        return step->epoch == newest ? QString::number(step->step) : step->address();
    };
    for (const auto& [field, step] : { std::pair(m_a, m_context.cursor.a()), std::pair(m_b, m_context.cursor.b()) }) {
        if ((!field->hasFocus() || !field->isModified()) && field->text() != text(step))
            field->setText(text(step));
    }
    const std::optional<StepRange> range = m_context.focus.shownRange();
    m_range->read(range ? QStringLiteral("%1 – %2").arg(range->first).arg(range->second) : unknownText());
    m_resetRange->setVisible(m_context.cursor.state().range.has_value());
}

std::optional<StepId> Scrubber::stepNamed(const QString& text) const
{
    const app::EpochView* epoch = m_context.focus.epoch();
    if (!epoch)
        return std::nullopt;
    static const QRegularExpression address(QStringLiteral("^(?:(\\d+):)?(\\d+)$"));
    static const QRegularExpression back(QStringLiteral("^(?:latest)?~(\\d+)$"));
    if (const QRegularExpressionMatch match = address.match(text); match.hasMatch()) {
        const std::int64_t number = match.captured(2).toLongLong();
        if (!match.captured(1).isEmpty()) {
            const StepId id { match.captured(1).toInt(), number };
            return m_context.focus.step(id) ? std::optional(id) : std::nullopt;
        }
        // The newest epoch that has it.
        const auto& epochs = m_context.focus.run()->run->epochs;
        for (auto at = epochs.rbegin(); at != epochs.rend(); ++at) {
            if (m_context.focus.step({ at->epoch, number }))
                return StepId { at->epoch, number };
        }
        return std::nullopt;
    }
    const auto& steps = epoch->steps;
    if (text == QLatin1String("anchor"))
        return m_context.focus.neighborAnchor(-1);
    const std::size_t by = text == QLatin1String("latest") ? 0
        : back.match(text).hasMatch()                      ? back.match(text).captured(1).toULongLong()
                                                           : steps.size();
    if (by >= steps.size())
        return std::nullopt;
    const app::StepView& step = steps[steps.size() - 1 - by];
    return StepId { step.epoch, step.step };
}

void Scrubber::enterStep(QLineEdit* field, bool isB)
{
    if (!field->isModified())
        return;
    field->setModified(false);
    const QString text = field->text().trimmed().remove(QLatin1Char('@'));
    if (text.isEmpty() && !isB)
        return m_context.cursor.setA(std::nullopt);
    const std::optional<StepId> step = stepNamed(text);
    field->setProperty("state", step ? QString() : QStringLiteral("invalid"));
    repolish(field);
    if (!step) {
        field->setToolTip(tr("There is no step \"%1\" in this run").arg(text));
        field->setText(text);
        return;
    }
    field->setToolTip(field->accessibleName());
    isB ? m_context.cursor.setB(*step) : m_context.cursor.setA(step);
    showCursor();
}

} // namespace deltascope::desktop
