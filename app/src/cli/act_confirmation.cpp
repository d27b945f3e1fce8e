#include "act_confirmation.h"

#include "service/new_file.h"
#include "service/small_file.h"

#include <fmt/format.h>
#include <initializer_list>
#include <nlohmann/json.hpp>

namespace deltascope::cli {

namespace {

using nlohmann::json;

/// What `--plan` wrote into a file.
Result<json> planIn(const std::string& path)
{
    constexpr std::size_t MostBytes = std::size_t { 64 } << 20;
    DS_TRY(const std::string text, app::readSmallFile(path, "plan", MostBytes));
    json planned = json::parse(text, nullptr, false);
    const auto plan = planned.is_object() ? planned.find("plan") : planned.end();
    if (plan == planned.end() || !plan->is_object() || !plan->contains("hash") || !plan->at("hash").is_string())
        return fail(Code::Usage, "the file holds no plan", path, "--plan FILE writes one");
    return planned;
}

/// Something that both say, and not the same; empty: nothing. What a plan is from and to and what it reads and writes
/// does not move while its hash stays.
std::string contradictionOf(const json& planned, const json& now)
{
    const auto compare = [](const json& a, const json& b, std::initializer_list<const char*> fields) -> std::string {
        for (const char* field : fields) {
            if (a.contains(field) && b.contains(field) && a[field] != b[field])
                return field;
        }
        return {};
    };
    const std::string outside = compare(planned, now, { "run", "into", "from", "to", "step", "name" });
    return outside.empty() ? compare(planned["plan"], now["plan"], { "kind", "reads", "writes", "deletes", "beside" })
                           : outside;
}

}

Result<bool> confirmAct(const Options& options, const std::string& run, const std::string& plan, app::ActWay way)
{
    if (!options.confirm.empty() && options.confirm != run)
        return fail(Code::Usage, fmt::format("the run is called {}, not {}", run, options.confirm), options.source);
    if (!options.applyFile.empty()) {
        DS_TRY(const json planned, planIn(options.applyFile));
        const json now = json::parse(plan);
        if (planned["plan"]["hash"] != now["plan"]["hash"])
            return fail(Code::Exists, "what would be done now is not what this plan says", options.applyFile,
                        "Make a new plan with --plan, and look at it again.");
        if (const std::string field = contradictionOf(planned, now); !field.empty())
            return fail(Code::Usage,
                        fmt::format("the plan was edited: its \"{}\" is not that of the plan with its hash", field),
                        options.applyFile, "Make a new plan with --plan, and look at it again.");
        return true;
    }
    if (options.dryRun || !options.planFile.empty())
        return false;
    return way == app::ActWay::AtOnce || options.yes || !options.confirm.empty();
}

Result<void> writePlan(const std::string& path, const std::string& json)
{
    return app::writeNewFile(path, json + '\n', "the plan");
}

} // namespace deltascope::cli
