#pragma once

#include "deltascope/base/result.h"
#include "deltascope/base/task.h"

#include <chrono>
#include <cstdint>
#include <string>

namespace deltascope::xet {

/// What a content-addressed store demands. The token is a secret.
struct Access {
    std::string accessToken;
    std::chrono::system_clock::time_point expires;
    std::string casUrl; ///< may have a path of its own; with or without '/' at its end
};

enum class Scope : std::uint8_t {
    Read,
    Write, ///< reads too
};

/// Gives access to the store of one bucket. Any thread.
class AccessSource {
public:
    virtual ~AccessSource() = default;
    /// What is known and does not expire within a minute, or a new one. `refresh`: a new one in any case, since what
    /// was given before has been refused. Errors: those of the Hub; Auth, NotFound, Transient, Canceled.
    virtual Result<Access> access(Scope scope, bool refresh, TaskContext& task) = 0;
};

} // namespace deltascope::xet
