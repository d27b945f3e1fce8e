#include "hub_listings.h"

#include <algorithm>

namespace deltascope::hub {

namespace {

constexpr std::size_t MostListings = 4;
constexpr std::size_t MostWaitingObjects = 1'000'000; // one listing may be larger, alone
constexpr std::chrono::seconds KeptFor { 30 };

} // namespace

std::optional<ListPage> HubListings::next(const ListRequest& request, Time now)
{
    const std::lock_guard lock(m_mutex);
    m_waiting.remove_if([&](const Waiting& one) { return now - one.since > KeptFor; });
    const auto found = std::find_if(m_waiting.begin(), m_waiting.end(), [&](const Waiting& one) {
        return one.prefix == request.prefix && one.lastKey == request.startAfter;
    });
    if (found == m_waiting.end() || request.startAfter.empty())
        return std::nullopt;
    Waiting waiting = std::move(*found);
    m_waiting.erase(found); // whoever asks once more gets what is there then
    return page(request, std::move(waiting), now);
}

ListPage HubListings::first(const ListRequest& request, Objects all, Time now, std::uint64_t generation)
{
    const std::lock_guard lock(m_mutex);
    Waiting waiting;
    waiting.prefix = request.prefix;
    const auto begin = std::upper_bound(all.begin(), all.end(), request.startAfter,
                                        [](const std::string& key, const ObjectInfo& one) { return key < one.key; });
    waiting.at = static_cast<std::size_t>(begin - all.begin());
    waiting.all = std::move(all);
    ListPage made = page(request, std::move(waiting), now);
    if (generation != m_generation)
        m_waiting.clear();
    return made;
}

ListPage HubListings::page(const ListRequest& request, Waiting waiting, Time now)
{
    ListPage made;
    Objects& all = waiting.all;
    const std::size_t end = waiting.at + std::min(request.maxKeys, all.size() - waiting.at);
    for (; waiting.at < end; ++waiting.at)
        made.objects.push_back(std::move(all[waiting.at]));
    made.more = end < all.size();
    if (!made.more)
        return made;
    waiting.lastKey = made.objects.back().key;
    waiting.since = now;
    m_waiting.push_back(std::move(waiting));
    std::size_t objects = 0;
    for (const Waiting& one : m_waiting)
        objects += one.all.size();
    while (m_waiting.size() > 1 && (m_waiting.size() > MostListings || objects > MostWaitingObjects)) {
        objects -= m_waiting.front().all.size();
        m_waiting.pop_front();
    }
    return made;
}

void HubListings::drop()
{
    const std::lock_guard lock(m_mutex);
    m_waiting.clear();
    ++m_generation;
}

std::uint64_t HubListings::generation() const
{
    const std::lock_guard lock(m_mutex);
    return m_generation;
}

} // namespace deltascope::hub
