#include "acts/plan_parts.h"

#include "deltascope/app/command_line.h"
#include "view/step_address.h"

#include "deltascope/engine/file_system.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace deltascope::app {

namespace {

namespace fs = std::filesystem;

/// Names in a destination that some file system or the way down to it would not take.
Result<void> expectFits(const fs::path& relative, const std::string& name)
{
    constexpr std::size_t LongestPart = 255; // bytes; NAME_MAX of Linux
    constexpr std::ptrdiff_t MostParts = 8;
    const bool isLong = std::any_of(relative.begin(), relative.end(),
                                    [](const fs::path& part) { return part.native().size() > LongestPart; });
    if (isLong)
        return fail(Code::Usage, fmt::format("a name in the destination is longer than {} bytes", LongestPart),
                    name.substr(0, LongestPart));
    if (std::distance(relative.begin(), relative.end()) > MostParts)
        return fail(Code::Usage, fmt::format("the destination is more than {} folders deep", MostParts), name);
    return {};
}

}

void takeActPlan(PlanView& plan, const ActPlanView& found)
{
    plan.hash = found.hash;
    plan.act = found;
    plan.readBytes = found.readBytes;
    for (const ProblemView& warning : found.warnings)
        plan.warnings.push_back(warning.text);
}

const ActPlanView& takePlannedRead(PlanView& plan, const JobResult& planned)
{
    const ActPlanView& found = std::get<std::shared_ptr<const PlannedReadView>>(planned)->plan;
    takeActPlan(plan, found);
    return found;
}

const char* acceptOption(bool acceptRewritten) { return acceptRewritten ? " --accept-rewritten" : ""; }

std::string quotedStep(const SourceRequest& source, const StepView& step)
{
    return quotedPath(source.source.text() + "@" + addressOf(step));
}

Result<void> expectRestorable(const StepView& step)
{
    if (step.restorable)
        return {};
    Error error { Code::ChainGap, step.restore.reason, step.name, step.step, {} };
    if (const ProblemView* const problem = gravest(step.problems); problem && !isNotice(*problem)) {
        error.code = parseCode(problem->code).value_or(Code::ChainGap);
        error.action = problem->remedy;
    }
    return fail(std::move(error));
}

std::string rootOf(const MonitorOptions& options)
{
    std::error_code ignored;
    return options.anyFolder || !fs::exists(options.outputFolder, ignored) ? std::string() : options.outputFolder;
}

Result<std::optional<std::uint64_t>> freeBytes(const FileSystem& disk, const std::string& path)
{
    std::error_code ignored;
    fs::path folder = fs::absolute(path, ignored);
    Result<std::uint64_t> bytes = disk.freeBytes(folder.string());
    while (!bytes && bytes.error().code == Code::NotFound && folder.has_relative_path()) {
        folder = folder.parent_path();
        bytes = disk.freeBytes(folder.string());
    }
    if (!bytes && bytes.error().code == Code::Auth)
        return fail(bytes.error());
    return bytes ? std::optional(*bytes) : std::nullopt;
}

Result<std::string> destinationOf(const MonitorOptions& options, const std::string& name)
{
    constexpr std::size_t LongestPath = 4'096; // PATH_MAX of Linux
    if (name.size() > LongestPath)
        return fail(Code::Usage, fmt::format("the destination is longer than {} bytes", LongestPath),
                    name.substr(0, LongestPath));
    const std::string& folder = options.outputFolder;
    fs::path relative = fs::path(name).lexically_normal();
    if (!relative.has_filename()) // a slash at the end
        relative = relative.parent_path();
    const bool climbs =
        std::any_of(relative.begin(), relative.end(), [](const fs::path& part) { return part == ".."; });
    const bool hasControls =
        std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    if (options.anyFolder && relative.is_absolute() && relative.has_filename() && !hasControls)
        return relative.string();
    if (relative.empty() || relative.is_absolute() || climbs || hasControls || relative == ".")
        return fail(Code::Usage, "a destination is a name below the output folder", name,
                    fmt::format("checkpoints are written below {}", folder));
    DS_CHECK(expectFits(relative, name));
    return (fs::path(folder) / relative).string();
}

Result<std::string> placeOf(const MonitorOptions& options, const std::string& text)
{
    if (options.anyFolder && Address(text).remote())
        return text;
    DS_TRY(std::string folder, destinationOf(options, text));
    DS_CHECK(freeBytes(*makeFileSystemBelow(rootOf(options)), folder));
    return folder;
}

Result<std::string> stateAddressOf(const MonitorOptions& options, const std::string& text)
{
    if (options.anyFolder && Address(text).remote())
        return text;
    DS_TRY(std::string address, destinationOf(options, text));
    const Address source = VersionRequest::parse(address).source.source;
    DS_CHECK(freeBytes(*makeFileSystemBelow(rootOf(options)), source.text()));
    if (!options.anyFolder && !source.isWithin(options.outputFolder))
        return fail(Code::Usage, "a state that is read lies below the output folder", text,
                    fmt::format("name one below {}", options.outputFolder));
    return address;
}

} // namespace deltascope::app
