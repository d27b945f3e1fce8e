#pragma once

#include <QObject>
#include <QString>
#include <QTimer>

#include <functional>
#include <vector>

namespace deltascope::desktop {

class CoachMark;

/// Hints for who sees the program for the first time: one at a time, in their order, each until it was dismissed once.
/// What was dismissed is kept in the settings. GUI thread.
class CoachMarks final : public QObject {
    Q_OBJECT

public:
    struct Hint {
        QString id;
        QString title;
        QString text;
        std::function<QRect()> where; ///< in coordinates of the window; empty: not in sight now
    };
    CoachMarks(QWidget* window, std::vector<Hint> hints);

    void setOn(bool on); ///< off: none is shown
    const CoachMark& mark() const { return *m_mark; }
    QString shown() const { return m_shown; } ///< its id; empty: none is shown
    void focusMark();
    void dismiss();
    void dismissAll();
    void startAnew();

private:
    void look();
    void remember(const QStringList& seen);

    std::vector<Hint> m_hints;
    CoachMark* m_mark;
    QString m_shown;
    bool m_on = false;
    QTimer m_clock; ///< parts of the window move and scroll
};

} // namespace deltascope::desktop
