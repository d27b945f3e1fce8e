#include "window/top_bar.h"

#include "actions/action_registry.h"
#include "look/format.h"
#include "look/icon.h"
#include "look/look.h"
#include "session/session.h"
#include "widgets/cards.h"
#include "widgets/elided_label.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QPushButton>
#include <QToolButton>

namespace deltascope::desktop {

namespace {

/// A field that looks like one and opens the omnibox.
QPushButton* makeSearchField(ActionRegistry& actions)
{
    QPushButton* field = makeButton(TopBar::tr("Step, tensor or command"), QStringLiteral("search"), "search");
    field->setMinimumWidth(300);
    field->setAccessibleName(TopBar::tr("Find a step, a tensor or a command"));
    auto* keys =
        makeLabel(actions.shortcutOf(QStringLiteral("view.omnibox")).toString(QKeySequence::NativeText), "tag");
    auto* row = new QHBoxLayout(field);
    row->setContentsMargins(0, 0, 5, 0);
    row->addStretch(1);
    row->addWidget(keys, 0, Qt::AlignVCenter);
    QObject::connect(field, &QPushButton::clicked, field,
                     [&actions] { actions.trigger(QStringLiteral("view.omnibox")); });
    return field;
}

}

TopBar::TopBar(PageContext& context, Session& session, QWidget* parent)
    : QToolBar(parent)
    , m_context(context)
    , m_session(session)
    , m_runs(new QComboBox)
    , m_source(new ElidedLabel("muted"))
    , m_state(makeLabel({}, "live"))
{
    setObjectName(QStringLiteral("TopBar"));
    setWindowTitle(tr("Source and run"));
    setMovable(false);
    setIconSize({ 16, 16 });
    for (const char* id : { "view.back", "view.forward" })
        addAction(context.actions.action(QString::fromLatin1(id)));
    m_runs->setMinimumWidth(220);
    m_runs->setAccessibleName(tr("Run"));
    m_runs->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    connect(m_runs, &QComboBox::activated, this, [this](int row) { emit runChosen(m_runs->itemData(row).toString()); });
    addWidget(m_runs);
    auto* space = new QWidget;
    auto* row = new QHBoxLayout(space);
    row->setContentsMargins(6, 0, 6, 0);
    row->setSpacing(8);
    row->addWidget(m_state, 0, Qt::AlignVCenter);
    row->addWidget(m_source, 1);
    space->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    addWidget(space);
    addWidget(makeSearchField(context.actions));
    connect(&context.bridge, &ServiceBridge::runMoved, this, [this](const RunPointer& before) {
        if (!before)
            showRuns();
    });
    connect(&context.focus, &RunFocus::opened, this, [this] {
        showRuns();
        showState();
    });
    connect(&context.focus, &RunFocus::moved, this, &TopBar::showState);
    showRuns();
    showState();
}

void TopBar::showRuns()
{
    const QSignalBlocker quiet(m_runs);
    m_runs->clear();
    for (const RunPointer& run : m_session.monitor().runs()) {
        m_runs->addItem(icon(run->source.rfind("file://", 0) == 0 ? QStringLiteral("folder") : QStringLiteral("cloud")),
                        shortened(safeName(run->name), 40), QString::fromStdString(run->id));
        m_runs->setItemData(m_runs->count() - 1, safeName(run->source), Qt::ToolTipRole);
    }
    if (!m_session.isRecorded()) {
        m_runs->insertSeparator(m_runs->count());
        m_runs->addItem(icon(QStringLiteral("list")), tr("All sources…"), QString());
    }
    m_runs->setCurrentIndex(m_context.focus.run() ? m_runs->findData(m_context.focus.id()) : -1);
}

void TopBar::showState()
{
    const RunPointer& run = m_context.focus.run();
    m_state->setVisible(run != nullptr);
    m_source->setText(!run            ? QString()
                          : run->demo ? tr("a made-up run, published here by the engine")
                                      : safeName(run->source));
    m_source->setToolTip(run ? safeName(run->source) : QString());
    if (!run)
        return;
    const bool bad = run->state == "error";
    const bool live = run->state == "live";
    m_state->setText(bad                            ? tr("✕ NOT READABLE")
                         : live                     ? tr("● LIVE")
                         : run->state == "lost"     ? tr("○ NO CONTACT")
                         : run->state == "recorded" ? tr("○ RECORDED")
                                                    : tr("○ OPENING"));
    setRole(m_state, bad ? "error" : live ? "live" : "tag");
}

} // namespace deltascope::desktop
