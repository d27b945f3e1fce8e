#include "deltascope/engine/parallel.h"
#include "deltascope/base/threads.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>

namespace deltascope {

Result<void> forEachParallel(unsigned threads, std::size_t count, TaskContext& task,
                             const std::function<Result<void>(std::size_t)>& work)
{
    // Items are taken in order by a shared counter, so callers can put the largest first.
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> failed = false;
    std::mutex mutex;
    std::optional<Error> first;
    const auto runner = [&] {
        for (;;) {
            const std::size_t i = next.fetch_add(1);
            if (i >= count || failed.load(std::memory_order_relaxed))
                return;
            Result<void> outcome = task.checkpoint();
            if (outcome)
                outcome = caught([&] { return work(i); });
            if (outcome)
                continue;
            const std::lock_guard lock(mutex);
            if (!first)
                first = std::move(outcome.error());
            failed = true;
        }
    };
    runOnThreads(std::min<std::size_t>(std::max(1U, threads), count), runner);
    if (first)
        return fail(std::move(*first));
    return {};
}

} // namespace deltascope
