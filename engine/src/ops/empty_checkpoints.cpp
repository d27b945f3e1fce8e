#include "empty_checkpoints.h"

#include "publish/unread_folders.h"

#include <fmt/format.h>
#include <map>

namespace deltascope {

void noteEmptyCheckpoints(Run& run, const std::vector<ObjectInfo>& listing)
{
    if (!run.layout->standAlone())
        return;
    std::map<std::string, std::vector<UnreadFolder>> byReason;
    for (UnreadFolder& folder : unreadFolders(listing, run)) {
        if (folder.number >= 0 && folder.isEmpty)
            byReason[folder.why].push_back(std::move(folder));
    }
    for (const auto& [why, folders] : byReason) {
        const UnreadFolder& first = folders.front();
        if (folders.size() == 1) {
            run.sourceNotices.push_back(
                Error { Code::Stray, fmt::format("{} {}: it is no step of this run", first.name, why), first.name,
                        first.number, "Save this step again, or remove the folder; the other steps do not need it." });
            continue;
        }
        std::vector<std::string> names;
        for (const UnreadFolder& folder : folders)
            names.push_back(folder.name);
        run.sourceNotices.push_back(Error {
            Code::Stray,
            fmt::format("{} folders are no steps of this run, each {}: {}", folders.size(), why, namesText(names)),
            first.name,
            {},
            "Save these steps again, or remove the folders; the other steps do not need them." });
    }
}

} // namespace deltascope
