#include "deltascope/engine/replay.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace deltascope {

Result<Chain> Chain::open(const Run& run, const Plan& plan, TaskContext& task)
{
    Chain chain;
    const auto add = [&](std::shared_ptr<const ObjectStore> store, std::shared_ptr<const Layout> layout,
                         const VersionObjects& objects, std::optional<std::size_t> version) -> Result<void> {
        DS_CHECK(task.checkpoint());
        Result<VersionIndex> index = layout->index(*store, objects, task);
        if (!index)
            return fail(version ? atStep(std::move(index.error()), objects.step) : std::move(index.error()));
        chain.m_links.push_back(std::make_shared<const OpenVersion>(
            OpenVersion { std::move(store), std::move(layout), objects, std::move(*index) }));
        chain.m_versions.push_back(version);
        return {};
    };
    if (plan.fromExternalBase)
        DS_CHECK(add(run.base->store, run.base->layout, run.base->objects, std::nullopt));
    for (const std::size_t link : plan.links)
        DS_CHECK(add(run.store, run.layout, run.versions[link].objects, link));
    DS_CHECK(chain.collectTensors());
    return chain;
}

Chain Chain::ofOne(OpenVersion version)
{
    Chain chain;
    chain.m_links.push_back(std::make_shared<const OpenVersion>(std::move(version)));
    chain.m_versions.emplace_back();
    for (const TensorEntry& entry : chain.m_links.front()->index.tensors)
        chain.m_tensors.push_back(*entry.info);
    return chain;
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
