#pragma once

#include "bridge/calculation.h"
#include "pages/page.h"
#include "pages/timeline/timeline_model.h"

class QFrame;
class QScrollArea;

namespace deltascope::desktop {

class BarsCanvas;
class LanesCanvas;
class PauseSummary;
class SyncDetails;
class TimelineTools;

/// How long weight syncs take, phase by phase, and how long no tokens are produced.
class TimelinePage final : public Page {
    Q_OBJECT

public:
    explicit TimelinePage(PageContext& context, QWidget* parent = nullptr);

    Canvas* canvas() override;
    QString exportName() const override;
    QByteArray exportText() override;

    BarsCanvas& bars() { return *m_bars; }
    LanesCanvas& lanes() { return *m_lanes; }
    PauseSummary& summary() { return *m_summary; }
    SyncDetails& details() { return *m_details; }
    const TimelinePointer& model() const { return m_model; } ///< null: not made yet

    /// Saves the syncs that are shown as a Chrome trace, off the GUI thread; says so when it is done.
    void saveTrace(const QString& path);

protected:
    void refresh() override;
    void cursorMoved() override;
    void runOpened() override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* makeViews();
    void connectTools();
    void connectCanvases();
    void calculate();
    void take(TimelinePointer model);
    void showSelected();
    void showMode();
    void askForTraceFile();
    StepRange wantedSteps(const app::EpochView& epoch);
    void choose(std::int64_t step);
    QString engineOf(const std::string& actor) const;

    TimelineTools* m_tools;
    BarsCanvas* m_bars;
    PauseSummary* m_summary;
    QFrame* m_line;
    LanesCanvas* m_lanes;
    QScrollArea* m_lanesArea;
    SyncDetails* m_details;
    QLabel* m_note; ///< what is left out, what was saved

    TimelineRequest m_asked; ///< newest calculation that was started
    TimelinePointer m_model;
    std::optional<StepRange> m_window; ///< shown where the cursor has no range
    Calculation<TimelinePointer> m_calculation;
    Calculation<QString> m_saving; ///< what went wrong, or nothing
};

} // namespace deltascope::desktop
