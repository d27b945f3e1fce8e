#pragma once

#include <QAction>
#include <QHash>
#include <QKeySequence>
#include <QObject>
#include <QString>
#include <QVector>

#include <functional>
#include <vector>

class QKeyEvent;
class QWidget;

namespace deltascope::desktop {

/// One thing that can be done. Menus, buttons, the palette and the list of shortcuts are made from these.
struct ActionSpec {
    QString id {}; ///< "go.heatmap"
    QString text {}; ///< "Heatmap"
    QString menu {}; ///< "Go"; empty: in no menu
    QString icon {}; ///< of resources/icons; empty: none
    QKeySequence shortcut {}; ///< works everywhere in the window
    /// One letter, digit or arrow: works while a canvas or a list has the focus, and can be switched off as a group
    /// (WCAG 2.1.4).
    QKeySequence plainKey {};
    std::function<void()> act {};
    std::function<bool()> enabled {}; ///< null: always
    std::function<QString()> cli {}; ///< the command that does the same; null: none
    bool checkable = false;
    std::function<bool()> checked {}; ///< of a checkable one
};

/// Property of a list in which typing filters: it keeps the plain keys that are characters.
inline constexpr char FiltersByTyping[] = "filtersByTyping";

/// All acts of a window. GUI thread.
class ActionRegistry final : public QObject {
    Q_OBJECT

public:
    /// The shortcuts work in `window`.
    explicit ActionRegistry(QWidget* window);

    QAction* add(ActionSpec spec);
    /// Null: no such action.
    QAction* action(const QString& id) const;
    const ActionSpec* spec(const QString& id) const;
    const std::vector<ActionSpec>& specs() const { return m_specs; } ///< as they were added
    bool isEnabled(const QString& id) const;
    void trigger(const QString& id);

    QKeySequence shortcutOf(const QString& id) const; ///< the one that is bound, whichever kind
    void rebind(const QString& id, const QKeySequence& shortcut); ///< kept in the settings
    void setPlainKeys(bool on); ///< kept in the settings
    bool plainKeys() const { return m_plainKeys; }

    /// Looks at all predicates again.
    void refresh();

protected:
    /// Plain keys, for canvases and lists below the window.
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    bool triggerPlain(const QKeyEvent& event);

    QWidget* m_window;
    std::vector<ActionSpec> m_specs;
    QHash<QString, QAction*> m_actions;
    bool m_plainKeys = true;
};

} // namespace deltascope::desktop
