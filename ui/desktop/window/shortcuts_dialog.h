#pragma once

#include <QDialog>

namespace deltascope::desktop {

class ActionRegistry;

/// All shortcuts, searchable; each can be bound anew, and the single keys can be switched off.
class ShortcutsDialog final : public QDialog {
    Q_OBJECT

public:
    ShortcutsDialog(ActionRegistry& actions, QWidget* parent);
};

} // namespace deltascope::desktop
