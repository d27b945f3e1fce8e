#pragma once

#include "deltascope/app/events.h"
#include "view/io/schema.h"

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope::app {

/// What an act ends with, on the wire: reportOf() (report_of.h) makes it of a view with a description.
struct ActReport {
    nlohmann::ordered_json (*written)(const JobResult& result); ///< null: it is the result of something else
    JobResult (*read)(const nlohmann::json& from); ///< throws Unfit
    std::string (*addTo)(Schema& schema); ///< its name there
};

/// The report of an act of this kind, as typed() (view/io/forms.h) needs it.
struct ReportType {
    std::string_view kind; ///< ActInfo::kind; where there is no such act, there is no report

    nlohmann::ordered_json written(const JobResult& result) const;
    std::optional<JobResult> read(const nlohmann::json& from) const;
    static std::vector<std::string> addTo(Schema& schema); ///< the names of those of all acts
};

} // namespace deltascope::app
