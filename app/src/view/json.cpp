#include "deltascope/app/view/json.h"

#include "doctor_description.h"
#include "json_parts.h"
#include "materialize_description.h"
#include "publish_description.h"
#include "run_description.h"
#include "verify_description.h"

namespace deltascope::app {

std::string toJson(const RunView& view) { return dump(written(view)); }

std::string stepToJson(const StepView& view) { return dump(written(view)); }

std::string toJson(const ListingView& view) { return dump(written(view)); }

std::string toJson(const VerifyView& view) { return dump(written(view)); }

std::string toJson(const MaterializeView& view) { return dump(written(view)); }

std::string toJson(const PublishView& view) { return dump(written(view)); }

std::string toJson(const DoctorView& view) { return dump(written(view)); }

std::string backendKeysToJson(const std::optional<DeviceShareView>& share, const std::vector<ProblemView>& notices)
{
    ordered_json keys = ordered_json::object();
    if (share) {
        keys["device_bytes"] = share->byDevice;
        keys["batch_bytes"] = share->all();
    }
    for (const ProblemView& notice : notices)
        keys["backend_notices"].push_back(written(notice));
    std::string text = dump(keys);
    return keys.empty() ? std::string() : "," + text.substr(1, text.size() - 2);
}

std::string errorToJson(const ProblemView& problem) { return dump({ { "error", written(problem) } }); }

} // namespace deltascope::app
