#include "actions/action_registry.h"

#include "canvas/canvas.h"
#include "look/icon.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QKeyEvent>
#include <QSettings>
#include <QWidget>

#include <algorithm>

namespace deltascope::desktop {

ActionRegistry::ActionRegistry(QWidget* window)
    : QObject(window)
    , m_window(window)
    , m_plainKeys(QSettings().value(QStringLiteral("keys/plain"), true).toBool())
{
    qApp->installEventFilter(this);
}

QAction* ActionRegistry::add(ActionSpec spec)
{
    auto* action = new QAction(spec.text, this);
    action->setObjectName(spec.id);
    if (!spec.icon.isEmpty())
        action->setIcon(icon(spec.icon));
    action->setCheckable(spec.checkable);
    const QVariant bound = QSettings().value(QStringLiteral("keys/") + spec.id);
    if (bound.isValid())
        (spec.plainKey.isEmpty() ? spec.shortcut : spec.plainKey) = QKeySequence(bound.toString());
    if (!spec.shortcut.isEmpty())
        action->setShortcut(spec.shortcut);
    const QString id = spec.id;
    connect(action, &QAction::triggered, this, [this, id] {
        const ActionSpec* chosen = this->spec(id);
        if (chosen->act && isEnabled(id))
            chosen->act();
        refresh();
    });
    m_window->addAction(action);
    m_actions.insert(id, action);
    m_specs.push_back(std::move(spec));
    return action;
}

QAction* ActionRegistry::action(const QString& id) const { return m_actions.value(id); }

const ActionSpec* ActionRegistry::spec(const QString& id) const
{
    const auto found =
        std::find_if(m_specs.begin(), m_specs.end(), [&](const ActionSpec& spec) { return spec.id == id; });
    return found == m_specs.end() ? nullptr : &*found;
}

bool ActionRegistry::isEnabled(const QString& id) const
{
    const ActionSpec* found = spec(id);
    return found && (!found->enabled || found->enabled());
}

void ActionRegistry::trigger(const QString& id)
{
    if (QAction* found = action(id); found && isEnabled(id))
        found->trigger();
}

QKeySequence ActionRegistry::shortcutOf(const QString& id) const
{
    const ActionSpec* found = spec(id);
    if (!found)
        return {};
    return found->plainKey.isEmpty() ? found->shortcut : found->plainKey;
}

void ActionRegistry::rebind(const QString& id, const QKeySequence& shortcut)
{
    const auto found =
        std::find_if(m_specs.begin(), m_specs.end(), [&](const ActionSpec& spec) { return spec.id == id; });
    if (found == m_specs.end())
        return;
    if (found->plainKey.isEmpty()) {
        found->shortcut = shortcut;
        action(id)->setShortcut(shortcut);
    } else {
        found->plainKey = shortcut;
    }
    QSettings().setValue(QStringLiteral("keys/") + id, shortcut.toString());
}

void ActionRegistry::setPlainKeys(bool on)
{
    m_plainKeys = on;
    QSettings().setValue(QStringLiteral("keys/plain"), on);
}

void ActionRegistry::refresh()
{
    for (const ActionSpec& spec : m_specs) {
        QAction* shown = m_actions.value(spec.id);
        shown->setEnabled(!spec.enabled || spec.enabled());
        if (spec.checked)
            shown->setChecked(spec.checked());
    }
}

bool ActionRegistry::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() != QEvent::KeyPress || !m_plainKeys)
        return false;
    auto* widget = qobject_cast<QWidget*>(watched);
    if (!widget || widget != QApplication::focusWidget() || widget->window() != m_window)
        return false;
    const auto& key = *static_cast<QKeyEvent*>(event);
    if (const auto* canvas = qobject_cast<Canvas*>(widget))
        return !canvas->wantsKey(key) && triggerPlain(key);
    // Lists keep the arrows, and those that filter by typing keep what is typed.
    const bool arrow = key.key() >= Qt::Key_Home && key.key() <= Qt::Key_PageDown;
    const bool typed = widget->property(FiltersByTyping).toBool() && !key.text().isEmpty();
    return qobject_cast<QAbstractItemView*>(widget) && !arrow && !typed && triggerPlain(key);
}

bool ActionRegistry::triggerPlain(const QKeyEvent& event)
{
    const QKeySequence pressed((event.modifiers() & ~Qt::KeypadModifier).toInt() | event.key());
    for (const ActionSpec& spec : m_specs) {
        if (!spec.plainKey.isEmpty() && spec.plainKey == pressed && isEnabled(spec.id)) {
            trigger(spec.id);
            return true;
        }
    }
    return false;
}

} // namespace deltascope::desktop
