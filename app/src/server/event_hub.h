#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope::server {

/// The events of the daemon, kept for a while so that a stream that broke goes on where it was. A stream holds nothing
/// but its position, so a client that stalls costs the others nothing. Any thread.
class EventHub {
public:
    using Clock = std::chrono::steady_clock;
    using Frame = std::shared_ptr<const std::string>; ///< as it goes over the wire

    static constexpr std::size_t kMaxEvents = 10'000;
    static constexpr std::size_t kMaxBytes = std::size_t(32) << 20;
    static constexpr std::chrono::minutes kMaxAge { 10 };
    static constexpr std::chrono::milliseconds kInterval { 100 }; ///< between two events of one coalescing key

    static constexpr std::uint64_t kLost = 0; ///< a position that is older than every event

    /// What a stream wants. Events without a run are for all.
    struct Filter {
        std::set<std::string, std::less<>> topics; ///< empty: all
        std::string run; ///< empty: all
    };
    struct Batch {
        std::vector<Frame> frames;
        std::uint64_t next = 0; ///< position to read from the next time
    };

    explicit EventHub(std::function<Clock::time_point()> now = Clock::now);

    /// `json` is one document. Of events with the same topic and key at most ten a second are sent, the newest ones.
    void publish(std::string_view topic, std::string_view run, std::string json, std::string_view coalesceKey = {});
    /// Sends the event at once. One of the same topic and key that is held back is older, and is never sent.
    void publishNow(std::string_view topic, std::string_view run, std::string json, std::string_view coalesceKey);

    /// Sends what was held back long enough. Returns when the next one is due, if one is held back.
    std::optional<Clock::duration> flush();

    /// The position behind the newest event.
    std::uint64_t end() const;
    /// The position behind the event with this id; nothing if later ones may be lost, or if another daemon gave it.
    std::optional<std::uint64_t> resume(std::string_view id) const;
    /// The id of the event before a position.
    std::string idAt(std::uint64_t position) const;
    /// Events from a position on, about `maxBytes` at most. If some were lost: one `reset`, and on from the end.
    Batch read(std::uint64_t position, const Filter& filter, std::size_t maxBytes) const;
    /// Tells a client to fetch everything again.
    Frame resetFrame() const;

    /// Called from any thread when there is something to flush or to read; nothing: never again.
    void setListener(std::function<void()> listener);

private:
    struct Event {
        Clock::time_point at;
        std::string topic;
        std::string run;
        Frame frame;
    };
    struct Pending {
        std::string run;
        std::string json;
    };
    struct Lane {
        Clock::time_point lastSent;
        std::optional<Pending> pending;
    };
    using LaneKey = std::pair<std::string, std::string>; // topic, coalescing key

    void append(std::string_view topic, std::string_view run, std::string_view json, Clock::time_point now);
    std::string idOf(std::uint64_t position) const;
    Frame makeFrame(std::uint64_t position, std::string_view topic, std::string_view json) const;
    void notify();

    const std::function<Clock::time_point()> m_now;
    const std::string m_instance; ///< first part of each id, another one in each daemon
    mutable std::mutex m_mutex;
    std::deque<Event> m_events;
    std::size_t m_bytes = 0;
    std::uint64_t m_first = 1; ///< position of m_events.front()
    std::map<LaneKey, Lane> m_lanes;
    std::mutex m_listenerMutex;
    std::function<void()> m_listener;
};

} // namespace deltascope::server
