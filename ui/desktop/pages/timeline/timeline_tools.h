#pragma once

#include "pages/timeline/phases.h"

#include <QWidget>

#include <optional>
#include <string>
#include <vector>

class QCheckBox;
class QComboBox;
class QHBoxLayout;
class QPushButton;

namespace deltascope::desktop {

class PhaseLegend;
class Segments;

enum class TimelineMode { PerStep, WallClock, Both };
enum class BarUnit;

/// The row above the timeline: what is shown and how, and the colors of the phases. Remembers the mode.
class TimelineTools final : public QWidget {
    Q_OBJECT

public:
    explicit TimelineTools(QWidget* parent = nullptr);

    TimelineMode mode() const;
    std::string actor() const; ///< whose bars; empty: the slowest replica of each step
    /// Keeps the chosen one; says actorChosen() if it is gone.
    void setActors(const std::vector<std::string>& replicas);
    void setGroups(std::vector<PhaseGroup> groups);
    /// Of a full sync, for the ghost; nothing: it cannot be told.
    void setGhostRate(std::optional<double> bytesPerSecond);
    void setDetailsShown(bool shown);

signals:
    void modeChosen();
    void actorChosen();
    void unitChosen(deltascope::desktop::BarUnit unit);
    void ghostToggled(bool shown);
    void detailsToggled(bool shown);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void arrange();
    void enableForMode();

    Segments* m_mode;
    QComboBox* m_unit;
    QComboBox* m_actors;
    QCheckBox* m_ghost;
    PhaseLegend* m_legend;
    QPushButton* m_details;
    QHBoxLayout* m_beside; ///< room for ghost and legend beside the other tools
    QHBoxLayout* m_below; ///< room for them below
    std::optional<double> m_ghostRate;
};

} // namespace deltascope::desktop
