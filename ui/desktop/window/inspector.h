#pragma once

#include "pages/page.h"

#include <QDockWidget>
#include <QTimer>

namespace deltascope::desktop {

class Readout;

/// What there is to know about B, always in the same order: what, changed, bytes, verified, objects, acts.
class Inspector final : public QDockWidget {
    Q_OBJECT

public:
    explicit Inspector(PageContext& context, QWidget* parent = nullptr);

private:
    class Section;
    QLayout* makeActs();
    void refresh();

    PageContext& m_context;
    Readout* m_title;
    QLabel* m_state;
    Section* m_what;
    Section* m_changed;
    Section* m_bytes;
    Section* m_verified;
    Section* m_objects;
    QLabel* m_problems;
    QWidget* m_content;
    QTimer m_refresh; ///< a task of its own, once for all that a step changes
    QTimer m_ages;
};

} // namespace deltascope::desktop
