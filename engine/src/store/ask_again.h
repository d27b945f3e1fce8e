#pragma once

#include "deltascope/engine/http_retry.h"

#include <chrono>
#include <utility>

namespace deltascope {

/// Asks until `isDamaged` is false of the outcome, three times at most: an answer of good status can be cut, or be
/// another one, by what stands between the server and this program.
template <class Ask, class IsDamaged>
auto askAgain(const Ask& ask, const IsDamaged& isDamaged, TaskContext& task,
              http::RetryClock& clock = *http::systemRetryClock()) -> decltype(ask())
{
    constexpr int MostAsks = 3;
    constexpr auto Pause = std::chrono::milliseconds(200);
    for (int asks = 1;; ++asks) {
        auto outcome = ask();
        if (asks == MostAsks || !isDamaged(outcome))
            return outcome;
        DS_CHECK(clock.pause(Pause * asks, task));
    }
}

} // namespace deltascope
