#include "deltascope/engine/leftovers.h"

#include "deltascope/engine/hash_tree.h"
#include "provenance.h"
#include "rebuild_folder.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <numeric>
#include <optional>
#include <string_view>

namespace deltascope {

namespace {

constexpr std::string_view LeftoverMark = ".ds-";
constexpr std::string_view LeftoverHex = "0123456789abcdef";
constexpr std::size_t PlanDigits = 16;
constexpr std::uint64_t MostPlanBytes = 1U << 30;
constexpr int MostLevels = 8;

/// The parts of ".NAME.ds-PLAN-PROCESS-RANDOM" or ".NAME.ds-PLAN-shared", as RebuildFolder names what it makes.
struct LeftoverName {
    std::string destination;
    std::string plan;
    std::int64_t process = 0;
    bool shared = false;
};

std::optional<LeftoverName> parseLeftover(std::string_view name)
{
    constexpr std::size_t RandomDigits = 8;
    const std::size_t mark = name.rfind(LeftoverMark);
    if (!name.starts_with('.') || mark == std::string_view::npos || mark < 2)
        return std::nullopt;
    const std::string_view rest = name.substr(mark + LeftoverMark.size());
    LeftoverName parsed { std::string(name.substr(1, mark - 1)), std::string(rest.substr(0, PlanDigits)) };
    if (rest.size() <= PlanDigits || rest[PlanDigits] != '-'
        || parsed.plan.find_first_not_of(LeftoverHex) != std::string::npos)
        return std::nullopt;
    const std::string_view behind = rest.substr(PlanDigits + 1);
    parsed.shared = behind == "shared";
    if (parsed.shared)
        return parsed;
    const std::size_t dash = behind.find('-');
    const std::optional<std::int64_t> process = parseNumber(behind.substr(0, dash));
    if (dash == std::string_view::npos || !process || behind.size() != dash + 1 + RandomDigits
        || behind.find_first_not_of(LeftoverHex, dash + 1) != std::string_view::npos)
        return std::nullopt;
    parsed.process = *process;
    return parsed;
}

std::string withSlash(const std::string& folder) { return folder.ends_with('/') ? folder : folder + "/"; }

bool isRealFolder(const std::string& path)
{
    std::error_code ignored;
    return std::filesystem::is_directory(std::filesystem::symlink_status(path, ignored));
}

bool isPart(std::string_view name) { return name.starts_with("part-") && name.find("-of-") != std::string_view::npos; }

/// Whether the folder holds what a materialization writes: the plan that its name is the digest of (or nothing, or the
/// beginning of one, from a kill right behind the first step), the provenance of a whole checkpoint, or parts.
bool holdsRebuild(const FileSystem& disk, const std::string& path, const LeftoverName& name,
                  const std::vector<std::string>& entries)
{
    const auto has = [&](std::string_view wanted) {
        return std::find(entries.begin(), entries.end(), wanted) != entries.end();
    };
    if (name.shared)
        return entries.empty() || has(ProvenanceName) || std::any_of(entries.begin(), entries.end(), isPart);
    if (entries.empty() || has(ProvenanceName) || (entries.size() == 1 && has(RebuildPlanName)))
        return true;
    const Result<std::string> plan = readTextFile(disk, fmt::format("{}/{}", path, RebuildPlanName), MostPlanBytes);
    return plan && toHex(xxh3(asBytes(*plan))).substr(0, PlanDigits) == name.plan;
}

/// Adds an entry of a leftover and all below it. `key`: of it, as seen from `in`. What is removed meanwhile is left
/// out.
Result<void> addObjects(const FileSystem& disk, const std::string& in, const std::string& key,
                        std::vector<PlannedObject>& objects, int level = 0)
{
    const std::string path = in + key;
    const bool isFolder = isRealFolder(path);
    Result<std::string> identity = disk.identityOf(path);
    if (!identity)
        return identity.error().code == Code::NotFound ? Result<void>() : fail(identity.error());
    const std::uint64_t bytes = isFolder ? 0 : disk.sizeOf(path).value_or(0); // a link has none
    objects.push_back({ in, isFolder ? key + "/" : key, std::move(*identity), bytes });
    if (!isFolder)
        return {};
    if (level == MostLevels)
        return fail(Code::Hostile, fmt::format("folders lie more than {} deep in this leftover", MostLevels), path);
    const Result<std::vector<std::string>> names = disk.list(path);
    if (!names)
        return names.error().code == Code::NotFound ? Result<void>() : fail(names.error());
    for (const std::string& name : *names)
        DS_CHECK(addObjects(disk, in, key + "/" + name, objects, level + 1));
    return {};
}

Result<std::vector<PlannedObject>> objectsOf(const FileSystem& disk, const std::string& in, const std::string& name)
{
    std::vector<PlannedObject> objects;
    DS_CHECK(addObjects(disk, in, name, objects));
    std::sort(objects.begin(), objects.end());
    return objects;
}

std::uint64_t bytesOf(const std::vector<PlannedObject>& objects)
{
    return std::accumulate(objects.begin(), objects.end(), std::uint64_t { 0 },
                           [](std::uint64_t sum, const PlannedObject& object) { return sum + object.bytes; });
}

/// Locks a leftover with all of its parts. Errors: Exists.
Result<std::vector<std::unique_ptr<FolderLock>>>
lockAll(FileSystem& disk, const std::string& path, const LeftoverName& name, const std::vector<std::string>& entries)
{
    std::vector<std::unique_ptr<FolderLock>> locks;
    DS_TRY(std::unique_ptr<FolderLock> whole, disk.lock(path));
    locks.push_back(std::move(whole));
    for (const std::string& entry : entries) {
        if (!name.shared || !isPart(entry))
            continue;
        DS_TRY(std::unique_ptr<FolderLock> part, disk.lock(path + "/" + entry));
        locks.push_back(std::move(part));
    }
    return locks;
}

/// A process locks its folder right after it has made it, so one that is empty must not be locked to find out: its
/// process would be refused.
bool isAtWork(FileSystem& disk, const std::string& path, const LeftoverName& name,
              const std::vector<std::string>& entries)
{
    if (entries.empty())
        return name.shared || ::kill(static_cast<pid_t>(name.process), 0) == 0 || errno != ESRCH;
    return !lockAll(disk, path, name, entries);
}

}

Result<std::vector<Leftover>> findLeftovers(FileSystem& disk, const std::string& folder)
{
    std::vector<Leftover> found;
    DS_TRY(const std::vector<std::string> names, disk.list(folder));
    const std::string in = withSlash(folder);
    for (const std::string& name : names) {
        const std::optional<LeftoverName> parsed = parseLeftover(name);
        const std::string path = in + name;
        if (!parsed || !isRealFolder(path))
            continue;
        const Result<std::vector<std::string>> entries = disk.list(path);
        if (!entries || !holdsRebuild(disk, path, *parsed, *entries))
            continue;
        const bool atWork = isAtWork(disk, path, *parsed, *entries);
        DS_TRY(std::vector<PlannedObject> objects, objectsOf(disk, in, name));
        found.push_back({ path, in + parsed->destination, bytesOf(objects), parsed->process, parsed->shared, atWork,
                          std::move(objects) });
    }
    return found;
}

std::optional<std::string> destinationOfLeftover(const std::string& path)
{
    const auto [folder, name] = splitPath(path);
    const std::optional<LeftoverName> parsed = parseLeftover(name);
    return parsed ? std::optional(withSlash(folder) + parsed->destination) : std::nullopt;
}

std::string nameInLeftovers(const std::string& destination)
{
    const auto [folder, name] = splitPath(destination);
    return withSlash(folder) + stemOf(name);
}

Result<void> removeLeftover(FileSystem& disk, const Leftover& leftover)
{
    const std::optional<LeftoverName> name = parseLeftover(splitPath(leftover.path).second);
    if (!name || !isRealFolder(leftover.path))
        return fail(Code::NotFound, "there is no such leftover any more", leftover.path);
    DS_TRY(const std::vector<std::string> entries, disk.list(leftover.path));
    if (!holdsRebuild(disk, leftover.path, *name, entries))
        return fail(Code::NotFound, "this folder is not what a materialization left", leftover.path);
    if (entries.empty() && isAtWork(disk, leftover.path, *name, entries))
        return fail(Code::Exists, "its process may just be beginning", leftover.path, "wait for it or stop it");
    DS_TRY(const auto locks, lockAll(disk, leftover.path, *name, entries));
    const auto [folder, own] = splitPath(leftover.path);
    DS_TRY(const std::vector<PlannedObject> objects, objectsOf(disk, withSlash(folder), own));
    if (objects != leftover.objects)
        return fail(Code::Exists, "it changed since it was looked at", leftover.path, "look at it again");
    return disk.removeTree(leftover.path);
}

} // namespace deltascope
