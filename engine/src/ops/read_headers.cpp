#include "read_headers.h"

#include "format/common/fetch_headers.h"
#include "format/common/shard_names.h"
#include "store/listed_store.h"

#include <fmt/format.h>
#include <span>

namespace deltascope {

namespace {

Result<void> readHeader(const ObjectStore& store, const Layout& layout, const WantedForm& form, TaskContext& task)
{
    Result<VersionIndex> index = layout.index(store, *form.objects, task);
    if (index) {
        *form.summary = VersionSummary::of(*index);
        const std::vector<Error> ofShards = shardProblems(*form.objects);
        (*form.summary)->notes.insert((*form.summary)->notes.end(), ofShards.begin(), ofShards.end());
        return {};
    }
    if (concernsTheStore(index.error().code))
        return fail(std::move(index.error()));
    *form.failure = std::move(index.error());
    return {};
}

} // namespace

bool concernsTheStore(Code code) { return code == Code::Canceled || code == Code::Transient || code == Code::Internal; }

Result<void> readHeaders(Workbench& bench, const std::shared_ptr<const ObjectStore>& store, const Layout& layout,
                         const std::vector<WantedForm>& forms, TaskContext& task)
{
    ListedStore listed(store);
    std::vector<const VersionObjects*> versions;
    for (const WantedForm& form : forms) {
        listed.add(form.objects->objects);
        versions.push_back(form.objects);
    }
    for (std::size_t at = 0; at < forms.size();) {
        task.beginPhase(fmt::format("headers: {} of {} version{}", at, forms.size(), forms.size() == 1 ? "" : "s"), 0);
        const std::size_t count = fetchHeaders(*store, layout, std::span(versions).subspan(at), task);
        DS_CHECK(forEachParallel(bench.threads, count, task,
                                 [&](std::size_t n) { return readHeader(listed, layout, forms[at + n], task); }));
        at += count;
    }
    return {};
}

} // namespace deltascope
