#include "deltascope/engine/operations.h"

#include "deltascope/engine/walk.h"
#include "hash/hashers.h"

#include <algorithm>

namespace deltascope {

namespace {

Result<CheckpointDigest> digestTensors(Workbench& bench, const State& state, TaskContext& task)
{
    const TensorRange tensors = state.tensors();
    CheckpointDigest result;
    struct Digests {
        Digest128 xxh3;
        Digest256 sha256;
    };
    // There may be a million tensors: what is kept of them goes into the result part by part, and is freed.
    constexpr std::size_t PartTensors = std::size_t { 1 } << 18;
    std::vector<std::vector<Digests>> parts;
    for (std::size_t begin = 0; begin < tensors.size(); begin += PartTensors)
        parts.emplace_back(std::min(PartTensors, tensors.size() - begin));
    std::vector<TensorNode> nodes(tensors.size());
    DS_TRY(const WalkMeans means, bench.means());
    DS_CHECK(state.checkWhole(task));
    DS_TRY(std::unique_ptr<StateWalk> walk, state.walk(largestFirst(state), { means }));
    task.beginPhase("digest", state.stateBytes());
    const auto hash = [&](std::size_t slice, SliceReader& reader) -> Result<void> {
        const std::size_t at = walk->slice(slice).tensor;
        Xxh3Hasher xxh3;
        Sha256Hasher sha256;
        sha256.reset();
        LeafHasher leaves(LeafHasher::Strength::FastAndStrong);
        DS_CHECK(forEachBlock(reader, task, [&](ByteSpan block) {
            xxh3.update(block);
            sha256.update(block);
            leaves.update(block);
        }));
        leaves.finish();
        nodes[at] = tensorNode(tensors[at], leaves.fast(), leaves.strong());
        parts[at / PartTensors][at % PartTensors] = { xxh3.digest(), sha256.digest() };
        return {};
    };
    DS_TRY(const WalkEvidence evidence, walkTensors(*walk, means.threads, task, hash));
    walk.reset();
    result.noopsSeen = evidence.noopsSeen;
    result.root = checkpointRoot(nodes, true);
    nodes = std::vector<TensorNode>();
    result.tensors.reserve(tensors.size());
    for (std::vector<Digests>& part : parts) {
        for (const Digests& digests : part)
            result.tensors.push_back(TensorDigest { tensors[result.tensors.size()], digests.xxh3, digests.sha256 });
        part = std::vector<Digests>();
    }
    DS_CHECK(state.expectRecorded(toHex(result.root.fast), means, task));
    DS_CHECK(state.expectSoundReads(task));
    return result;
}

}

Result<CheckpointDigest> digestState(Workbench& bench, const State& state, TaskContext& task)
{
    Result<CheckpointDigest> digest = digestTensors(bench, state, task);
    if (!digest)
        return fail(state.reasonOf(std::move(digest.error()), task));
    return digest;
}

} // namespace deltascope
