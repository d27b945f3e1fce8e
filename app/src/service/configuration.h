#pragma once

#include "deltascope/base/result.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope::app {

/// What the store of one kind takes, in money of any one currency.
struct StorePrices {
    std::optional<double> perGb; ///< for 10^9 bytes moved
    std::optional<double> perThousandRequests;

    bool operator==(const StorePrices&) const = default;
};

/// What the user's file says (docs/configuration.md).
struct Configuration {
    StorePrices anyPrices; ///< of stores that none are given for
    std::map<std::string, StorePrices, std::less<>> prices; ///< by the scheme of an address: "s3"
    std::vector<std::string> warnings; ///< keys that mean nothing, each with its line

    /// Of the store at an address.
    StorePrices pricesOf(std::string_view uri) const;
};

/// Reads the file; one that is not there says nothing. Errors: Usage (what it holds is wrong, with the line; it is no
/// regular file of at most 1 MiB), Io.
Result<Configuration> readConfiguration(const std::string& path);

/// The same of text; `where` is the file that errors name.
Result<Configuration> parseConfiguration(std::string_view text, const std::string& where);

} // namespace deltascope::app
