#include "acts/report.h"

#include "acts/act.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace deltascope::app {

nlohmann::ordered_json ReportType::written(const JobResult& result) const
{
    const Result<const Act*> act = findAct(kind);
    return act ? (*act)->report.written(result) : nlohmann::ordered_json(nullptr);
}

std::optional<JobResult> ReportType::read(const nlohmann::json& from) const
{
    const Result<const Act*> act = findAct(kind);
    return act ? std::optional((*act)->report.read(from)) : std::nullopt;
}

std::vector<std::string> ReportType::addTo(Schema& schema)
{
    std::vector<std::string> names;
    for (const Act& act : acts()) {
        std::string name = act.report.addTo(schema);
        if (std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(std::move(name));
    }
    return names;
}

} // namespace deltascope::app
