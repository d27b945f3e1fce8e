#pragma once

#include "deltascope/engine/trace.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace deltascope {

/// What a publisher writes beside the run of a checkpoint that it does not publish, so that those who come after it
/// know. `error.text` says why.
Span leftOutSpan(const std::string& label, const Error& error, int epoch, std::int64_t nowUs);

/// The text of a note on checkpoints that are not published because a newer one holds their changes.
std::string passedOverNote(const std::vector<std::string>& labels, const std::string& why);

/// Those spans and notes of an epoch, the newest of each checkpoint.
class LeftOut {
public:
    LeftOut(const Trace& trace, int epoch);

    /// Why a checkpoint was left out; nothing if no publisher said so. Its code and its text.
    std::optional<Error> find(const std::string& label) const;
    bool isPassedOver(const std::string& label) const { return m_passedOver.contains(label); }

private:
    std::vector<std::string> m_notes; ///< newest first
    std::set<std::string> m_passedOver;
};

} // namespace deltascope
