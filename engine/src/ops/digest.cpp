#include "deltascope/engine/operations.h"

#include "hash/hashers.h"
#include "recorded_state.h"
#include "replay_audit.h"

#include <algorithm>

namespace deltascope {

namespace {

Result<CheckpointDigest> digestTensors(Workbench& bench, const Chain& chain, TaskContext& task)
{
    const auto tensors = chain.tensors();
    std::vector<std::size_t> order(tensors.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return tensors[a].bytes() > tensors[b].bytes(); });

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
    DS_CHECK(chain.checkWhole(task));
    ReplayAudit audit(chain);
    task.beginPhase("digest", chain.stateBytes());
    DS_CHECK(
        forEachParallel(chain.replaysAtOnce(bench.threads), order.size(), task, [&](std::size_t n) -> Result<void> {
            const std::size_t at = order[n];
            const TensorInfo& tensor = tensors[at];
            ReplayAudit::Tensor watcher(audit, tensor, true);
            ReplayOptions options;
            options.scratchFolder = bench.scratchFolder;
            options.observer = &watcher;
            DS_TRY(TensorReplay replay, TensorReplay::open(chain, tensor, std::move(options), task));
            Xxh3Hasher xxh3;
            Sha256Hasher sha256;
            sha256.reset();
            LeafHasher leaves(LeafHasher::Strength::FastAndStrong);
            for (;;) {
                DS_TRY(const ByteSpan block, replay.next(task));
                if (block.empty())
                    break;
                xxh3.update(block);
                sha256.update(block);
                leaves.update(block);
                task.addDone(block.size());
            }
            leaves.finish();
            watcher.finish();
            nodes[at] = tensorNode(tensor, leaves.fast(), leaves.strong());
            parts[at / PartTensors][at % PartTensors] = { xxh3.digest(), sha256.digest() };
            return {};
        }));
    DS_CHECK(audit.checkDigests(chain.onExternalBase()));
    result.noopsSeen = audit.noopsSeen();
    result.root = rootOfOrdered(nodes, true); // as tensors of a chain are in order
    nodes = std::vector<TensorNode>();
    order = std::vector<std::size_t>();
    result.tensors.reserve(tensors.size());
    for (std::vector<Digests>& part : parts) {
        for (const Digests& digests : part)
            result.tensors.push_back(TensorDigest { tensors[result.tensors.size()], digests.xxh3, digests.sha256 });
        part = std::vector<Digests>();
    }
    DS_CHECK(expectRecordedState(bench, chain, toHex(result.root.fast), task));
    DS_CHECK(chain.expectSoundReads(task));
    return result;
}

}

Result<CheckpointDigest> digestState(Workbench& bench, const Chain& chain, TaskContext& task)
{
    Result<CheckpointDigest> digest = digestTensors(bench, chain, task);
    if (!digest)
        return fail(chain.reasonOf(std::move(digest.error()), task));
    return digest;
}

} // namespace deltascope
