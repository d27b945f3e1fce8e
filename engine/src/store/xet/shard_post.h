#pragma once

#include "deltascope/base/result.h"
#include "deltascope/base/task.h"
#include "deltascope/engine/http_retry.h"
#include "store/xet/cas_client.h"

#include <atomic>
#include <memory>
#include <string>

namespace deltascope::xet {

/// Registers shards: POST /v2/shards, whose answer is a row of lines that ends with what came of it, or POST /v1/shards
/// where the store does not have that. Any thread.
class ShardPost {
public:
    ShardPost(CasClient& cas, std::shared_ptr<http::RetryClock> clock)
        : m_cas(cas)
        , m_clock(std::move(clock))
    {
    }

    /// Returns once the store has registered it. Errors: NotFound or Io with `isRefused` (the store does not have a
    /// xorb of it, or dislikes the shard), and those of the store.
    Result<void> send(const std::string& shard, bool& isRefused, TaskContext& task);

private:
    struct Outcome {
        Result<void> result;
        bool isRetryable = false; ///< the store said so in a good answer, which nobody else repeats
        bool isRefused = false;
        bool isMissing = false; ///< there is no such call
    };

    Outcome sendOnce(bool isSecondForm, const std::shared_ptr<const http::Body>& body, TaskContext& task);

    CasClient& m_cas;
    const std::shared_ptr<http::RetryClock> m_clock;
    std::atomic<bool> m_hasV2 = true;
};

} // namespace deltascope::xet
