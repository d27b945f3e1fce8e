#pragma once

#include "deltascope/engine/operations.h"
#include "deltascope/engine/trace.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <shared_mutex>
#include <string>

namespace deltascope::app {

/// An inference worker of the demo: follows the run object by object as a receiver does, proves each version against
/// the root that its publisher recorded, pauses, swaps its checkpoint on disk, resumes, and tells of it in spans and
/// heartbeats. Only the model that it would serve is missing.
class DemoReplica {
public:
    struct Places {
        std::shared_ptr<ObjectStore> bucket;
        std::string folder; ///< its own; exists
        std::shared_mutex& gate; ///< held while the bucket is being changed by hand
    };
    /// `id`: "r1". `bench` is its own. `stops`: the task of run(), which outlives this.
    DemoReplica(std::string id, Workbench bench, Places places, std::uint64_t seed, const TaskContext& stops);

    /// Works until the task is stopped.
    void run(TaskContext& task);
    /// Does nothing for so long, as a worker that hangs in a long generation. Any thread.
    void stallUntil(std::int64_t us) noexcept { m_stalledUntilUs = us; }
    /// The step that it serves; -1 before the first. Any thread.
    std::int64_t step() const noexcept { return m_step; }

private:
    struct Offer {
        std::string key;
        std::int64_t step = 0;
        bool anchor = false;
    };

    Result<std::optional<Offer>> nextOffer(TaskContext& task) const;
    Result<void> takeOffer(const Offer& offer, TaskContext& task);
    Result<void> fetch(const Offer& offer, TaskContext& task);
    Result<void> rebuild(const Offer& offer, TaskContext& task);
    Result<void> swap(const Offer& offer, TaskContext& task);
    void beat(const std::string& state, const std::string& detail, TaskContext& task);
    void span(const std::string& phase, std::int64_t step, std::int64_t startedUs, std::uint64_t bytes);
    std::string inOwn(const std::string& name) const { return m_places.folder + "/" + name; }

    std::string m_id;
    Workbench m_bench;
    Places m_places;
    bool m_remote; ///< a look at the bucket is a request
    std::mt19937_64 m_random;
    SpanWriter m_spans;
    std::atomic<std::int64_t> m_step = -1;
    std::atomic<std::int64_t> m_stalledUntilUs = 0;
    std::string m_state;
    std::int64_t m_beatUs = 0;
    bool m_waitsForAnchor = false; ///< a version failed: what builds on it cannot be used
    std::int64_t m_refusedUs = 0;
    std::string m_trouble;
};

} // namespace deltascope::app
