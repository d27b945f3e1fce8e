#include "open_base.h"

#include "format/common/droppings.h"
#include "format/common/found_folders.h"
#include "kept_summaries.h"

#include <array>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <utility>

namespace deltascope {

namespace {

/// Layouts of complete checkpoints, in the order in which a folder is asked for them.
constexpr std::array<std::string_view, 3> Layouts = { "hf", "trl-adapter", "dcp" };

Result<VersionSummary> summaryOfBase(Workbench& bench, const ExternalBase& base, TaskContext& task)
{
    const std::string key = baseKey(*base.store);
    const KnownVersions known = knownVersions(bench, key);
    const auto at = known.find(base.objects.name);
    if (at != known.end() && at->second.identity == base.objects.identity())
        return at->second.summary;
    std::optional<VersionSummary> summary;
    std::optional<Error> failure;
    const std::vector<WantedForm> wanted { { &base.objects, &summary, &failure } };
    DS_CHECK(readHeaders(bench, base.store, *base.layout, wanted, task));
    if (failure)
        return fail(std::move(*failure));
    keepSummaries(bench, *base.store, key, wanted);
    return std::move(*summary);
}

/// Says what a folder holds that is no checkpoint which a chain can start from.
Error noBaseIn(const std::vector<ObjectInfo>& listing, const std::string& uri)
{
    const std::vector<FoundFolder> folders = foundFolders(listing);
    const std::string found = describeFound(folders);
    Error error { Code::BaseMissing,
                  "the folder given as base holds no Hugging Face checkpoint, no adapter and no DCP save"
                      + (found.empty() ? "" : "; " + found),
                  uri,
                  {},
                  {} };
    if (!folders.empty())
        error.action = folders.back().remedy;
    return error;
}

}

std::string baseKey(const ObjectStore& store) { return store.uri() + "|base"; }

Result<ExternalBase> openBase(Workbench& bench, std::shared_ptr<ObjectStore> store, TaskContext& task)
{
    DS_TRY(std::vector<ObjectInfo> listing, listAll(*store, "", task));
    takeDroppings(listing);
    std::shared_ptr<const Layout> layout;
    std::vector<VersionObjects> versions;
    for (auto word = Layouts.begin(); word != Layouts.end() && versions.empty(); ++word) {
        layout = bench.layouts.find(*word);
        versions = layout->group(listing);
    }
    if (versions.empty())
        return fail(noBaseIn(listing, store->uri()));
    if (versions.size() > 1 && versions.front().step != 0)
        return fail(Code::BaseMissing,
                    fmt::format("the folder given as base holds {} checkpoints, from {} to {}; name one of them",
                                versions.size(), versions.front().name, versions.back().name),
                    store->uri());
    ExternalBase base { store, layout, std::move(versions.front()), {} };
    DS_TRY(base.summary, summaryOfBase(bench, base, task));
    return base;
}

} // namespace deltascope
