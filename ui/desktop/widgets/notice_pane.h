#pragma once

#include <QWidget>

class QScrollArea;

namespace deltascope::desktop {

/// A column that scrolls, and a notice that comes and goes: it stays in view above the column. GUI thread.
class NoticePane final : public QWidget {
    Q_OBJECT

public:
    /// Owns both. The top margin of the column's layout is the pane's: `padding` where there is no notice.
    NoticePane(QWidget* notice, QWidget* column, int padding);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void placeNotice();
    void uncover(const QWidget* focused);

    QWidget* m_above; ///< the notice and the padding around it
    QWidget* m_column;
    QScrollArea* m_scroll;
    int m_padding;
};

} // namespace deltascope::desktop
