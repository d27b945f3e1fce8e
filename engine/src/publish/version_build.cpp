#include "publish/version_build.h"

#include "ops/correspondence.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <fmt/ranges.h>
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

namespace {

tl::unexpected<Error> differentTensors(std::string reason, std::string remedy)
{
    return fail(Error { Code::BaseMismatch,
                        std::move(reason) + ": a delta cannot say that (A is the state before, B the one to publish)",
                        {},
                        std::nullopt,
                        std::move(remedy) + ", or begin another epoch with it (--new-epoch)" });
}

std::string shapeText(const TensorInfo& tensor) { return fmt::format("[{}]", fmt::join(tensor.shape, ", ")); }

}

Result<void> expectSameTensors(const Chain& from, const Chain& to)
{
    const Correspondence all = correspond(from, to, true, std::nullopt);
    if (all.names) {
        const bool isWrapped = all.names->kind == FormDifference::Kind::Adapters;
        return differentTensors(
            fmt::format("{} ({} and {})", all.names->reason(), all.pairs.back().first->name,
                        all.pairs.back().second->name),
            isWrapped ? "Merge the adapters before the checkpoint is saved (merge_and_unload)"
                      : "Save the model itself, without what wraps it (torch.compile keeps it as _orig_mod)");
    }
    for (const auto& [a, b] : all.pairs) {
        if (a->dtype != b->dtype)
            return differentTensors(
                fmt::format("tensor {} is {} in A and {} in B", a->name, word(a->dtype), word(b->dtype)),
                fmt::format("Save the checkpoint as {}", word(a->dtype)));
        if (a->shape != b->shape)
            return differentTensors(
                fmt::format("tensor {} has the shape {} in A and {} in B", a->name, shapeText(*a), shapeText(*b)),
                "Publish checkpoints of one model");
    }
    if (!all.onlyInA.empty() || !all.onlyInB.empty()) {
        const bool lacks = all.onlyInB.empty();
        const std::vector<const TensorInfo*>& extra = lacks ? all.onlyInA : all.onlyInB;
        return differentTensors(fmt::format("{} has {} tensor{} that {} lacks, as {}", lacks ? "A" : "B", extra.size(),
                                            extra.size() == 1 ? "" : "s", lacks ? "B" : "A", extra.front()->name),
                                "Publish checkpoints of one model");
    }
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
