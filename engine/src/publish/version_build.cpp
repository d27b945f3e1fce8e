#include "publish/version_build.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <functional>

namespace deltascope {

namespace {

using TensorWork = std::function<Result<void>(std::size_t tensor)>;

using Before = bool (*)(const TensorInfo& a, const TensorInfo& b);

/// So that threads end together.
bool isLarger(const TensorInfo& a, const TensorInfo& b) { return a.bytes() > b.bytes(); }

Result<void> eachTensor(unsigned threads, const Chain& state, Before before, TaskContext& task, const TensorWork& work)
{
    std::vector<std::size_t> order(state.tensors().size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return before(state.tensors()[a], state.tensors()[b]); });
    return forEachParallel(threads, order.size(), task, [&](std::size_t i) { return work(order[i]); });
}

/// Nodes of all tensors of a state, filled from several threads, one slot each.
class RootBuilder {
public:
    explicit RootBuilder(const Chain& state)
        : m_state(state)
        , m_nodes(state.tensors().size())
    {
    }
    void add(std::size_t tensor, LeafHasher& leaves)
    {
        leaves.finish();
        const TensorInfo& info = m_state.tensors()[tensor];
        m_nodes[tensor] = NamedNode { info.name, tensorNode(info, leaves.fast(), {}) };
    }
    std::string root() { return toHex(checkpointRoot(std::move(m_nodes), false).fast); }

private:
    const Chain& m_state;
    std::vector<NamedNode> m_nodes;
};

Result<TensorReplay> replay(Workbench& bench, const Chain& chain, const TensorInfo& tensor, TaskContext& task)
{
    ReplayOptions options;
    options.scratchFolder = bench.scratchFolder;
    return TensorReplay::open(chain, tensor, std::move(options), task);
}

}

Result<void> expectSameTensors(const Chain& from, const Chain& to)
{
    for (const TensorInfo& tensor : to.tensors()) {
        const TensorInfo* old = from.find(tensor.name);
        if (!old || old->dtype != tensor.dtype || old->shape != tensor.shape)
            return fail(Code::BaseMismatch,
                        fmt::format("tensor {} is not the same in both states: a delta cannot say that", tensor.name));
    }
    if (from.tensors().size() != to.tensors().size())
        return fail(Code::BaseMismatch, "the second state lacks tensors of the first: a delta cannot say that");
    return {};
}

Result<BuiltVersion> VersionBuild::anchor(VersionWriter& writer, const Chain& state, TaskContext& task)
{
    task.beginPhase("anchor", state.stateBytes());
    RootBuilder root(state);
    // As they stand in the file, which may be put meanwhile.
    DS_CHECK(eachTensor(m_bench.threads, state, canonicalBefore, task, [&](std::size_t at) -> Result<void> {
        const TensorInfo& tensor = state.tensors()[at];
        DS_TRY(const std::unique_ptr<TensorWriter> out, writer.begin(tensor));
        DS_TRY(TensorReplay blocks, replay(m_bench, state, tensor, task));
        LeafHasher leaves(LeafHasher::Strength::Fast);
        for (;;) {
            DS_TRY(const ByteSpan block, blocks.next(task));
            if (block.empty())
                break;
            leaves.update(block);
            DS_CHECK(out->add(TensorBlock { {}, block, {} }));
            task.addDone(block.size());
        }
        root.add(at, leaves);
        return out->end(task);
    }));
    BuiltVersion built;
    for (const TensorInfo& tensor : state.tensors())
        built.changedElements += tensor.elements();
    built.toRoot = root.root();
    return built;
}

Result<BuiltVersion> VersionBuild::delta(VersionWriter& writer, const Chain& from, const Chain& to, TaskContext& task)
{
    DS_CHECK(expectSameTensors(from, to));
    task.beginPhase("diff", to.stateBytes());
    RootBuilder fromRoot(to); // the same tensors as in `from`
    RootBuilder toRoot(to);
    std::atomic<std::uint64_t> changed = 0;
    DS_CHECK(eachTensor(m_bench.threads, to, isLarger, task, [&](std::size_t at) -> Result<void> {
        const TensorInfo& tensor = to.tensors()[at];
        const unsigned elementBytes = std::max(1U, bitsOf(tensor.dtype) % 8 == 0 ? bitsOf(tensor.dtype) / 8 : 1U);
        const std::size_t room =
            std::min(blockBytesOf(tensor.dtype), tensor.bytes()) / elementBytes + DiffBackend::SlackElements;
        std::vector<std::uint32_t> positions(room);
        std::vector<std::byte> values(room * elementBytes);
        DS_TRY(const std::unique_ptr<TensorWriter> out, writer.begin(tensor));
        DS_TRY(TensorReplay before, replay(m_bench, from, tensor, task));
        DS_TRY(TensorReplay after, replay(m_bench, to, tensor, task));
        LeafHasher oldLeaves(LeafHasher::Strength::Fast);
        LeafHasher newLeaves(LeafHasher::Strength::Fast);
        for (std::uint64_t begin = 0;;) {
            DS_TRY(const ByteSpan old, before.next(task));
            DS_TRY(const ByteSpan fresh, after.next(task));
            if (fresh.empty())
                break;
            oldLeaves.update(old);
            newLeaves.update(fresh);
            const std::size_t count = m_backend->extract(old, fresh, elementBytes, positions.data(), values.data());
            const ElementChanges changes { begin / elementBytes, std::span(positions.data(), count),
                                           ByteSpan(values.data(), count * elementBytes) };
            DS_CHECK(out->add(TensorBlock { old, fresh, changes }));
            changed += count;
            begin += fresh.size();
            task.addDone(fresh.size());
        }
        fromRoot.add(at, oldLeaves);
        toRoot.add(at, newLeaves);
        return out->end(task);
    }));
    return BuiltVersion { changed, fromRoot.root(), toRoot.root() };
}

Result<std::string> VersionBuild::rootOf(const Chain& state, TaskContext& task)
{
    task.beginPhase("hash", state.stateBytes());
    RootBuilder root(state);
    DS_CHECK(eachTensor(m_bench.threads, state, isLarger, task, [&](std::size_t at) -> Result<void> {
        DS_TRY(TensorReplay blocks, replay(m_bench, state, state.tensors()[at], task));
        LeafHasher leaves(LeafHasher::Strength::Fast);
        for (;;) {
            DS_TRY(const ByteSpan block, blocks.next(task));
            if (block.empty())
                break;
            leaves.update(block);
            task.addDone(block.size());
        }
        root.add(at, leaves);
        return {};
    }));
    return root.root();
}

} // namespace deltascope
