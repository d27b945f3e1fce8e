#include "empty_checkpoints.h"

#include "publish/unread_folders.h"

#include <fmt/format.h>

namespace deltascope {

std::vector<Error> emptyCheckpoints(const std::vector<ObjectInfo>& listing, const Run& run)
{
    std::vector<Error> told;
    for (const UnreadFolder& folder : unreadFolders(listing, run)) {
        if (folder.number >= 0 && folder.isEmpty)
            told.push_back(Error {
                Code::Stray, fmt::format("{} {}: it is no step of this run", folder.name, folder.why), folder.name,
                folder.number, "Save this step again, or remove the folder; the other steps do not need it." });
    }
    return told;
}

} // namespace deltascope
