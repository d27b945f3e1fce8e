#include "deltascope/app/leftovers.h"

#include "view/io/json_writer.h"
#include "view/leftovers_description.h"

#include "deltascope/engine/leftovers.h"

namespace deltascope::app {

Result<LeftoversView> listLeftovers(const std::string& folder)
{
    DS_TRY(const std::vector<Leftover> found, findLeftovers(*makeFileSystem(), folder));
    LeftoversView view { folder, {} };
    for (const Leftover& one : found)
        view.leftovers.push_back({ one.path, one.destination, one.bytes, one.process, one.shared, one.atWork });
    return view;
}

std::string toJson(const LeftoversView& view) { return dump(written(view)); }

} // namespace deltascope::app
