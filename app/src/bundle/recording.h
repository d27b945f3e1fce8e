#pragma once

#include "server/http.h"

#include "deltascope/app/monitor.h"
#include "deltascope/base/result.h"

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace deltascope::bundle {

/// What the HTTP API answers about one run at one moment.
struct Recording {
    std::string run; ///< id
    /// Texts of JSON as they came, by address below /api/v1/; "?epoch=N" is the only query of a run's answers. A tree
    /// of them would take many times their size.
    std::map<std::string, std::string> answers;
    std::map<std::string, std::string> tiles; ///< bodies by address
    std::vector<int> epochs;
    nlohmann::ordered_json listing; ///< of the bucket
    std::shared_ptr<const app::RunSnapshot> snapshot; ///< of that moment
    std::vector<std::string> leftOut; ///< what is not in it, as parts of sentences

    nlohmann::ordered_json answer(const std::string& address) const
    {
        return nlohmann::ordered_json::parse(answers.at(address));
    }
    nlohmann::ordered_json of(const std::string& what) const { return answer("runs/" + run + "/" + what); }
};

/// Asked now and then whether to give up.
using Stopped = std::function<bool()>;

/// `api` shows one moment; `snapshot` is left to the caller. Errors: those of the API; Canceled.
Result<Recording> record(server::Api& api, const std::string& run, const Stopped& stopped);

} // namespace deltascope::bundle
