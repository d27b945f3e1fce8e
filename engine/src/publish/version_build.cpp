#include "publish/version_build.h"

#include "deltascope/engine/hash_tree.h"
#include "deltascope/engine/walk.h"
#include "ops/correspondence.h"
#include "ops/fused_projections.h"
#include "publish/published_names.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <fmt/ranges.h>
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

namespace {

std::string shapeText(const TensorInfo& tensor) { return fmt::format("[{}]", fmt::join(tensor.shape, ", ")); }

}

std::optional<TensorDifference> differenceOfTensors(const State& a, const State& b)
{
    const Correspondence all = correspond(a, b, true, std::nullopt);
    if (all.names) {
        const std::string reason = fmt::format("{} ({} and {})", all.names->reason(), all.pairs.back().first->name,
                                               all.pairs.back().second->name);
        if (all.names->kind == FormDifference::Kind::Adapters)
            return TensorDifference { reason, "Merge the adapters before the checkpoint is saved (merge_and_unload)" };
        std::string remedy = "Save the model itself, without what wraps it (torch.compile keeps it as _orig_mod)";
        const PrefixMap map { all.names->b, all.names->a };
        if (const auto step = PublishedStep::of(nullptr, b, map); step && haveSameTensors(a, step->to()))
            remedy += fmt::format(", publish it with --map-prefix {}={}", map.a, map.b);
        return TensorDifference { reason, std::move(remedy) };
    }
    const std::vector<FormDifference> fused = FusedSides(a, b, true, std::nullopt).forms();
    if (!fused.empty())
        return TensorDifference { fused.front().reason(), "Save the checkpoint with the tensors of the run" };
    for (const auto& [left, right] : all.pairs) {
        if (left->dtype != right->dtype)
            return TensorDifference { fmt::format("tensor {} is {} in A and {} in B", left->name, word(left->dtype),
                                                  word(right->dtype)),
                                      fmt::format("Save the checkpoint as {}", word(left->dtype)) };
        if (left->shape != right->shape)
            return TensorDifference { fmt::format("tensor {} has the shape {} in A and {} in B", left->name,
                                                  shapeText(*left), shapeText(*right)),
                                      "Publish checkpoints of one model" };
    }
    if (!all.onlyInA.empty() || !all.onlyInB.empty()) {
        const bool lacks = all.onlyInB.empty();
        const std::vector<const TensorInfo*>& extra = lacks ? all.onlyInA : all.onlyInB;
        return TensorDifference { fmt::format("{} has {} tensor{} that {} lacks, as {}", lacks ? "A" : "B",
                                              extra.size(), extra.size() == 1 ? "" : "s", lacks ? "B" : "A",
                                              extra.front()->name),
                                  "Publish checkpoints of one model" };
    }
    return std::nullopt;
}

Result<void> expectSameTensors(const State& from, const State& to)
{
    const std::optional<TensorDifference> difference = differenceOfTensors(from, to);
    if (!difference)
        return {};
    return fail(Error { Code::BaseMismatch,
                        difference->reason + ": a delta cannot say that (A is the state before, B the one to publish)",
                        {},
                        std::nullopt,
                        difference->remedy + ", or publish it into a run of its own" });
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
