#pragma once

#include "pages/page.h"

#include <QStatusBar>
#include <QTimer>

namespace deltascope::desktop {

class Readout;

/// The last line of the window: contact, newest step and its age, replicas, how much was checked, requests to an object
/// store, the engine.
class StatusLine final : public QStatusBar {
    Q_OBJECT

public:
    explicit StatusLine(PageContext& context, QWidget* parent = nullptr);

private:
    void refresh();
    QString contactText(const app::RunSnapshot& run, std::int64_t nowUs) const;

    PageContext& m_context;
    Readout* m_contact;
    Readout* m_latest;
    Readout* m_replicas;
    Readout* m_checked;
    Readout* m_store; ///< what an object store was asked for
    Readout* m_clock;
    QTimer m_second;
};

} // namespace deltascope::desktop
