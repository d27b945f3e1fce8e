#include "deltascope/engine/statistics.h"

#include "deltascope/engine/tensor_view.h"
#include "deltascope/engine/walk.h"

#include "no_such_tensor.h"
#include "show_links.h"
#include "touched_links.h"
#include "value_statistics.h"
#include "values_moved.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace deltascope {

namespace {

Result<void> expectNumbers(const TensorInfo& tensor)
{
    if (statisticsPasses(tensor.dtype) > 0)
        return {};
    return fail(Code::Unsupported, fmt::format("values of dtype {} are not measured", word(tensor.dtype)), tensor.name,
                "diff counts the elements that differ");
}

Result<const TensorInfo*> findNumbers(const State& state, std::string_view name)
{
    DS_TRY(const TensorInfo* tensor, tensorIn(state, name));
    DS_CHECK(expectNumbers(*tensor));
    return tensor;
}

/// Shows a tensor of one state, or of two side by side, to their collectors: one pass. `a`, `before`: both or none.
/// `moved`: null in all passes but the first.
Result<void> pass(const WalkMeans& means, const State* a, const State& b, std::string_view tensor,
                  ValueCollector* before, ValueCollector& now, MovedCollector* moved, TaskContext& task)
{
    const auto walkOf = [&](const State& state) { return state.walk({ { *state.indexOf(tensor) } }, { means }); };
    DS_TRY(const std::unique_ptr<StateWalk> walkB, walkOf(b));
    if (a) {
        DS_TRY(const std::unique_ptr<StateWalk> walkA, walkOf(*a));
        const auto collect = [&](std::size_t, PairReader& reader) {
            return forEachPair(reader, task, [&](ByteSpan x, ByteSpan y) {
                before->add(x);
                now.add(y);
                return moved ? moved->add(x, y) : Result<void>();
            });
        };
        DS_CHECK(walkPairs(*walkA, *walkB, InOrder, task, collect));
        before->endPass();
    } else {
        const auto collect = [&](std::size_t, SliceReader& reader) {
            return forEachBlock(reader, task, [&](ByteSpan block) { now.add(block); });
        };
        DS_CHECK(walkTensors(*walkB, InOrder, task, collect));
    }
    now.endPass();
    return {};
}

/// From the least to the largest value of both; empty if there is none.
std::vector<double> edgesOf(const ValueCollector* a, const ValueCollector& b)
{
    std::optional<std::pair<double, double>> range;
    for (const ValueCollector* state : { a, &b }) {
        if (!state)
            continue;
        const ValueStatistics values = state->statistics();
        if (!values.min)
            continue;
        const auto [least, most] = range.value_or(std::pair(*values.min, *values.max));
        range = std::pair(std::min(least, *values.min), std::max(most, *values.max));
    }
    return range ? linearEdges(range->first, range->second) : std::vector<double>();
}

/// Shows what is behind some links to a collector each.
class LinkCollector final : public ReplayObserver {
public:
    explicit LinkCollector(std::map<std::size_t, std::unique_ptr<ValueCollector>>& values)
        : m_values(values)
    {
    }

    void onBlock(std::size_t link, std::uint64_t, ByteSpan state, const PatchCounts&) override
    {
        if (const auto wanted = m_values.find(link); wanted != m_values.end())
            wanted->second->add(state);
    }

private:
    std::map<std::size_t, std::unique_ptr<ValueCollector>>& m_values;
};

}

unsigned statisticsPasses(Dtype dtype) noexcept
{
    switch (dtype) {
    case Dtype::F4:
    case Dtype::F6E2M3:
    case Dtype::F6E3M2:
    case Dtype::F8E8M0:
    case Dtype::C64:
        return 0;
    default:
        return std::max(1U, bitsOf(dtype) / 16);
    }
}

