#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace deltascope::test {

/// Waits until `condition` holds, where nobody tells of it. False: it does not even after a minute.
inline bool eventually(const std::function<bool()>& condition)
{
    const auto giveUp = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > giveUp)
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

} // namespace deltascope::test
