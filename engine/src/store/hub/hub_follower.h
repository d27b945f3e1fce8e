#pragma once

#include "follow_event.h"
#include "hub_watch.h"

#include <optional>
#include <string>

namespace deltascope::hub {

/// Where a stream goes on from.
struct ResumePoint {
    enum class Kind : std::uint8_t {
        None, ///< not known: list, and go on from the bucket's "updatedAt"
        Cursor, ///< behind what was told before
        Since, ///< a time of the server
        Live, ///< only what comes next
    };
    Kind kind = Kind::None;
    std::string value;
};

/// The thread of a watch.
class HubFollower {
public:
    /// `since`: the bucket's "updatedAt" when the watch began; empty: not known.
    HubFollower(std::shared_ptr<const BucketApi> bucket, std::string front, std::shared_ptr<HubSignal> signal,
                const FollowTimes& times, std::string since);

    /// Until the task is asked to stop.
    void run(TaskContext& task);

private:
    class Session;
    enum class Ended : std::uint8_t { Healthy, NotReady, Refused, Unfollowable };

    Ended follow(TaskContext& task, std::optional<std::chrono::milliseconds>& wanted);
    Ended endOf(const Result<http::Response>& outcome, const Session& session, TaskContext& task);
    void stepBack(TaskContext& task);
    void poll(TaskContext& task, std::optional<std::chrono::milliseconds> time);
    std::string updatedAt(TaskContext& task, std::optional<std::chrono::milliseconds>& wanted) const;
    bool pause(std::chrono::milliseconds time, TaskContext& task) const;
    std::optional<std::chrono::milliseconds> waitOf(const http::Response& answer) const;

    const std::shared_ptr<const BucketApi> m_bucket;
    const std::string m_front;
    const std::shared_ptr<HubSignal> m_signal;
    const FollowTimes m_times;
    ResumePoint m_resume;
    bool m_mayHaveMissed = false; ///< between two streams
};

} // namespace deltascope::hub
