#include "read_headers.h"

#include "deltascope/engine/parallel.h"
#include "format/common/fetch_headers.h"
#include "format/common/shard_names.h"
#include "store/listed_store.h"

#include <algorithm>
#include <fmt/format.h>
#include <span>

namespace deltascope {

namespace {

/// What is no file although the version needs it: what its headers name, or what they could not be read for.
const ObjectInfo* oddObjectNeeded(const VersionObjects& version, const Result<VersionIndex>& index)
{
    if (!index)
        return oddObject(version, index.error().where);
    for (const TensorEntry& entry : index->tensors) {
        for (const Extent& extent : entry.extents) {
            if (const ObjectInfo& object = version.objects[extent.object]; !object.oddity.empty())
                return &object;
        }
    }
    return nullptr;
}

Result<void> readHeader(const ObjectStore& store, const Layout& layout, const WantedForm& form, TaskContext& task)
{
    Result<VersionIndex> index = readIndex(store, layout, *form.objects, task);
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

const ObjectInfo* oddObject(const VersionObjects& version, std::string_view key)
{
    const auto odd = std::find_if(version.objects.begin(), version.objects.end(), [key](const ObjectInfo& object) {
        return object.key == key && !object.oddity.empty();
    });
    return odd == version.objects.end() ? nullptr : &*odd;
}

bool concernsTheStore(Code code) { return code == Code::Canceled || code == Code::Transient || code == Code::Internal; }

unsigned readersOf(const std::optional<VersionSummary>& version, unsigned threads)
{
    constexpr std::uint32_t ManyTensors = 100'000;
    return version && version->tensors >= ManyTensors ? 1 : threads;
}

Result<VersionIndex> readIndex(const ObjectStore& store, const Layout& layout, const VersionObjects& version,
                               TaskContext& task)
{
    Result<VersionIndex> index = layout.index(store, version, task);
    if (!index && !concernsTheStore(index.error().code) && store.traits().keepsReads) {
        for (const ObjectInfo& object : version.objects) // one wrong answer of a network is not kept as damage
            store.forget(object);
        index = layout.index(store, version, task);
    }
    if (const ObjectInfo* const odd = oddObjectNeeded(version, index))
        return fail(noFileError(*odd));
    return index;
}

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
        const auto read = [&](std::size_t n) { return readHeader(listed, layout, forms[at + n], task); };
        DS_CHECK(read(0));
        const unsigned threads = readersOf(*forms[at].summary, bench.threads);
        DS_CHECK(forEachParallel(threads, count - 1, task, [&](std::size_t n) { return read(n + 1); }));
        at += count;
    }
    return {};
}

} // namespace deltascope
