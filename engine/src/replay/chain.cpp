#include "deltascope/engine/replay.h"

#include "format/common/fetch_headers.h"
#include "replay/checked_reads.h"
#include "store/listed_store.h"
#include "store/nearby_store.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace deltascope {

namespace {

/// The source, with the objects of a plan as they were listed.
std::shared_ptr<const ObjectStore> listedSource(const Run& run, const Plan& plan)
{
    auto listed = std::make_shared<ListedStore>(run.store);
    for (const PlanLink& link : plan.links)
        listed->add(run.versions[link.version].objectsOf(link.form).objects);
    return listed;
}

/// Null without an external base.
std::shared_ptr<const ObjectStore> listedBase(const Run& run, const Plan& plan)
{
    if (!plan.fromExternalBase)
        return nullptr;
    auto listed = std::make_shared<ListedStore>(run.base->store);
    listed->add(run.base->objects.objects);
    return listed;
}

std::shared_ptr<NearbyStore> nearby(std::shared_ptr<const ObjectStore> store)
{
    return store ? std::make_shared<NearbyStore>(std::move(store)) : nullptr;
}

} // namespace

Result<Chain> Chain::open(const Run& run, const Plan& plan, TaskContext& task)
{
    return openThrough(run, plan, nullptr, task);
}

Result<Chain> Chain::open(const Run& run, const Plan& plan, const ReadRules& rules, TaskContext& task)
{
    DS_TRY(const std::shared_ptr<CheckedReads> reads, CheckedReads::of(run, plan, rules, task));
    Result<Chain> chain = openThrough(run, plan, reads, task);
    if (!chain)
        return fail(reads->reasonOf(std::move(chain.error()), task));
    return chain;
}

Result<Chain> Chain::openThrough(const Run& run, const Plan& plan, std::shared_ptr<CheckedReads> reads,
                                 TaskContext& task)
{
    Chain chain;
    const auto source = nearby(reads ? reads->source() : listedSource(run, plan));
    const auto base = nearby(reads ? reads->base() : listedBase(run, plan));
    for (const PlanLink& link : plan.links)
        source->add(run.versions[link.version].objectsOf(link.form).objects);
    if (plan.fromExternalBase)
        base->add(run.base->objects.objects);
    const auto add = [&](std::shared_ptr<const ObjectStore> store, std::shared_ptr<const Layout> layout,
                         const VersionObjects& objects, std::optional<PlanLink> from) -> Result<void> {
        DS_CHECK(task.checkpoint());
        const auto inLink = [&](Error error) { return fail(from ? atStep(std::move(error), objects.step) : error); };
        Result<VersionIndex> index = layout->index(*store, objects, task);
        if (!index)
            return inLink(std::move(index.error()));
        if (Result<void> sound =
                layout->standAlone() ? Result<void>() : layout->checkPayload(*store, objects, *index, task);
            !sound)
            return inLink(std::move(sound.error()));
        chain.m_links.push_back(std::make_shared<const OpenVersion>(
            OpenVersion { std::move(store), std::move(layout), objects, std::move(*index) }));
        chain.m_versions.push_back(from ? std::optional(from->version) : std::nullopt);
        chain.m_forms.push_back(from ? from->form : 0);
        const Version* version = from ? &run.versions[from->version] : nullptr;
        chain.m_complete.push_back(!version
                                   || (from->form == 0 ? version->kind == VersionKind::Anchor
                                                       : version->otherForms[from->form - 1].isComplete()));
        return {};
    };
    std::vector<const VersionObjects*> ahead;
    for (const PlanLink& link : plan.links)
        ahead.push_back(&run.versions[link.version].objectsOf(link.form));
    fetchHeaders(*run.store, *run.layout, ahead, task);
    if (plan.fromExternalBase)
        DS_CHECK(add(base, run.base->layout, run.base->objects, std::nullopt));
    for (const PlanLink& link : plan.links) {
        DS_CHECK(add(source, run.layout, run.versions[link.version].objectsOf(link.form), link));
    }
    DS_CHECK(chain.collectTensors());
    chain.m_reads = std::move(reads);
    return chain;
}

Result<void> Chain::expectSoundReads(TaskContext& task) const
{
    return m_reads ? m_reads->expectSound(false, task) : Result<void>();
}

Result<void> Chain::expectSoundObjects(TaskContext& task) const
{
    return m_reads ? m_reads->expectSound(true, task) : Result<void>();
}

Error Chain::reasonOf(Error error, TaskContext& task) const
{
    return m_reads ? m_reads->reasonOf(std::move(error), task) : error;
}

std::vector<std::string> Chain::rewritten() const
{
    return m_reads ? m_reads->rewritten() : std::vector<std::string>();
}

std::vector<Error> Chain::readNotices() const { return m_reads ? m_reads->notices() : std::vector<Error>(); }

Chain Chain::ofOne(OpenVersion version)
{
    Chain chain;
    chain.m_links.push_back(std::make_shared<const OpenVersion>(std::move(version)));
    chain.m_versions.emplace_back();
    chain.m_forms.push_back(0);
    chain.m_complete.push_back(true);
    for (const TensorEntry& entry : chain.m_links.front()->index.tensors)
        chain.m_tensors.push_back(*entry.info);
    return chain;
}

unsigned Chain::replaysAtOnce(unsigned threads) const noexcept
{
    const bool waits =
        std::any_of(m_links.begin(), m_links.end(), [](const auto& link) { return link->store->traits().keepsReads; });
    return waits ? 2 * threads : threads;
}

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
    std::map<std::string_view, const TensorInfo*> state;
    for (const auto& link : m_links) {
        for (const TensorEntry& entry : link->index.tensors) {
            if (link->index.full) {
                state[entry.name] = &*entry.info;
                continue;
            }
            if (!state.contains(entry.name))
                return fail(Error { Code::BaseMismatch,
                                    fmt::format("step {} changes tensor {}, which no state before it holds",
                                                link->objects.step, entry.name),
                                    link->objects.name, link->objects.step,
                                    "give the checkpoint that holds it with --base DIR" });
        }
    }
    m_tensors.clear();
    m_tensors.reserve(state.size());
    for (const auto& [name, info] : state)
        m_tensors.push_back(*info);
    return {};
}

std::uint64_t Chain::stateBytes() const noexcept
{
    std::uint64_t bytes = 0;
    for (const TensorInfo& tensor : m_tensors)
        bytes += tensor.bytes();
    return bytes;
}

const TensorInfo* Chain::find(std::string_view name) const noexcept
{
    const auto at =
        std::lower_bound(m_tensors.begin(), m_tensors.end(), name,
                         [](const TensorInfo& tensor, std::string_view wanted) { return tensor.name < wanted; });
    return at != m_tensors.end() && at->name == name ? &*at : nullptr;
}

} // namespace deltascope
