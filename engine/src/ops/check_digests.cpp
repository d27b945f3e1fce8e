#include "deltascope/engine/check_digests.h"

#include "correspondence.h"
#include "deltascope/engine/walk.h"
#include "fused_projections.h"
#include "hash/whole_hasher.h"
#include "state/rounded_state.h"
#include "state/rounding.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace deltascope {

namespace {

/// A state in the form in which the digests were taken, and what is compared of it.
struct Compared {
    std::optional<FusedState> fused;
    std::unique_ptr<State> rounded; ///< null: no tensor is wider than the digests say
    std::vector<TensorSlice> slices; ///< of state()
    std::vector<std::size_t> known; ///< the index in the digests of each slice

    const State& state(const State& stored) const { return rounded ? *rounded : fused ? *fused->state : stored; }
};

Compared compared(const State& stored, const DigestState& digests, DigestCheck& check)
{
    Compared all;
    all.fused = fusedLike(stored, digests, std::nullopt);
    const State& state = all.state(stored);
    Correspondence found = correspond(state, digests, true, std::nullopt);
    std::stable_sort(found.pairs.begin(), found.pairs.end(), [](const auto& x, const auto& y) {
        return x.first->bytes() > y.first->bytes(); // so that threads end together
    });
    if (found.names)
        check.forms.push_back(*found.names);
    if (all.fused)
        check.forms.insert(check.forms.end(), all.fused->forms.begin(), all.fused->forms.end());
    for (const TensorInfo* tensor : found.onlyInA)
        check.onlyInState.push_back(tensor->name);
    for (const TensorInfo* tensor : found.onlyInB)
        check.onlyInDigests.push_back(tensor->name);
    std::map<std::pair<Dtype, Dtype>, std::uint64_t> dtypes;
    std::map<std::size_t, Dtype> narrower;
    for (const auto& [ours, theirs] : found.pairs) {
        if (ours->shape != theirs->shape || commonDtype(ours->dtype, theirs->dtype) != theirs->dtype) {
            check.reshaped.push_back({ *ours, *theirs });
            continue;
        }
        const std::size_t tensor = *state.indexOf(ours->name);
        if (ours->dtype != theirs->dtype) {
            narrower[tensor] = theirs->dtype;
            ++dtypes[{ ours->dtype, theirs->dtype }];
        }
        all.slices.push_back({ tensor });
        all.known.push_back(*digests.indexOf(theirs->name));
    }
    for (const auto& [both, count] : dtypes)
        check.forms.push_back(
            { FormDifference::Kind::Dtypes, std::string(word(both.first)), std::string(word(both.second)), count, 0 });
    countCompared(check.forms, all.slices.size());
    if (!narrower.empty())
        all.rounded = rounded(state, narrower);
    return all;
}

Result<DigestCheck> checkTensors(const Workbench& bench, const State& stored, const DigestState& digests,
                                 TaskContext& task)
{
    DS_TRY(const WalkMeans means, bench.means());
    DS_CHECK(stored.checkWhole(task));
    DigestCheck check;
    const Compared all = compared(stored, digests, check);
    DS_TRY(const std::unique_ptr<StateWalk> walk, all.state(stored).walk(all.slices, { means }));
    for (std::size_t i = 0; i < walk->size(); ++i)
        check.bytesHashed += walk->tensor(i).bytes();
    task.beginPhase("digest", check.bytesHashed);
    std::vector<char> differs(walk->size(), 0); // one for each thread to write
    const auto hash = [&](std::size_t slice, SliceReader& reader) -> Result<void> {
        const KnownTensor& known = digests.known(all.known[slice]);
        WholeHasher hasher(known.sha256 ? TensorHashes::Xxh3AndSha256 : TensorHashes::Xxh3);
        DS_CHECK(forEachBlock(reader, task, [&](ByteSpan block) { hasher.update(block); }));
        const WholeDigests found = hasher.finish();
        differs[slice] = found.xxh3 != known.xxh3 || found.sha256 != known.sha256 ? 1 : 0;
        return {};
    };
    DS_TRY(const WalkEvidence evidence, walkTensors(*walk, means.threads, task, hash));
    check.noopsSeen = evidence.noopsSeen;
    check.tensorsCompared = walk->size();
    for (std::size_t i = 0; i < walk->size(); ++i) {
        check.bySha256 += digests.known(all.known[i]).sha256 ? 1 : 0;
        if (differs[i] != 0)
            check.different.push_back(walk->tensor(i).name);
    }
    std::sort(check.different.begin(), check.different.end());
    if (!check.different.empty()) // or the state is not what its publisher recorded
        DS_CHECK(rootOfState(bench, stored, LeafHasher::Strength::Fast, task));
    return check;
}

}

Result<DigestCheck> checkDigests(const Workbench& bench, const State& state, const DigestState& digests,
                                 TaskContext& task)
{
    return ifSound(checkTensors(bench, state, digests, task), { &state }, task);
}

} // namespace deltascope
