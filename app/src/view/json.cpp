#include "deltascope/app/view/json.h"

#include "json_parts.h"
#include "materialize_description.h"
#include "run_description.h"
#include "verify_description.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace deltascope::app {

std::string dumpText(const std::string& text)
{
    const auto isPlain = [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; };
    return std::all_of(text.begin(), text.end(), isPlain) ? '"' + text + '"' : dump(text);
}

std::string toJson(const RunView& view) { return dump(written(view)); }

std::string stepToJson(const StepView& view) { return dump(written(view)); }

std::string toJson(const ListingView& view) { return dump(written(view)); }

std::string toJson(const VerifyView& view) { return dump(written(view)); }

std::string toJson(const MaterializeView& view) { return dump(written(view)); }

std::string toJson(const PublishView& view)
{
    return dump({ { "source", view.source },
                  { "layout", view.layout },
                  { "steps", written(view.steps) },
                  { "steps_in_all", view.stepsInAll },
                  { "nothing_changed", view.nothingChanged },
                  { "notices", view.notices },
                  { "rewritten", view.reads.rewritten },
                  { "seconds", view.seconds } });
}

std::string toJson(const DoctorView& view)
{
    ordered_json checks = ordered_json::array();
    for (const CheckView& check : view.checks)
        checks.push_back({ { "name", check.name },
                           { "ok", check.ok },
                           { "essential", check.essential },
                           { "detail", check.detail } });
    return dump({ { "ok", view.ok }, { "checks", std::move(checks) } });
}

std::string errorToJson(const ProblemView& problem) { return dump({ { "error", written(problem) } }); }

} // namespace deltascope::app
