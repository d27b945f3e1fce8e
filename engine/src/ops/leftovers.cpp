#include "deltascope/engine/leftovers.h"

#include "rebuild_folder.h"

#include <algorithm>
#include <string_view>

namespace deltascope {

namespace {

/// "PLAN-PROCESS-RANDOM", as RebuildFolder names what it makes.
bool isOurs(std::string_view rest)
{
    constexpr std::string_view Hex = "0123456789abcdef";
    constexpr std::size_t PlanDigits = 16;
    constexpr std::size_t RandomDigits = 8;
    const std::size_t last = rest.rfind('-');
    if (rest.size() <= PlanDigits || rest[PlanDigits] != '-' || last <= PlanDigits + 1
        || rest.size() != last + 1 + RandomDigits)
        return false;
    const std::string_view process = rest.substr(PlanDigits + 1, last - PlanDigits - 1);
    return rest.substr(0, PlanDigits).find_first_not_of(Hex) == std::string_view::npos
        && process.find_first_not_of(Hex.substr(0, 10)) == std::string_view::npos
        && rest.substr(last + 1).find_first_not_of(Hex) == std::string_view::npos;
}

}

Result<void> removeLeftovers(FileSystem& disk, const std::string& destination)
{
    const auto [parent, name] = splitPath(destination);
    const std::string prefix = "." + name + ".ds-";
    if (!disk.exists(parent))
        return {};
    DS_TRY(const std::vector<std::string> names, disk.list(parent));
    for (const std::string& found : names) {
        if (!found.starts_with(prefix) || !isOurs(std::string_view(found).substr(prefix.size())))
            continue;
        const std::string path = parent + "/" + found;
        DS_TRY(const std::unique_ptr<FolderLock> lock, disk.lock(path));
        DS_CHECK(disk.removeTree(path));
    }
    return {};
}

} // namespace deltascope
