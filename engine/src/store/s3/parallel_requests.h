#pragma once

#include "deltascope/base/threads.h"

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace deltascope::s3 {

/// Calls work(0) to work(count - 1), each once, at most `most` at the same time. Failures are the matter of `work`,
/// which must not throw. The threads wait for servers nearly all of their time.
template <class Work> void runRequests(unsigned most, std::size_t count, Work&& work)
{
    std::atomic<std::size_t> next = 0;
    const auto runner = [&] {
        for (std::size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1))
            work(i);
    };
    runOnThreads(std::min<std::size_t>(most, count), runner);
}

} // namespace deltascope::s3
