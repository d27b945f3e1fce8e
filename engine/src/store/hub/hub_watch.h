#pragma once

#include "bucket_api.h"
#include "deltascope/engine/object_store.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace deltascope::hub {

/// "Something may have changed", from those who learn of it to the one who waits. Any thread.
class HubSignal {
public:
    void raise();
    /// True once it was raised since the last true; false when the time is over.
    bool wait(std::chrono::milliseconds time);

private:
    std::mutex m_mutex; ///< guards what follows
    std::condition_variable m_changed;
    bool m_isRaised = false;
};

/// How long a watch waits for what. Silence, pauses and the three sessions are those of huggingface_hub 2.4.0,
/// _bucket_live_follow.py.
struct FollowTimes {
    std::chrono::milliseconds silence { 90'000 }; ///< without a byte the stream is dead; the server pings every 30 s
    std::chrono::milliseconds reconnect { 1'000 };
    std::chrono::milliseconds firstPause { 10'000 }, longestPause { 80'000 }; ///< after what went wrong
    std::chrono::milliseconds poll { 5'000 };
    std::chrono::milliseconds streamAgain { 600'000 }; ///< after polling because of what may pass
    std::chrono::milliseconds lookAnyway { 600'000 }; ///< wait() is true at least so often, whatever the hub says
};

/// Follows the changes of a bucket below `front` ("" or a prefix with its slash): by its stream of events, and where
/// there is none, by looking whether its "updatedAt" has moved. It never ends by itself: the next listing
/// reports what fails. `signal`: also raised by the store for its own changes.
/// Errors: Auth, NotFound (of the bucket), Io (no thread).
Result<std::unique_ptr<StoreWatch>> watchBucket(std::shared_ptr<const BucketApi> bucket, std::string front,
                                                std::shared_ptr<HubSignal> signal, const FollowTimes& times = {});

} // namespace deltascope::hub
