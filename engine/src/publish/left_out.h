#pragma once

#include "deltascope/engine/trace.h"

#include <optional>
#include <string>
#include <vector>

namespace deltascope {

/// What a publisher writes beside the run of a checkpoint that it does not publish, so that those who come after it
/// know. `error.text` says why.
Span leftOutSpan(const std::string& label, const Error& error, int epoch, std::int64_t nowUs);

/// Those spans of an epoch by what they begin with, the newest of each checkpoint.
class LeftOut {
public:
    LeftOut(const Trace& trace, int epoch);

    /// Why a checkpoint was left out; nothing if no publisher said so. Its code and its text.
    std::optional<Error> find(const std::string& label) const;

private:
    std::vector<std::string> m_notes; ///< newest first
};

} // namespace deltascope
