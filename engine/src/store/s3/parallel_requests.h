#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

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
    std::vector<std::jthread> others; // joined at the end
    for (std::size_t i = 1; i < std::min<std::size_t>(most, count); ++i)
        others.emplace_back(runner);
    runner();
}

} // namespace deltascope::s3
