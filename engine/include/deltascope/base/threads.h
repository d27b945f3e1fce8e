#pragma once

#include "deltascope/base/result.h"

#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace deltascope {

/// What `work` returns, a Result. An exception becomes an error. Errors: Internal (it throws).
template <class Work> std::invoke_result_t<Work&> caught(Work&& work)
{
    try {
        return work();
    } catch (const std::bad_alloc&) {
        return fail(Code::Internal, "out of memory", {}, "give the program more memory, or fewer threads");
    } catch (const std::exception& problem) {
        return fail(Code::Internal, std::string("unexpected: ") + problem.what());
    } catch (...) {
        return fail(Code::Internal, "unexpected failure");
    }
}

/// Starts a thread that does `work`. Errors: Io (the system gives none).
template <class Work> Result<std::jthread> startThread(Work&& work)
{
    std::string why;
    try {
        return std::jthread(std::forward<Work>(work));
    } catch (const std::system_error& problem) {
        why = problem.what();
    } catch (const std::bad_alloc&) {
        why = "out of memory";
    }
    return fail(Code::Io, "the system gives no thread: " + why, {},
                "raise the limits of processes and memory (ulimit -u, ulimit -v), or end other programs");
}

/// Calls `work` on `count` threads at once, the calling one included, and waits for all of them. Where the system gives
/// fewer threads, fewer call it. `work` throws nothing.
template <class Work> void runOnThreads(std::size_t count, const Work& work)
{
    std::vector<std::jthread> others; // joined at the end
    for (std::size_t i = 1; i < count; ++i) {
        Result<std::jthread> other = startThread([&work] { work(); });
        if (!other)
            break;
        others.push_back(std::move(*other));
    }
    work();
}

} // namespace deltascope
