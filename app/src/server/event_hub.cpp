#include "event_hub.h"

#include "secret.h"

#include "deltascope/base/bytes.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace deltascope::server {

EventHub::EventHub(std::function<Clock::time_point()> now)
    : m_now(std::move(now))
    , m_instance(randomHex(4))
{
}

void EventHub::publish(std::string_view topic, std::string_view run, std::string json, std::string_view coalesceKey)
{
    {
        const std::lock_guard lock(m_mutex);
        const Clock::time_point now = m_now();
        if (coalesceKey.empty()) {
            append(topic, run, json, now);
        } else {
            const auto [lane, isNew] = m_lanes.try_emplace(LaneKey(topic, coalesceKey));
            if (isNew || now - lane->second.lastSent >= kInterval) {
                append(topic, run, json, now);
                lane->second = Lane { now, std::nullopt };
            } else {
                lane->second.pending = Pending { std::string(run), std::move(json) };
            }
        }
    }
    notify();
}

void EventHub::publishNow(std::string_view topic, std::string_view run, std::string json, std::string_view coalesceKey)
{
    {
        const std::lock_guard lock(m_mutex);
        const Clock::time_point now = m_now();
        append(topic, run, json, now);
        m_lanes[LaneKey(topic, coalesceKey)] = Lane { now, std::nullopt };
    }
    notify();
}

std::optional<EventHub::Clock::duration> EventHub::flush()
{
    const std::lock_guard lock(m_mutex);
    const Clock::time_point now = m_now();
    std::optional<Clock::duration> next;
    for (auto lane = m_lanes.begin(); lane != m_lanes.end();) {
        const Clock::duration wait = lane->second.lastSent + kInterval - now;
        if (wait > Clock::duration::zero()) {
            if (lane->second.pending)
                next = std::min(next.value_or(wait), wait);
            ++lane;
        } else if (const std::optional<Pending> held = std::exchange(lane->second.pending, std::nullopt)) {
            append(lane->first.first, held->run, held->json, now);
            lane->second.lastSent = now;
            ++lane;
        } else {
            lane = m_lanes.erase(lane);
        }
    }
    return next;
}

void EventHub::append(std::string_view topic, std::string_view run, std::string_view json, Clock::time_point now)
{
    Frame frame = makeFrame(m_first + m_events.size(), topic, json);
    m_bytes += frame->size();
    m_events.push_back(Event { now, std::string(topic), std::string(run), std::move(frame) });
    while (m_events.size() > kMaxEvents || m_bytes > kMaxBytes || now - m_events.front().at > kMaxAge) {
        m_bytes -= m_events.front().frame->size();
        m_events.pop_front();
        ++m_first;
    }
}

std::uint64_t EventHub::end() const
{
    const std::lock_guard lock(m_mutex);
    return m_first + m_events.size();
}

std::string EventHub::idOf(std::uint64_t position) const { return fmt::format("{}-{}", m_instance, position); }

std::string EventHub::idAt(std::uint64_t position) const { return idOf(position - 1); }

EventHub::Frame EventHub::makeFrame(std::uint64_t position, std::string_view topic, std::string_view json) const
{
    auto frame = std::make_shared<std::string>(fmt::format("id: {}\nevent: {}\ndata: ", idOf(position), topic));
    // Line ends between JSON tokens would end the field; inside of strings JSON has none.
    std::replace_copy_if(
        json.begin(), json.end(), std::back_inserter(*frame), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    *frame += "\n\n";
    return frame;
}

EventHub::Frame EventHub::resetFrame() const { return makeFrame(end() - 1, "reset", "{}"); }

std::optional<std::uint64_t> EventHub::resume(std::string_view id) const
{
    const std::size_t dash = id.find('-');
    if (dash == std::string_view::npos || id.substr(0, dash) != m_instance)
        return std::nullopt;
    const std::optional<std::int64_t> number = parseNumber(id.substr(dash + 1));
    const std::lock_guard lock(m_mutex);
    const std::uint64_t end = m_first + m_events.size();
    if (!number || std::uint64_t(*number) >= end || std::uint64_t(*number) + 1 < m_first)
        return std::nullopt;
    return std::uint64_t(*number) + 1;
}

EventHub::Batch EventHub::read(std::uint64_t position, const Filter& filter, std::size_t maxBytes) const
{
    Batch batch;
    {
        const std::lock_guard lock(m_mutex);
        batch.next = m_first + m_events.size();
        if (position >= m_first) {
            std::size_t bytes = 0;
            for (std::uint64_t at = position; at < batch.next; ++at) {
                const Event& event = m_events[at - m_first];
                if (!filter.topics.empty() && !filter.topics.contains(event.topic))
                    continue;
                if (!filter.run.empty() && !event.run.empty() && event.run != filter.run)
                    continue;
                batch.frames.push_back(event.frame);
                bytes += event.frame->size();
                if (bytes >= maxBytes)
                    batch.next = at + 1;
            }
            return batch;
        }
    }
    batch.frames.push_back(resetFrame());
    return batch;
}

void EventHub::setListener(std::function<void()> listener)
{
    const std::lock_guard lock(m_listenerMutex);
    m_listener = std::move(listener);
}

void EventHub::notify()
{
    const std::lock_guard lock(m_listenerMutex);
    if (m_listener)
        m_listener();
}

} // namespace deltascope::server
