#pragma once

#include "deltascope/engine/object_store.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

// What actors write beside a run, under ".deltascope/v1/" where no foreign reader looks (docs/formats/ds-facts.md):
// spans tell when something was done, heartbeats how a replica is. Times are microseconds since 1970 by the actor's own
// clock.

/// One stretch of work, or a sentence for people (isNote()). Readers take unknown phases in their stride.
struct Span {
    static constexpr std::string_view Note = "note";
    static constexpr std::string_view LeftOut = "left-out"; ///< of a publisher: the note names a checkpoint and why

    std::string actor; ///< "publisher", "r1"
    std::string phase; ///< "diff", "upload", "fetch", "verify", "pause", "apply", "sync" (the whole), Note, LeftOut, …
    std::int64_t step = -1; ///< -1: of none
    int epoch = 0;
    std::int64_t t0Us = 0; ///< 0: when it was is not known, and t1Us is how long it took
    std::int64_t t1Us = 0;
    std::uint64_t bytes = 0;
    std::string note; ///< for people; may be empty

    bool isNote() const noexcept { return phase == Note || phase == LeftOut; }
    bool hasPlace() const noexcept { return t0Us > 0; }
    std::int64_t lengthUs() const noexcept { return t1Us - t0Us; }
};

/// The newest word of a replica.
struct Heartbeat {
    std::string id;
    std::string engine; ///< "demo", "vllm", "sglang"
    std::string endpoint;
    std::string state; ///< "serving", "fetching", "paused", "stalled", "digest-mismatch", …
    std::int64_t step = -1; ///< that it serves; -1: none yet
    int epoch = 0;
    std::int64_t tUs = 0;
    double periodSeconds = 1; ///< a heartbeat is late after three of them
    std::string detail;
    /// When this step was first said, by the time of the object that said it, as far as its reader has seen. Not in the
    /// object.
    std::int64_t stepSinceUs = 0;
};

class SpanTidy;

/// Collects the spans of one actor and puts them as objects, since stores cannot append. Old ones are merged where the
/// store lets objects be removed: once there are more than 128, the oldest 64 become one. Any thread.
class SpanWriter {
public:
    /// Spans are lost on errors, never the work that they tell of. `actor`: letters, digits, '-', '_'. `stops`: the
    /// task of that work, which outlives this: once it is stopped, no call waits longer than a quarter of a second for
    /// the store. Null: as long as the store takes.
    SpanWriter(std::shared_ptr<ObjectStore> store, std::string actor, const TaskContext* stops = nullptr);
    ~SpanWriter(); ///< flushes
    SpanWriter(const SpanWriter&) = delete;
    SpanWriter& operator=(const SpanWriter&) = delete;

    /// Sets the actor; puts an object once 64 KiB or 10 s have come together.
    void add(Span span);
    void flush();

private:
    void flushLocked();
    void put(TaskContext& task);

    std::shared_ptr<ObjectStore> m_store;
    std::string m_actor;
    const TaskContext* m_stops;
    std::string m_folder; ///< of the actor, with its slash
    std::mutex m_mutex; ///< guards what follows
    std::string m_lines;
    std::int64_t m_firstUs = 0; ///< end of the first span in m_lines
    std::int64_t m_next = 1; ///< number of the next object
    std::unique_ptr<SpanTidy> m_tidy;
};

/// Puts the heartbeat of a replica in place of its last one.
Result<void> putHeartbeat(ObjectStore& store, const Heartbeat& heartbeat, TaskContext& task);

/// What stands beside a run. Lines and files that cannot be read are left out: they are no part of the run.
struct Trace {
    std::vector<Span> spans; ///< by end
    std::vector<Heartbeat> replicas; ///< by id
};

/// Reads a trace, and each object of it once: the newest spans first, and no more of them than are kept.
class TraceReader {
public:
    static constexpr std::size_t MostSpans = 5'000;

    /// `beside`: a listing of the source below ".deltascope/" (Run::beside), in byte order of keys. At most MostSpans
    /// are kept, the newest. An object of spans that cannot be read is read the next time; a heartbeat that cannot be
    /// is the last one that could.
    /// Errors: Canceled.
    Result<Trace> read(const ObjectStore& store, const std::vector<ObjectInfo>& beside, TaskContext& task);
    /// Lists first. Errors: also those of listing.
    Result<Trace> read(const ObjectStore& store, TaskContext& task);

private:
    struct KnownReplica {
        std::string identity;
        std::optional<Heartbeat> heartbeat; ///< nothing: the object says none
    };
    std::size_t addSpans(const std::string& key, std::string_view text);
    Result<void> readSpans(const ObjectStore& store, std::vector<ObjectInfo> objects, TaskContext& task);
    Result<void> readReplicas(const ObjectStore& store, std::vector<ObjectInfo> objects, TaskContext& task);

    /// Objects of spans that were read, or that hold nothing new enough; also by the keys that they had before they
    /// were merged.
    std::set<std::string> m_seen;
    std::vector<Span> m_spans; ///< by end
    std::map<std::string, KnownReplica, std::less<>> m_replicas; ///< by key
};

} // namespace deltascope
