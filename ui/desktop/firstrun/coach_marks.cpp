#include "firstrun/coach_marks.h"

#include "firstrun/coach_mark.h"

#include <QRect>
#include <QSettings>
#include <QStringList>
#include <QWidget>

#include <algorithm>
#include <utility>

namespace deltascope::desktop {

namespace {

constexpr int LookMs = 150;
const QString SeenKey = QStringLiteral("firstrun/seen");

QStringList seenHints() { return QSettings().value(SeenKey).toStringList(); }

}

CoachMarks::CoachMarks(QWidget* window, std::vector<Hint> hints)
    : QObject(window)
    , m_hints(std::move(hints))
    , m_mark(new CoachMark(window))
{
    m_clock.setInterval(LookMs);
    connect(&m_clock, &QTimer::timeout, this, &CoachMarks::look);
    connect(m_mark, &CoachMark::dismissed, this, &CoachMarks::dismiss);
    connect(m_mark, &CoachMark::allDismissed, this, &CoachMarks::dismissAll);
}

void CoachMarks::setOn(bool on)
{
    m_on = on;
    const QStringList seen = seenHints();
    const bool any =
        std::any_of(m_hints.begin(), m_hints.end(), [&](const Hint& hint) { return !seen.contains(hint.id); });
    if (on && any)
        return m_clock.start();
    m_clock.stop();
    m_shown.clear();
    m_mark->dismiss();
}

void CoachMarks::look()
{
    const QStringList seen = seenHints();
    for (std::size_t i = 0; i < m_hints.size(); ++i) {
        const Hint& hint = m_hints[i];
        const QRect where = seen.contains(hint.id) ? QRect() : hint.where();
        if (where.isEmpty())
            continue;
        if (std::exchange(m_shown, hint.id) != hint.id)
            m_mark->setText(hint.title, hint.text, tr("%1 of %2").arg(i + 1).arg(m_hints.size()));
        if (m_mark->pointAt(where))
            return;
    }
    m_shown.clear();
    m_mark->dismiss();
}

void CoachMarks::focusMark()
{
    if (!m_shown.isEmpty())
        m_mark->takeFocus();
}

void CoachMarks::dismiss() { remember(seenHints() << m_shown); }

void CoachMarks::dismissAll()
{
    QStringList all;
    for (const Hint& hint : m_hints)
        all += hint.id;
    remember(all);
}

void CoachMarks::startAnew() { remember({}); }

void CoachMarks::remember(const QStringList& seen)
{
    QSettings().setValue(SeenKey, seen);
    m_shown.clear();
    m_mark->dismiss();
    setOn(m_on);
}

} // namespace deltascope::desktop
