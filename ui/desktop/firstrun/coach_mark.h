#pragma once

#include <QFrame>

class QLabel;
class QPushButton;

namespace deltascope::desktop {

/// A hint beside a part of the window, which it frames and never covers. Esc or its button dismiss it. A child of the
/// window, above everything else in it. GUI thread.
class CoachMark final : public QFrame {
    Q_OBJECT

public:
    explicit CoachMark(QWidget* window);

    void setText(const QString& title, const QString& text, const QString& count);
    QString text() const; ///< title and text
    /// Shows it beside `target`, in coordinates of the window. False, and hidden, where there is no room.
    bool pointAt(const QRect& target);
    void dismiss(); ///< hides it and gives the focus back
    void takeFocus();
    const QRect& target() const { return m_target; } ///< empty: hidden

signals:
    void dismissed();
    void allDismissed();

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    class Frame;

    Frame* m_frame; ///< around the target
    QLabel* m_title;
    QLabel* m_text;
    QLabel* m_count;
    QPushButton* m_done;
    QWidget* m_focusBefore = nullptr; ///< only compared with what has the focus
    QRect m_target;
};

/// Where something of this size stands beside the target, within `room`: below, above, right, left; nothing: nowhere.
QRect besideOf(const QRect& target, const QSize& size, const QRect& room);

} // namespace deltascope::desktop
