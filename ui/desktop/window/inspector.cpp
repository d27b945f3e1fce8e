#include "window/inspector.h"

#include "actions/action_registry.h"
#include "look/format.h"
#include "look/icon.h"
#include "look/look.h"
#include "look/marks.h"
#include "widgets/cards.h"
#include "widgets/readout.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QPushButton>
#include <QResizeEvent>
#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace deltascope::desktop {

namespace {

constexpr int InspectorWidth = 288;

/// "Inspector" and the key that hides it.
QWidget* makeTitle(PageContext& context)
{
    auto* title = new QFrame;
    setRole(title, "dockTitle");
    auto* row = new QHBoxLayout(title);
    row->setContentsMargins(12, 8, 12, 8);
    row->addWidget(makeLabel(Inspector::tr("Inspector"), "title"));
    row->addStretch(1);
    row->addWidget(makeLabel(
        context.actions.shortcutOf(QStringLiteral("view.inspector")).toString(QKeySequence::NativeText), "tag"));
    return title;
}

}

/// A heading with rows of name and value; rows without a value are not shown. It lays itself out, and tells its parent
/// only when its height changes: most new values take the room of the old ones.
class Inspector::Section final : public QWidget {
public:
    Section(const QString& title, const QStringList& names)
    {
        if (!title.isEmpty())
            m_title = makeLabel(title, "muted", this);
        for (const QString& name : names) {
            auto* value = makeLabel({}, "body", this);
            value->setAlignment(Qt::AlignRight | Qt::AlignTop);
            value->setTextInteractionFlags(Qt::TextSelectableByMouse);
            value->setWordWrap(true); // long names are broken, never cut off
            m_rows.push_back({ makeLabel(name, "muted", this), value });
        }
    }
    void show(const QStringList& values, const QStringList& tips = {})
    {
        for (int i = 0; i < static_cast<int>(m_rows.size()); ++i) {
            Row& row = m_rows[static_cast<std::size_t>(i)];
            const QString text = breakable(values.value(i));
            if (row.value->toolTip() != tips.value(i))
                row.value->setToolTip(tips.value(i));
            if (row.value->text() == text)
                continue;
            row.value->setText(text);
            row.height = 0;
        }
        arrange();
    }

protected:
    void resizeEvent(QResizeEvent*) override { arrange(); }
    void changeEvent(QEvent* event) override
    {
        QWidget::changeEvent(event);
        if (event->type() != QEvent::FontChange && event->type() != QEvent::StyleChange)
            return;
        for (Row& row : m_rows)
            row.height = 0;
        arrange();
    }

private:
    struct Row {
        QLabel* name;
        QLabel* value;
        int width = 0; ///< for which `height` was measured
        int height = 0; ///< 0: to be measured
    };

    void arrange()
    {
        constexpr int Left = 12, Top = 10, Spacing = 5;
        int y = Top;
        const auto place = [&](QLabel* label) {
            const QSize size = label->sizeHint();
            label->setGeometry(Left, y, size.width(), size.height());
            return size;
        };
        if (m_title)
            y += place(m_title).height() + Spacing;
        for (Row& row : m_rows) {
            const bool shown = !row.value->text().isEmpty();
            row.name->setVisible(shown);
            row.value->setVisible(shown);
            if (!shown)
                continue;
            const QSize name = place(row.name);
            const int x = Left + name.width() + Spacing;
            const int wide = std::max(1, width() - Left - x);
            if (row.height == 0 || row.width != wide)
                row.height = row.value->heightForWidth(wide);
            row.width = wide;
            row.value->setGeometry(x, y, wide, row.height);
            y += std::max(name.height(), row.height) + Spacing;
        }
        setFixedHeight(y - Spacing + Top);
    }

    QLabel* m_title = nullptr;
    std::vector<Row> m_rows;
};

