#include "deltascope/app/leftovers.h"

#include "view/io/json_writer.h"
#include "view/leftovers_description.h"

#include "deltascope/engine/leftovers.h"

namespace deltascope::app {

Result<LeftoversView> tendLeftovers(const std::string& folder, LeftoverChoice remove)
{
    const std::unique_ptr<FileSystem> disk = makeFileSystem();
    DS_TRY(const std::vector<Leftover> found, findLeftovers(*disk, folder));
    LeftoversView view { folder, {} };
    for (const Leftover& one : found) {
        LeftoverView leftover { one.path, one.destination, one.bytes, one.process, one.shared, one.atWork, false };
        const bool chosen =
            remove == LeftoverChoice::AlsoShared || (remove == LeftoverChoice::OfOneProcess && !one.shared);
        if (chosen && !one.atWork) {
            const Result<void> removed = removeLeftover(*disk, one);
            if (!removed && removed.error().code != Code::Exists && removed.error().code != Code::NotFound)
                return fail(removed.error());
            leftover.removed = removed.has_value() || removed.error().code == Code::NotFound;
            leftover.atWork = !leftover.removed; // a process has gone on with it meanwhile
        }
        view.leftovers.push_back(std::move(leftover));
    }
    return view;
}

std::string toJson(const LeftoversView& view) { return dump(written(view)); }

} // namespace deltascope::app
