#include "state/chain.h"

#include "deltascope/engine/parallel.h"
#include "format/common/fetch_headers.h"
#include "format/common/object_names.h"
#include "replay/checked_reads.h"
#include "state/adapter_config.h"
#include "state/base_fit.h"
#include "state/chain_walk.h"
#include "state/recorded_state.h"
#include "state/same_object.h"
#include "store/nearby_store.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <mutex>

namespace deltascope {

namespace {

std::shared_ptr<NearbyStore> nearby(std::shared_ptr<const ObjectStore> store)
{
    return store ? std::make_shared<NearbyStore>(std::move(store)) : nullptr;
}

using Link = std::shared_ptr<const OpenVersion>;

/// Where a link is read.
struct Place {
    std::shared_ptr<const ObjectStore> store;
    std::shared_ptr<const Layout> layout;
    const VersionObjects& objects;
    bool isOutside; ///< the external base, which has no step

    Result<Link> open(TaskContext& task) const
    {
        DS_TRY(VersionIndex index, layout->index(*store, objects, task));
        if (!layout->standAlone())
            DS_CHECK(layout->checkPayload(*store, objects, index, task));
        return std::make_shared<const OpenVersion>(OpenVersion { store, layout, objects, std::move(index) });
    }
};

/// The error is that of the first one that cannot be opened, however many threads there are.
Result<std::vector<Link>> openAll(const std::vector<Place>& places, unsigned threads, TaskContext& task)
{
    std::vector<Link> links(places.size());
    std::mutex mutex; // guards what follows
    std::size_t failedAt = places.size();
    Error error;
    DS_CHECK(forEachParallel(threads, places.size(), task, [&](std::size_t n) -> Result<void> {
        {
            const std::lock_guard lock(mutex);
            if (n > failedAt)
                return {};
        }
        Result<Link> link = places[n].open(task);
        if (link) {
            links[n] = std::move(*link);
            return {};
        }
        const std::lock_guard lock(mutex);
        if (n < failedAt) {
            failedAt = n;
            error = std::move(link.error());
        }
        return {};
    }));
    if (failedAt == places.size())
        return links;
    const Place& place = places[failedAt];
    return fail(place.isOutside ? std::move(error) : atStep(std::move(error), place.objects.step));
}

} // namespace

Result<PathPtr> openPath(const Run& run, const Plan& plan, const ReadRules& rules, TaskContext& task)
{
    DS_TRY(const std::shared_ptr<CheckedReads> reads, CheckedReads::of(run, plan, rules, task));
    Result<PathPtr> path = Chain::open(run, plan, reads, rules, task);
    if (!path)
        return fail(reads->reasonOf(std::move(path.error()), task));
    return path;
}

Result<PathPtr> Chain::open(const Run& run, const Plan& plan, std::shared_ptr<CheckedReads> reads,
                            const ReadRules& rules, TaskContext& task)
{
    const auto source = nearby(reads->source());
    const auto base = nearby(reads->base());
    std::shared_ptr<Chain> chain(new Chain);
    std::vector<Place> places;
    if (plan.fromExternalBase) {
        base->add(run.base->objects.objects);
        places.push_back({ base, run.base->layout, run.base->objects, true });
        chain->m_versions.emplace_back();
        chain->m_forms.push_back(0);
        chain->m_complete.push_back(true);
    }
    std::vector<const VersionObjects*> ahead;
    for (const PlanLink& link : plan.links) {
        const Version& version = run.versions[link.version];
        const VersionObjects& objects = version.objectsOf(link.form);
        source->add(objects.objects);
        places.push_back({ source, run.layout, objects, false });
        ahead.push_back(&objects);
        chain->m_versions.emplace_back(link.version);
        chain->m_forms.push_back(link.form);
        chain->m_complete.push_back(link.form == 0 ? version.kind == VersionKind::Anchor
                                                   : version.otherForms[link.form - 1].isComplete());
    }
    fetchHeaders(*run.store, *run.layout, ahead, task);
    DS_TRY(chain->m_links, openAll(places, rules.threads, task));
    if (Result<void> collected = chain->collectTensors(); !collected)
        return fail(chain->onExternalBase() ? blameBase(chain->m_links, std::move(collected.error()), task)
                                            : std::move(collected.error()));
    chain->m_reads = std::move(reads);
    chain->m_replaced = rules.replaced;
    return PathPtr(std::move(chain));
}

Result<void> Chain::expectSoundReads(TaskContext& task) const { return m_reads->expectSound(false, task); }

Result<void> Chain::expectSoundObjects(TaskContext& task) const { return m_reads->expectSound(true, task); }

Result<void> Chain::expectKnownObjects(TaskContext& task) const { return m_reads->expectKnown(task); }

Result<void> Chain::expectUnchanged(TaskContext& task) const
{
    DS_CHECK(expectSoundReads(task));
    if (m_replaced == Replaced::Followed) // that was compared
        return {};
    for (const auto& link : m_links) {
        for (const ObjectInfo& object : link->objects.objects)
            DS_CHECK(expectSameObject(*link->store, object, task));
    }
    return {};
}

Error Chain::reasonOf(Error error, TaskContext& task) const { return m_reads->reasonOf(std::move(error), task); }

std::vector<std::string> Chain::rewritten() const { return m_reads->rewritten(); }

std::vector<Error> Chain::readNotices() const { return m_reads->notices(); }

Result<void> Chain::checkWhole(TaskContext& task) const
{
    for (const auto& link : m_links) {
        if (!link->layout->standAlone())
            continue;
        if (Result<void> sound = link->layout->checkPayload(*link->store, link->objects, link->index, task); !sound)
            return fail(atStep(std::move(sound.error()), link->objects.step));
    }
    return {};
}

Result<void> Chain::collectTensors()
{
    std::vector<const TensorInfo*> state; // by name
    const auto before = [](const TensorInfo* a, const TensorInfo* b) { return a->name < b->name; };
    for (const auto& link : m_links) {
        const std::vector<TensorEntry>& entries = link->index.tensors;
        if (link->index.full) { // what it holds takes the place of what was there
            std::vector<const TensorInfo*> own;
            own.reserve(entries.size());
            for (const TensorEntry& entry : entries)
                own.push_back(entry.info());
            std::vector<const TensorInfo*> merged;
            merged.reserve(entries.size());
            std::set_union(own.begin(), own.end(), state.begin(), state.end(), std::back_inserter(merged), before);
            state = std::move(merged);
            continue;
        }
        for (const TensorEntry& entry : entries) {
            const auto at = std::lower_bound(state.begin(), state.end(), entry.name(),
                                             [](const TensorInfo* a, std::string_view name) { return a->name < name; });
            if (at == state.end() || (*at)->name != entry.name())
                return fail(Error { Code::BaseMismatch,
                                    fmt::format("step {} changes tensor {}, which no state before it holds",
                                                link->objects.step, entry.name()),
                                    link->objects.name, link->objects.step,
                                    "give the checkpoint that holds it with --base DIR" });
        }
    }
    m_tensors = std::move(state);
    return {};
}

StatePlace Chain::place() const
{
    const OpenVersion& last = *m_links.back();
    return { last.store->uri(), m_versions.back() ? std::optional(last.objects.step) : std::nullopt,
             m_links.size() == 1, m_links.front()->layout->holdsAdapters() };
}

std::optional<std::string_view> Chain::fileOf(std::size_t tensor) const
{
    const OpenVersion& first = *m_links.front();
    const TensorEntry* entry = first.index.find(m_tensors[tensor]->name);
    if (!entry || entry->extents.empty())
        return std::nullopt;
    return splitKey(first.objects.objects[entry->extents.front().object].key).file;
}

Result<std::unique_ptr<StateWalk>> Chain::walk(std::vector<TensorSlice> slices, WalkOptions options) const
{
    return makeChainWalk(*this, std::move(slices), std::move(options), true);
}

std::unique_ptr<StateWalk> Chain::replay(std::vector<TensorSlice> slices, WalkOptions options) const
{
    return makeChainWalk(*this, std::move(slices), std::move(options), false);
}

Result<void> Chain::expectRecorded(const std::string& root, const WalkMeans& means, TaskContext& task) const
{
    return expectRecordedState(*this, root, means, task);
}

Result<std::optional<AdapterConfig>> Chain::adapterConfig(TaskContext& task) const
{
    const OpenVersion& last = *m_links.back();
    if (!last.layout->holdsAdapters())
        return std::nullopt;
    const std::vector<ObjectInfo>& objects = last.objects.objects;
    const auto at = std::find_if(objects.begin(), objects.end(), [](const ObjectInfo& object) {
        return splitKey(object.key).file == AdapterConfigName;
    });
    if (at == objects.end())
        return std::nullopt;
    DS_TRY(AdapterConfig config, readAdapterConfig(*last.store, at->key, task));
    return std::optional(std::move(config));
}

bool Chain::hasDigests() const noexcept
{
    return std::any_of(m_links.begin(), m_links.end(),
                       [](const auto& link) { return link->index.digests != DigestAlgorithm::None; });
}

} // namespace deltascope
