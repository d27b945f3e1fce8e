#pragma once

#include "deltascope/engine/http.h"

#include <string>

namespace deltascope::hub {

/// What a request is about, for texts.
struct Subject {
    std::string what; ///< "bucket ns/name", "model org/name"
    std::string where; ///< the key; empty: it is about all of it
};

/// What an answer that is not good means: Auth, NotFound, Transient, Usage, Unsupported, Io. `hasToken`: one was sent.
/// Of the texts of the server, only its own error words are repeated, without control characters and cut.
/// X-Error-Code as in huggingface_hub 2.4.0, utils/_http.py, hf_raise_for_status.
Error hubError(const http::Response& answer, const Subject& subject, bool hasToken);

} // namespace deltascope::hub