Inspector::Inspector(PageContext& context, QWidget* parent)
    : QDockWidget(tr("Inspector"), parent)
    , m_context(context)
    , m_title(new Readout("number"))
    , m_state(makeLabel({}, "tag"))
    , m_what(new Section({}, { tr("Kind"), tr("Chain"), tr("Published"), tr("Epoch"), tr("Restores"), tr("Called") }))
    , m_changed(new Section(tr("What changed"), { tr("Changed"), tr("Elements"), tr("Claimed"), tr("Tensor") }))
    , m_bytes(new Section(tr("Bytes"), { tr("Wire"), tr("To materialize"), tr("Not possible") }))
    , m_verified(new Section(tr("Verified"), { tr("Level"), tr("Result"), tr("Checked") }))
    , m_objects(new Section(tr("Objects"), { tr("Name"), tr("Objects") }))
    , m_problems(makeLabel({}, "error"))
{
    setObjectName(QStringLiteral("Inspector"));
    setFeatures(QDockWidget::DockWidgetClosable | QDockWidget::DockWidgetMovable);
    setAllowedAreas(Qt::LeftDockWidgetArea | Qt::RightDockWidgetArea);
    setTitleBarWidget(makeTitle(context));
    m_content = new QWidget;
    auto* column = new QVBoxLayout(m_content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* head = new QVBoxLayout; // side by side a long number and its state would need more than a narrow dock has
    head->setContentsMargins(12, 12, 12, 4);
    head->setSpacing(6);
    head->addWidget(m_title, 0, Qt::AlignLeft);
    head->addWidget(m_state, 0, Qt::AlignLeft);
    column->addLayout(head);
    m_problems->setWordWrap(true);
    m_problems->setContentsMargins(12, 4, 12, 8);
    column->addWidget(m_problems);
    for (Section* section : { m_what, m_changed, m_bytes, m_verified, m_objects }) {
        column->addWidget(section);
        column->addWidget(makeLine());
    }
    column->addLayout(makeActs());
    column->addStretch(1);
    auto* scroll = new QScrollArea;
    scroll->setWidget(m_content);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->setMinimumWidth(InspectorWidth - 48);
    setWidget(scroll);
    m_refresh.setSingleShot(true);
    m_refresh.setInterval(0);
    connect(&m_refresh, &QTimer::timeout, this, &Inspector::refresh);
    const auto refreshSoon = qOverload<>(&QTimer::start);
    connect(&context.cursor, &StepCursor::changed, &m_refresh, refreshSoon);
    connect(&context.focus, &RunFocus::moved, &m_refresh, refreshSoon);
    connect(&context.focus, &RunFocus::opened, &m_refresh, refreshSoon);
    m_ages.setInterval(1000);
    connect(&m_ages, &QTimer::timeout, this, [this] {
        if (m_content->isVisible())
            refresh();
    });
    m_ages.start();
    refresh();
}

/// What can be done with the step, two acts on a line.
QLayout* Inspector::makeActs()
{
    auto* acts = new QGridLayout;
    acts->setContentsMargins(12, 12, 12, 12);
    acts->setSpacing(8);
    int place = 0;
    for (const auto& [id, text] :
         { std::pair("step.copyAddress", tr("Copy URI")), std::pair("step.showFiles", tr("Open files")),
           std::pair("run.rollBack", tr("Roll back…")), std::pair("act.ref", tr("Name…")),
           std::pair("act.pin", tr("Pin…")), std::pair("act.note", tr("Note…")) }) {
        const QString name = QString::fromLatin1(id);
        const QAction* action = m_context.actions.action(name);
        if (!action || (name == QLatin1String("step.showFiles") && !m_context.bridge.server().isEmpty()))
            continue; // they lie elsewhere
        QPushButton* button = makeButton(text, m_context.actions.spec(name)->icon, "small");
        button->setObjectName(name);
        connect(button, &QPushButton::clicked, this, [this, name] { m_context.actions.trigger(name); });
        button->setEnabled(action->isEnabled());
        connect(action, &QAction::changed, button, [button, action] { button->setEnabled(action->isEnabled()); });
        acts->addWidget(button, place / 2, place % 2);
        ++place;
    }
    return acts;
}

void Inspector::refresh()
{
    const app::StepView* step = m_context.focus.b();
    m_content->setVisible(step != nullptr);
    if (!step)
        return;
    const RunPointer& run = m_context.focus.run();
    const std::int64_t now = ServiceBridge::nowUs();
    m_title->read(tr("Step %1").arg(step->step));
    const bool sound = step->restorable || (step->state != "complete" && step->state != "noop");
    m_state->setText(sound ? stepStateText(step->state)
                           : tr("✕ cannot be rebuilt")); // though all its objects are there
    setRole(m_state, sound && step->state != "broken" ? "tag" : "badTag");
    QString problems;
    for (const app::ProblemView& problem : step->problems)
        problems += (problems.isEmpty() ? QString() : QStringLiteral("\n")) + problemLine(problem);
    if (const QString text = breakable(problems); m_problems->text() != text)
        m_problems->setText(text);
    m_problems->setVisible(!problems.isEmpty());

    QString kind = kindText(step->kind);
    if (!step->role.empty())
        kind += step->role == "final_save" ? tr(", final save") : tr(", older than the checkpoints");
    if (step->baseStep)
        kind += tr(" on %1").arg(*step->baseStep);
    const QString chain = !step->restorable ? QString()
        : step->restore.deltas == 0         ? tr("begins here")
                                    : pluralText(step->restore.deltas, tr("delta"), tr("deltas")) + tr(" on the base");
    const bool epochs = run->run->epochs.size() > 1;
    QStringList words;
    for (const std::string& word : step->refs)
        words << safeName(word);
    m_what->show({ kind, chain, agoText(step->publishedUs, now), epochs ? QString::number(step->epoch) : QString(),
                   step->restores ? tr("step %1").arg(*step->restores) : QString(), words.join(QStringLiteral(", ")) },
                 { {}, {}, fullTimeText(step->publishedUs) });

    const bool anchor = step->kind == "anchor";
    const auto changed = anchor ? step->changedVsPrevious : step->changedElements;
    const QString elements = changed && step->totalElements
        ? tr("%1 of %2").arg(countText(changed), countText(step->totalElements))
        : QString();
    m_changed->show({ percentText(step->changedFraction), elements,
                      step->claimedElements ? countText(step->claimedElements) : QString(),
                      safeName(m_context.cursor.state().tensor) },
                    { {}, changed ? exactText(*changed) : QString(), tr("What the header says is stored") });

    const QString reason = safeName(step->restore.reason); // often said above
    m_bytes->show({ bytesText(step->wireBytes), step->restorable ? bytesText(step->restore.bytes) : QString(),
                    step->restorable || problems.contains(reason) ? QString() : reason },
                  { tr("%1 bytes").arg(exactText(step->wireBytes)),
                    tr("%1 bytes to be read").arg(exactText(step->restore.bytes)) });

    const std::optional<app::VerifiedView> verified = verifiedOf(run->verified, *step);
    if (verified)
        m_verified->show({ levelText(verified->level), verdictText(*verified), agoText(verified->tUs, now) },
                         { {}, {}, fullTimeText(verified->tUs) });
    else
        m_verified->show({ tr("not checked") });

    m_objects->show({ safeName(step->name), QString::number(step->objects.size()) });
}

} // namespace deltascope::desktop
