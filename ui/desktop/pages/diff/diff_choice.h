#pragma once

#include "pages/page.h"

class QVBoxLayout;

namespace deltascope::desktop {

/// Asks which step B is compared with, and offers those that are worth it. GUI thread.
class DiffChoice final : public QWidget {
    Q_OBJECT

public:
    /// `context` outlives it.
    explicit DiffChoice(PageContext& context, QWidget* parent = nullptr);
    void refresh(); ///< B or the run is another

private:
    void offer(const QString& text, const std::optional<StepId>& step);

    PageContext& m_context;
    QLabel* m_title;
    QLabel* m_text;
    QVBoxLayout* m_choices;
    std::vector<StepId> m_offered;
};

} // namespace deltascope::desktop
