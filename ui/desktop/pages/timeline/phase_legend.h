#pragma once

#include "pages/timeline/phases.h"

#include <QWidget>

namespace deltascope::desktop {

/// The colors of the phases that are shown, pause first.
class PhaseLegend final : public QWidget {
    Q_OBJECT

public:
    explicit PhaseLegend(QWidget* parent = nullptr);
    void setGroups(std::vector<PhaseGroup> groups);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return { 1, sizeHint().height() }; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    std::vector<PhaseGroup> m_groups;
};

} // namespace deltascope::desktop
