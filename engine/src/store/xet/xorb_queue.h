#pragma once

#include "deltascope/base/result.h"
#include "deltascope/base/task.h"
#include "store/xet/xorb_post.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace deltascope::xet {

/// Sends xorbs in the background. The methods are for one thread.
class XorbQueue {
public:
    using Watcher = std::function<Result<void>(const Hash& xorb, std::uint64_t bytes)>;

    /// At most `sends` xorbs are here at once. `watcher`: UploadOptions::onXorb.
    XorbQueue(CasClient& cas, unsigned sends, Watcher watcher)
        : m_sends(sends)
        , m_watcher(std::move(watcher))
        , m_post(cas)
    {
    }
    /// Stops what is on its way.
    ~XorbQueue();
    XorbQueue(const XorbQueue&) = delete;
    XorbQueue& operator=(const XorbQueue&) = delete;

    /// Waits for room. Errors: the first of any xorb so far, or Canceled; then nothing more is sent.
    Result<void> push(const Hash& xorb, std::vector<std::byte> body, TaskContext& task);
    /// Waits until all are sent. Errors: as push().
    Result<void> drain(TaskContext& task);
    /// Memory of a body that was sent, to be used again; or none.
    std::vector<std::byte> takeSpare();
    std::uint64_t sentBytes() const;

private:
    struct Parcel {
        Hash xorb;
        std::vector<std::byte> bytes;
    };

    void run();
    Result<void> sendParcel(const Parcel& parcel);
    /// Until at most `most` xorbs are left.
    Result<void> waitFor(std::size_t most, TaskContext& task);

    const unsigned m_sends;
    const Watcher m_watcher; ///< may be empty
    XorbPost m_post;
    TaskContext m_task; ///< of what is on its way
    mutable std::mutex m_mutex; ///< guards what follows
    std::condition_variable m_changed;
    std::deque<Parcel> m_waiting;
    std::size_t m_open = 0; ///< waiting, or on their way
    std::vector<std::vector<std::byte>> m_spares;
    std::optional<Error> m_error; ///< the first one
    std::uint64_t m_sentBytes = 0;
    bool m_isEnding = false;
    std::vector<std::jthread> m_threads; ///< used by the owner alone
};

} // namespace deltascope::xet
