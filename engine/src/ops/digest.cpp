#include "deltascope/engine/operations.h"

#include "deltascope/engine/walk.h"
#include "hash/whole_hasher.h"

#include <algorithm>
#include <functional>
#include <optional>

namespace deltascope {

namespace {

struct HashedState {
    CheckpointRoot root;
    bool noopsSeen = false;
};

/// Digests of whole tensors that are wanted beside those of leaves.
struct WantedWhole {
    TensorHashes hashes = TensorHashes::Xxh3;
    std::function<void(std::size_t tensor, const WholeDigests&)> take; ///< on any thread; null: none are wanted
};

Result<HashedState> hashTensors(const Workbench& bench, const State& state, LeafHasher::Strength strength,
                                const WantedWhole& wanted, TaskContext& task)
{
    const TensorRange tensors = state.tensors();
    std::vector<TensorNode> nodes(tensors.size());
    DS_TRY(const WalkMeans means, bench.means());
    DS_CHECK(state.checkWhole(task));
    DS_TRY(const std::unique_ptr<StateWalk> walk, state.walk(largestFirst(state), { means }));
    task.beginPhase("digest", state.stateBytes());
    const auto hash = [&](std::size_t slice, SliceReader& reader) -> Result<void> {
        const std::size_t at = walk->slice(slice).tensor;
        std::optional<WholeHasher> whole;
        if (wanted.take)
            whole.emplace(wanted.hashes);
        LeafHasher leaves(strength);
        DS_CHECK(forEachBlock(reader, task, [&](ByteSpan block) {
            leaves.update(block);
            if (whole)
                whole->update(block);
        }));
        leaves.finish();
        nodes[at] = tensorNode(tensors[at], leaves.fast(), leaves.strong());
        if (whole)
            wanted.take(at, whole->finish());
        return {};
    };
    DS_TRY(const WalkEvidence evidence, walkTensors(*walk, means.threads, task, hash));
    const bool isStrong = strength == LeafHasher::Strength::FastAndStrong;
    HashedState hashed { checkpointRoot(nodes, isStrong), evidence.noopsSeen };
    DS_CHECK(state.expectRecorded(toHex(hashed.root.fast), means, task));
    return hashed;
}

Result<CheckpointDigest> digestTensors(const Workbench& bench, const State& state, TensorHashes hashes,
                                       TaskContext& task)
{
    const TensorRange tensors = state.tensors();
    CheckpointDigest result;
    // There may be a million tensors: what is kept of them goes into the result part by part, and is freed.
    constexpr std::size_t PartTensors = std::size_t { 1 } << 18;
    std::vector<std::vector<WholeDigests>> parts;
    for (std::size_t begin = 0; begin < tensors.size(); begin += PartTensors)
        parts.emplace_back(std::min(PartTensors, tensors.size() - begin));
    const auto take = [&](std::size_t tensor, const WholeDigests& digests) {
        parts[tensor / PartTensors][tensor % PartTensors] = digests;
    };
    DS_TRY(const HashedState hashed,
           hashTensors(bench, state, LeafHasher::Strength::FastAndStrong, { hashes, take }, task));
    result.root = hashed.root;
    result.noopsSeen = hashed.noopsSeen;
    result.tensors.reserve(tensors.size());
    for (std::vector<WholeDigests>& part : parts) {
        for (const WholeDigests& digests : part)
            result.tensors.push_back(TensorDigest { tensors[result.tensors.size()], digests.xxh3, digests.sha256 });
        part = std::vector<WholeDigests>();
    }
    return result;
}

}

Result<CheckpointDigest> digestState(const Workbench& bench, const State& state, TaskContext& task, TensorHashes hashes)
{
    return ifSound(digestTensors(bench, state, hashes, task), { &state }, task);
}

Result<CheckpointRoot> rootOfState(const Workbench& bench, const State& state, LeafHasher::Strength strength,
                                   TaskContext& task)
{
    DS_TRY(const HashedState hashed, ifSound(hashTensors(bench, state, strength, {}, task), { &state }, task));
    return hashed.root;
}

} // namespace deltascope
