#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace deltascope {

/// Work that nobody waits for, carried out in its order by one thread of its own, or by the caller where the system
/// gives no thread. Any thread; a job adds no other one and throws nothing.
class SerialJobs {
public:
    using Job = std::function<void()>;

    /// `mostBytes`: how much waits at most. A larger job waits until no other one does.
    explicit SerialJobs(std::uint64_t mostBytes)
        : m_mostBytes(mostBytes)
    {
    }
    /// Carries out what was added.
    ~SerialJobs();
    SerialJobs(const SerialJobs&) = delete;
    SerialJobs& operator=(const SerialJobs&) = delete;

    /// `bytes`: how much memory the job holds until it is done. Waits for room.
    void add(std::uint64_t bytes, Job job);
    /// Waits until all that was added before is done.
    void finish();

private:
    struct Entry {
        std::uint64_t bytes = 0;
        Job job;
    };

    void run();

    const std::uint64_t m_mostBytes;
    std::mutex m_mutex; ///< guards what follows
    std::condition_variable m_changed;
    std::deque<Entry> m_entries; ///< the first one is being carried out
    std::uint64_t m_bytes = 0; ///< of them
    bool m_isEnding = false;
    std::jthread m_thread; ///< once there is something to do
};

} // namespace deltascope