Result<TensorStatistics> statisticsOf(Workbench& bench, const State* a, const State& b, std::string_view tensor,
                                      TaskContext& task)
{
    DS_TRY(const TensorInfo* right, findNumbers(b, tensor));
    if (a) {
        DS_TRY(const TensorInfo* left, findNumbers(*a, tensor));
        if (left->dtype != right->dtype || left->shape != right->shape)
            return fail(Code::Unsupported, "dtype or shape of the tensor is another one in the other state",
                        std::string(tensor), "diff names both");
    }
    DS_TRY(const WalkMeans means, bench.means());
    const std::unique_ptr<ValueCollector> before = a ? ValueCollector::of(right->dtype, *means.backend) : nullptr;
    const std::unique_ptr<ValueCollector> now = ValueCollector::of(right->dtype, *means.backend);
    MovedCollector moved(right->dtype, *means.backend);
    TensorStatistics out;
    out.tensor = *right;
    const unsigned passes = statisticsPasses(right->dtype);
    task.beginPhase("read", passes * right->bytes());
    for (unsigned at = 0; at < passes; ++at) {
        DS_CHECK(pass(means, a, b, tensor, before.get(), *now, at == 0 ? &moved : nullptr, task));
        if (at > 0)
            continue;
        out.linear.edges = edgesOf(before.get(), *now);
        if (out.linear.edges.empty())
            continue;
        now->setEdges(out.linear.edges);
        if (before)
            before->setEdges(out.linear.edges);
    }
    out.b = now->statistics();
    out.linear.b = now->linear();
    out.logarithmic = PowerCounts::histogram(before ? &before->powers() : nullptr, now->powers());
    if (before) {
        out.a = before->statistics();
        out.linear.a = before->linear();
        DS_TRY(out.moved, moved.finish());
    }
    return out;
}

Result<std::map<std::size_t, ValueStatistics>> statisticsBehind(Workbench& bench, const PathState& chain,
                                                                const std::vector<std::size_t>& links,
                                                                std::string_view tensor, TaskContext& task)
{
    DS_TRY(const TensorInfo* info, findNumbers(chain, tensor));
    DS_TRY(const WalkMeans means, bench.means());
    std::map<std::size_t, std::unique_ptr<ValueCollector>> values; // by the link that made them
    for (const std::size_t link : links) {
        if (const std::optional<std::size_t> touched = touchedAt(chain, tensor, link))
            values.try_emplace(*touched, ValueCollector::of(info->dtype, *means.backend));
    }
    const unsigned passes = statisticsPasses(info->dtype);
    task.beginPhase("read", passes * info->bytes());
    for (unsigned pass = 0; pass < passes; ++pass) {
        LinkCollector collector(values);
        DS_CHECK(showLinks(chain, *info, collector, means, task));
        for (const auto& [link, collected] : values)
            collected->endPass();
    }
    std::map<std::size_t, ValueStatistics> out;
    for (const std::size_t link : links) {
        const std::optional<std::size_t> touched = touchedAt(chain, tensor, link);
        if (!touched)
            continue;
        const ValueStatistics found = values.at(*touched)->statistics();
        const std::uint64_t seen = found.finite + found.nan + found.positiveInfinite + found.negativeInfinite;
        if (seen == info->elements()) // else the replay passed over it
            out.emplace(link, found);
    }
    return out;
}

Result<StatisticsCost> costOfStatistics(const Run& run, const Plan& plan, std::string_view tensor, TaskContext& task)
{
    std::optional<TensorInfo> info;
    std::set<std::string> names; // of complete states without it
    std::uint64_t walked = 0;
    std::uint64_t checked = 0;
    const auto add = [&](const ObjectStore& store, const Layout& layout,
                         const VersionObjects& objects) -> Result<void> {
        DS_CHECK(task.checkpoint());
        DS_TRY(const VersionIndex index, layout.index(store, objects, task));
        checked += layout.checkedBytes(objects, index);
        const TensorEntry* entry = index.find(tensor);
        if (!entry) {
            for (std::size_t i = 0; index.full && i < index.tensors.size(); ++i)
                names.insert(index.tensors[i].name());
            return {};
        }
        for (const Extent& extent : entry->extents)
            walked += extent.bytes;
        if (index.full)
            info = *entry->info();
        return {};
    };
    if (plan.fromExternalBase)
        DS_CHECK(add(*run.base->store, *run.base->layout, run.base->objects));
    for (const PlanLink& link : plan.links)
        DS_CHECK(add(*run.store, *run.layout, run.versions[link.version].objectsOf(link.form)));
    if (!info)
        return fail(noSuchTensor(tensor, run.versions[plan.links.back().version].step(), run.store->uri(),
                                 { names.begin(), names.end() }));
    DS_CHECK(expectNumbers(*info));
    return StatisticsCost { *info, walked, checked };
}

} // namespace deltascope
