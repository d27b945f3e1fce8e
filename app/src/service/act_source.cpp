#include "act_source.h"

#include "opening.h"

#include <filesystem>

namespace deltascope::app {

Result<ActSource> openActSource(const Workbench& bench, const SourceRequest& request, bool isWritten)
{
    ActSource source;
    DS_TRY(source.store, bench.stores->open(request.source, { isWritten }));
    source.options.layout = request.layout;
    DS_TRY(source.options.epochs, epochChoice(request.epochs));
    source.options.mirrors = request.mirrors;
    source.options.searchDepth = request.searchDepth;
    if (!request.base.isEmpty()) {
        DS_TRY(source.options.base, bench.stores->open(request.base));
    }
    source.name = std::filesystem::path(source.store->uri()).filename().string();
    return source;
}

} // namespace deltascope::app
