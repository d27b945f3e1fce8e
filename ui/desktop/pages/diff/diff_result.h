#pragma once

#include "pages/diff/diff_contents.h"
#include "pages/diff/diff_report.h"
#include "pages/diff/diff_task.h"
#include "widgets/kpi_tile.h"

#include <QWidget>

class QLabel;
class QTabBar;

namespace deltascope::desktop {

class DiffTensors;
struct PageContext;

/// What a comparison found: tiles, then the tensors in tabs. GUI thread.
class DiffResult final : public QWidget {
    Q_OBJECT

public:
    explicit DiffResult(PageContext& context, QWidget* parent = nullptr);

    void show(const DiffPair& pair, DiffPointer diff);
    void show(const DiffPair& pair, TouchedPointer touched);
    DiffTensors& tensors() { return *m_tensors; }
    QTabBar& tabs() { return *m_tabs; }
    std::vector<KpiTile::Content> tiles() const;

private:
    void showTiles(std::vector<KpiTile::Content> contents);
    void showPart(int part);

    PageContext& m_context;
    QWidget* m_tileRow;
    std::vector<KpiTile*> m_tiles;
    QTabBar* m_tabs;
    QWidget* m_tabRow;
    QLabel* m_note;
    DiffTensors* m_tensors;
    std::optional<DiffPair> m_pair;
    DiffPointer m_diff; ///< null: touched
    TouchedPointer m_touched;
};

} // namespace deltascope::desktop
