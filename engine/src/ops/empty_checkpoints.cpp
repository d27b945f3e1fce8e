#include "empty_checkpoints.h"

#include "publish/unread_folders.h"

#include <fmt/format.h>

namespace deltascope {

void noteEmptyCheckpoints(Run& run, const std::vector<ObjectInfo>& listing)
{
    if (!run.layout->standAlone())
        return;
    for (const UnreadFolder& folder : unreadFolders(listing, run)) {
        if (folder.number >= 0 && folder.isEmpty)
            run.sourceNotices.push_back(Error {
                Code::Stray, fmt::format("{} {}: it is no step of this run", folder.name, folder.why), folder.name,
                folder.number, "Save this step again, or remove the folder; the other steps do not need it." });
    }
}

} // namespace deltascope
