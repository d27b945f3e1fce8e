#include "deltascope/app/leftovers.h"

#include "deltascope/engine/leftovers.h"

#include <nlohmann/json.hpp>

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

std::string toJson(const LeftoversView& view)
{
    using nlohmann::ordered_json;
    ordered_json list = ordered_json::array();
    for (const LeftoverView& one : view.leftovers)
        list.push_back({ { "path", one.path },
                         { "destination", one.destination },
                         { "bytes", one.bytes },
                         { "process", one.process > 0 ? ordered_json(one.process) : ordered_json(nullptr) },
                         { "shared", one.shared },
                         { "at_work", one.atWork },
                         { "removed", one.removed } });
    const ordered_json document { { "folder", view.folder }, { "leftovers", std::move(list) } };
    return document.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

} // namespace deltascope::app
