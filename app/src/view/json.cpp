#include "deltascope/app/view/json.h"

#include "doctor_description.h"
#include "json_parts.h"
#include "materialize_description.h"
#include "publish_description.h"
#include "run_description.h"
#include "verify_description.h"

#include <algorithm>

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

std::string toJson(const PublishView& view) { return dump(written(view)); }

std::string toJson(const DoctorView& view) { return dump(written(view)); }

std::string errorToJson(const ProblemView& problem) { return dump({ { "error", written(problem) } }); }

} // namespace deltascope::app
