#pragma once

#include "deltascope/app/service.h"

#include "terminal.h"

#include <functional>
#include <string>
#include <vector>

namespace deltascope::cli {

/// The options of `serve` and `demo --serve`.
struct ServeOptions {
    std::vector<std::string> sources;
    std::string listen = "127.0.0.1:7717";
    std::string unixSocket;
    std::string basePath = "/";
    std::string tokenFile;
    std::string authProxyHeader;
    std::vector<std::string> authProxyFrom;
    std::string tlsCertificate;
    std::string tlsKey;
    bool insecureHttp = false;
    std::vector<std::string> allowedHosts;
    std::vector<std::string> embedders;
    bool allowActs = false;
    std::string output = "checkpoints"; ///< folder that checkpoints are materialized in
    int verifyLevel = 2; ///< of the verification in the background
    std::string channels; ///< file of alert channels
    bool open = false; ///< show the page in this desktop's browser, if there is one
};

/// A source that is served.
struct ServedRun {
    app::SourceRequest source;
    std::string name;
    bool demo = false;
};

/// Follows the runs and serves them until `wait` returns. Prints where on stdout.
Result<void> serve(app::Service& service, const ServeOptions& options, const std::vector<ServedRun>& runs,
                   const Style& style, const std::function<Result<void>()>& wait);

} // namespace deltascope::cli
