#pragma once

#include "deltascope/base/result.h"

#include <chrono>
#include <curl/curl.h>
#include <string>

namespace deltascope::http {

/// How a connection failed.
struct Failure {
    CURLcode result = CURLE_OK;
    std::string host; ///< and port
    std::string detail; ///< libcurl's own words; repeated only about TLS, where they hold no secret
    long systemError = 0; ///< errno of the connection; 0: none
    int status = 0; ///< of the last answer; 0: none came
    bool hasHead = false; ///< its headers are complete
    std::chrono::milliseconds connectWithin {};
};

Error errorOfFailure(const Failure& failure);

/// "1.5 s".
std::string secondsText(std::chrono::milliseconds time);

} // namespace deltascope::http
