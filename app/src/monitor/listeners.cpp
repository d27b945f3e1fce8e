#include "listeners.h"

#include "deltascope/base/threads.h"

#include <algorithm>

namespace deltascope::app {

std::shared_ptr<void> Listeners::add(Call call)
{
    auto known = std::make_shared<Listener>();
    known->call = std::move(call);
    const std::lock_guard lock(m_mutex);
    m_all.push_back(known);
    return std::shared_ptr<void>(nullptr, [known](void*) {
        const std::lock_guard calling(known->mutex); // what it refers to may go when the token is gone
        known->call = nullptr;
    });
}

void Listeners::tell(const std::vector<MonitorEvent>& events)
{
    std::vector<std::shared_ptr<Listener>> all;
    {
        const std::lock_guard lock(m_mutex);
        all = m_all;
    }
    std::vector<std::shared_ptr<Listener>> gone;
    for (const auto& listener : all) {
        const std::lock_guard calling(listener->mutex);
        if (!listener->call)
            gone.push_back(listener);
        const Result<void> heard = caught([&]() -> Result<void> {
            for (std::size_t i = 0; listener->call && i < events.size(); ++i)
                listener->call(events[i]);
            return {};
        });
        static_cast<void>(heard); // what one listener throws keeps nothing from the others
    }
    if (!gone.empty())
        forget(gone);
}

void Listeners::forget(const std::vector<std::shared_ptr<Listener>>& gone)
{
    const std::lock_guard lock(m_mutex);
    std::erase_if(m_all, [&](const std::shared_ptr<Listener>& listener) {
        return std::find(gone.begin(), gone.end(), listener) != gone.end();
    });
}

} // namespace deltascope::app
