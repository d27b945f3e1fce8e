#pragma once

#include <QDialog>

namespace deltascope::desktop {

class ActionRegistry;

/// What a page shows, and its keys, beside the window: its shortcuts work here, too. GUI thread.
class PageHelp final : public QDialog {
    Q_OBJECT

public:
    /// `page`: of pages/pages.h; empty: the welcome page.
    PageHelp(const QString& page, ActionRegistry& actions, QWidget* parent = nullptr);
};

} // namespace deltascope::desktop
