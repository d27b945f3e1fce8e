#pragma once

#include "logs/log_parser.h"

#include <span>

namespace deltascope {

/// How a framework words one of its lines.
struct LogForm {
    std::string_view framework;
    LogMark mark = LogMark::None;
    /// A form (log_form.h); the line holds it anywhere. Its placeholders: {step}; {bytes} {MB} {GB} {MiB} of the wire;
    /// {changed%} {sparsity%} {sparsity}; {unpaused}: seconds of the sync before the pause; {n}: a number that we do
    /// not use; anything else: seconds of the phase of this name.
    std::string_view head;
    std::string_view details = {}; ///< forms separated by "|", each looked for behind the head and no loss if missing
    std::string_view pausedFrom = {}; ///< the engine stands still in this phase of the line and all behind it
    bool tellsTrouble = false; ///< people should see the text
};

/// All lines that we know; the first that fits counts.
std::span<const LogForm> logForms();

} // namespace deltascope
