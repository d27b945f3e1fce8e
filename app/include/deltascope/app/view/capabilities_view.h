#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace deltascope::app {

/// Describes a daemon and the client that asks.
struct CapabilitiesView {
    int apiVersion = 1;
    std::string version;
    bool readOnly = true; ///< acts are off at start, whatever the scopes
    bool signedIn = true;
    std::string principal; ///< who asks: "local", or the name of a token
    std::vector<std::string> scopes; ///< read act admin
    std::vector<std::string> backends; ///< "avx2", …
    bool demo = false; ///< one of the runs is a demo
    std::int64_t nowUs = 0; ///< microseconds since 1970, by the daemon's clock
};

} // namespace deltascope::app
