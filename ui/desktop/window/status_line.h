#pragma once

#include "pages/page.h"

#include <QStatusBar>
#include <QTimer>

namespace deltascope::desktop {

/// The last line of the window: contact, newest step and its age, replicas, what waits for verification, the engine.
class StatusLine final : public QStatusBar {
    Q_OBJECT

public:
    explicit StatusLine(PageContext& context, QWidget* parent = nullptr);

private:
    void refresh();
    QString contactText(const app::RunSnapshot& run, std::int64_t nowUs) const;

    PageContext& m_context;
    QLabel* m_contact;
    QLabel* m_latest;
    QLabel* m_replicas;
    QLabel* m_unverified;
    QLabel* m_clock;
    QTimer m_second;
};

} // namespace deltascope::desktop
