#pragma once

#include "deltascope/base/result.h"

#include <string>

namespace deltascope::http {

/// The parts of an address as they stand in it; what does not is empty.
struct Url {
    std::string scheme; ///< in lower case
    std::string userInfo; ///< name, or name:password
    std::string host; ///< an IPv6 address with its brackets
    std::string port; ///< as it was written
    std::string path; ///< at least "/"
    std::string query; ///< without the '?'
    std::string fragment; ///< decoded, without the '#'

    /// Of any scheme. Errors: Usage; the text repeats nothing of what may be a secret.
    static Result<Url> parse(const std::string& text);

    bool isHttp() const { return scheme == "http" || scheme == "https"; }
    /// Host, and port unless it is the usual one of the scheme: as it stands in the Host of a request.
    std::string authority() const;
    /// For texts and logs: without user info, query and fragment, which may hold secrets.
    std::string publicText() const;
};

} // namespace deltascope::http
