#include "publish/version_build.h"

#include "deltascope/engine/hash_tree.h"
#include "deltascope/engine/walk.h"
#include "publish/tensor_difference.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>

namespace deltascope {

namespace {

/// As they stand in a file, which may be put meanwhile.
std::vector<TensorSlice> inFileOrder(const State& state)
{
    const TensorRange tensors = state.tensors();
    std::vector<TensorSlice> slices = allTensors(state);
    std::stable_sort(slices.begin(), slices.end(), [&](const TensorSlice& a, const TensorSlice& b) {
        return canonicalBefore(tensors[a.tensor], tensors[b.tensor]);
    });
    return slices;
}

std::optional<StateJudge::Tensor> judgedBy(StateJudge* judge, const TensorInfo& tensor, bool hasBefore)
{
    return judge ? std::optional(judge->begin(tensor, hasBefore)) : std::nullopt;
}

/// Nodes of all tensors of a state, filled from several threads, one slot each.
class RootBuilder {
public:
    explicit RootBuilder(const State& state)
        : m_state(state)
        , m_nodes(state.tensors().size())
    {
    }
    void add(std::size_t tensor, LeafHasher& leaves)
    {
        leaves.finish();
        const TensorInfo& info = m_state.tensors()[tensor];
        m_nodes[tensor] = tensorNode(info, leaves.fast(), {});
    }
    std::string root() const { return toHex(checkpointRoot(m_nodes, false).fast); }

private:
    const State& m_state;
    std::vector<TensorNode> m_nodes;
};

}

Result<BuiltVersion> VersionBuild::anchor(VersionWriter& writer, const State& state, StateJudge* judge,
                                          TaskContext& task)
{
    task.beginPhase("anchor", state.stateBytes());
    RootBuilder root(state);
    DS_TRY(const std::unique_ptr<StateWalk> walk, state.walk(inFileOrder(state), { m_means }));
    const auto write = [&](std::size_t slice, SliceReader& reader) -> Result<void> {
        DS_TRY(const std::unique_ptr<TensorWriter> out, writer.begin(walk->tensor(slice)));
        LeafHasher leaves(LeafHasher::Strength::Fast);
        std::optional<StateJudge::Tensor> judged = judgedBy(judge, walk->tensor(slice), false);
        DS_CHECK(forEachBlock(reader, task, [&](ByteSpan block) {
            leaves.update(block);
            if (judged)
                judged->add({}, block);
            return out->add(TensorBlock { {}, block, {} });
        }));
        root.add(walk->slice(slice).tensor, leaves);
        if (judged) {
            judged->finish();
            if (judge->isSuspect()) // its bytes may be on their way already
                return fail(Code::SuspectValues, "the state is suspect", walk->tensor(slice).name);
        }
        return out->end(task);
    };
    DS_CHECK(walkTensors(*walk, m_means.threads, task, write));
    BuiltVersion built;
    for (const TensorInfo& tensor : state.tensors())
        built.changedElements += tensor.elements();
    built.toRoot = root.root();
    return built;
}

Result<BuiltVersion> VersionBuild::delta(VersionWriter& writer, const State& from, const State& to, StateJudge* judge,
                                         TaskContext& task)
{
    DS_CHECK(expectSameTensors(from, to));
    task.beginPhase("diff", to.stateBytes());
    RootBuilder fromRoot(from);
    RootBuilder toRoot(to);
    std::atomic<std::uint64_t> changed = 0;
    const std::vector<TensorSlice> slices = largestFirst(to); // the same of both
    DS_TRY(const std::unique_ptr<StateWalk> before, from.walk(slices, { m_means }));
    DS_TRY(const std::unique_ptr<StateWalk> after, to.walk(slices, { m_means }));
    const auto write = [&](std::size_t slice, PairReader& reader) -> Result<void> {
        const TensorInfo& tensor = after->tensor(slice);
        const unsigned elementBytes = std::max(1U, bitsOf(tensor.dtype) % 8 == 0 ? bitsOf(tensor.dtype) / 8 : 1U);
        DS_TRY(const std::unique_ptr<TensorWriter> out, writer.begin(tensor));
        LeafHasher oldLeaves(LeafHasher::Strength::Fast);
        LeafHasher newLeaves(LeafHasher::Strength::Fast);
        std::optional<StateJudge::Tensor> judged = judgedBy(judge, tensor, true);
        std::uint64_t begin = 0;
        const auto use = [&](const ChangedBlock& block) {
            oldLeaves.update(block.before);
            newLeaves.update(block.after);
            const ElementChanges changes { begin / elementBytes, block.positions, block.values };
            if (judged)
                judged->add(block.before, block.after, changes);
            changed += block.positions.size();
            begin += block.after.size();
            return out->add(TensorBlock { block.before, block.after, changes });
        };
        const std::unique_ptr<PairBatches> blocks = m_means.backend->find(elementBytes, use);
        DS_CHECK(forEachPair(reader, task, [&](ByteSpan old, ByteSpan fresh) { return blocks->add(old, fresh); }));
        DS_CHECK(blocks->finish());
        fromRoot.add(slices[slice].tensor, oldLeaves);
        toRoot.add(slices[slice].tensor, newLeaves);
        if (judged)
            judged->finish();
        return out->end(task);
    };
    DS_CHECK(walkPairs(*before, *after, m_means.threads, task, write));
    return BuiltVersion { changed, fromRoot.root(), toRoot.root() };
}

Result<std::string> VersionBuild::rootOf(const State& state, TaskContext& task)
{
    task.beginPhase("hash", state.stateBytes());
    RootBuilder root(state);
    DS_TRY(const std::unique_ptr<StateWalk> walk, state.walk(largestFirst(state), { m_means }));
    const auto hash = [&](std::size_t slice, SliceReader& reader) -> Result<void> {
        LeafHasher leaves(LeafHasher::Strength::Fast);
        DS_CHECK(forEachBlock(reader, task, [&](ByteSpan block) { leaves.update(block); }));
        root.add(walk->slice(slice).tensor, leaves);
        return {};
    };
    DS_CHECK(walkTensors(*walk, m_means.threads, task, hash));
    return root.root();
}

} // namespace deltascope
