#pragma once

#include "state/step_cursor.h"

#include <QObject>
#include <QString>
#include <QTimer>

#include <vector>

namespace deltascope::desktop {

/// Back and forward over pages and cursor states, 100 deep. Moves that follow each other within a second are one
/// place, and the steps that following brings are none. GUI thread.
class ViewHistory final : public QObject {
    Q_OBJECT

public:
    struct Place {
        QString page;
        StepCursor::State cursor;

        bool operator==(const Place&) const = default;
    };

    explicit ViewHistory(QObject* parent = nullptr);

    void visit(const Place& place);
    bool canGoBack() const { return m_at > 0; }
    bool canGoForward() const { return m_at + 1 < m_places.size(); }
    void goBack();
    void goForward();
    void clear();

signals:
    void changed();
    void goTo(const deltascope::desktop::ViewHistory::Place& place);

private:
    std::vector<Place> m_places;
    std::size_t m_at = 0; ///< the present one
    QTimer m_settling; ///< while it runs the present place is replaced
    bool m_going = false;
};

} // namespace deltascope::desktop
