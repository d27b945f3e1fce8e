#pragma once

#include "bridge/calculation.h"

#include <QFrame>
#include <QTimer>

class QLabel;
class QPushButton;

namespace deltascope::desktop {

class DemoRun;
struct PageContext;

/// Says above the pages that what they show is made up, what it takes on the disk, and how to get rid of it; visible
/// while the demo is shown. GUI thread.
class DemoStrip final : public QFrame {
    Q_OBJECT

public:
    DemoStrip(PageContext& context, DemoRun& demo, QWidget* parent = nullptr);

    QString text() const;

    void showFiles();
    void restart();
    void stopAndDelete();

signals:
    void restarted(const QString& run);
    void deleted();
    void failed(const QString& text);

private:
    void look();
    void count();
    void setEnding(const QString& text); ///< empty: it goes on

    PageContext& m_context;
    DemoRun& m_demo;
    QLabel* m_text;
    QWidget* m_buttons;
    QTimer m_clock; ///< counts anew
    Calculation<std::uint64_t> m_size;
};

} // namespace deltascope::desktop
