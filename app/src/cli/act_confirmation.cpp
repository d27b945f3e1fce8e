#include "act_confirmation.h"

#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace deltascope::cli {

namespace {

/// The hash of the plan that a file holds.
Result<std::string> hashIn(const std::string& path)
{
    constexpr std::size_t MostBytes = std::size_t { 64 } << 20;
    std::ifstream file(path, std::ios::binary);
    if (!file)
        return fail(Code::NotFound, "the plan cannot be read", path);
    std::string text;
    for (char c = 0; text.size() < MostBytes && file.get(c);)
        text += c;
    const nlohmann::json plan = nlohmann::json::parse(text, nullptr, false);
    if (plan.is_object() && plan.contains("plan") && plan["plan"].is_object() && plan["plan"].contains("hash")
        && plan["plan"]["hash"].is_string())
        return plan["plan"]["hash"].get<std::string>();
    return fail(Code::Usage, "the file holds no plan", path, "--plan FILE writes one");
}

}

Result<bool> confirmAct(const Options& options, const std::string& run, const std::string& hash, app::ActWay way)
{
    if (!options.confirm.empty() && options.confirm != run)
        return fail(Code::Usage, fmt::format("the run is called {}, not {}", run, options.confirm), options.source);
    if (!options.applyFile.empty()) {
        DS_TRY(const std::string planned, hashIn(options.applyFile));
        if (planned != hash)
            return fail(Code::Exists, "what would be done now is not what this plan says", options.applyFile,
                        "Make a new plan with --plan, and look at it again.");
        return true;
    }
    if (options.dryRun || !options.planFile.empty())
        return false;
    return way == app::ActWay::AtOnce || options.yes || !options.confirm.empty();
}

Result<void> writePlan(const std::string& path, const std::string& json)
{
    if (std::ifstream(path))
        return fail(Code::Exists, "there is a file of this name", path, "name a new one");
    std::ofstream file(path, std::ios::binary);
    file << json << '\n';
    file.close();
    return file ? Result<void>() : fail(Code::Io, "the plan cannot be written", path);
}

} // namespace deltascope::cli
