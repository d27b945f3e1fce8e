#pragma once

#include "pages/page.h"

#include <QToolBar>

class QLineEdit;

namespace deltascope::desktop {

class Readout;

/// The lower row: A and B, moving between steps, following, the range, and the acts on B.
class Scrubber final : public QToolBar {
    Q_OBJECT

public:
    explicit Scrubber(PageContext& context, QWidget* parent = nullptr);
    void focusB(); ///< to type a step

private:
    void showCursor();
    void enterStep(QLineEdit* field, bool isB);
    std::optional<StepId> stepNamed(const QString& text) const;

    PageContext& m_context;
    QLineEdit* m_a;
    QLineEdit* m_b;
    Readout* m_range;
    QWidget* m_resetRange;
};

} // namespace deltascope::desktop
