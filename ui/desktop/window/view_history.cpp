#include "window/view_history.h"

namespace deltascope::desktop {

namespace {

constexpr std::size_t MostPlaces = 100;
constexpr int SettlingMs = 1000;

}

ViewHistory::ViewHistory(QObject* parent)
    : QObject(parent)
{
    m_settling.setSingleShot(true);
    m_settling.setInterval(SettlingMs);
}

void ViewHistory::visit(const Place& place)
{
    if (m_going || (!m_places.empty() && m_places[m_at] == place))
        return;
    const bool same = !m_places.empty() && m_places[m_at].page == place.page;
    const bool followed = same && m_places[m_at].cursor.follow && place.cursor.follow;
    if (followed || (same && m_settling.isActive())) {
        m_places[m_at] = place;
    } else {
        m_places.resize(m_places.empty() ? 0 : m_at + 1);
        m_places.push_back(place);
        if (m_places.size() > MostPlaces)
            m_places.erase(m_places.begin());
        m_at = m_places.size() - 1;
    }
    m_settling.start();
    emit changed();
}

void ViewHistory::goBack()
{
    if (!canGoBack())
        return;
    --m_at;
    m_going = true;
    emit goTo(m_places[m_at]);
    m_going = false;
    emit changed();
}

void ViewHistory::goForward()
{
    if (!canGoForward())
        return;
    ++m_at;
    m_going = true;
    emit goTo(m_places[m_at]);
    m_going = false;
    emit changed();
}

void ViewHistory::clear()
{
    m_places.clear();
    m_at = 0;
    emit changed();
}

} // namespace deltascope::desktop
