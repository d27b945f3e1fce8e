#include "sample_distance.h"

#include "compensated_sum.h"
#include "deltascope/engine/walk.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace deltascope {

namespace {

constexpr std::uint64_t MostSampledBytes = 64ULL << 20;
constexpr std::uint64_t LeastSampledElements = 4096; ///< of one tensor, if it has as many

/// Counters and masks move in other measures than weights.
bool hasFractions(Dtype dtype) { return word(dtype).starts_with("F") || word(dtype).starts_with("BF"); }

struct SampledPair {
    TensorSlice a, b;
    Dtype dtype = Dtype::F32;
};

}

Result<SampleDistance> sampleDistance(const State& a, const State& b, const WalkMeans& means, TaskContext& task)
{
    SampleDistance out;
    std::vector<SampledPair> pairs;
    std::uint64_t shared = 0;
    std::uint64_t all = 0;
    std::uint64_t sharedBytes = 0;
    const TensorRange ofA = a.tensors();
    const TensorRange ofB = b.tensors();
    for (std::size_t i = 0; i < ofA.size(); ++i) {
        const TensorInfo& tensor = ofA[i];
        all += tensor.elements();
        const std::optional<std::size_t> same = b.indexOf(tensor.name);
        if (!same || ofB[*same].dtype != tensor.dtype || ofB[*same].shape != tensor.shape)
            continue;
        shared += tensor.elements();
        if (!hasFractions(tensor.dtype) || !isNumber(tensor.dtype))
            continue;
        sharedBytes += tensor.bytes();
        pairs.push_back({ { i }, { *same }, tensor.dtype });
    }
    out.isOneModel = shared * 2 > all;
    const double share = std::min(1.0, static_cast<double>(MostSampledBytes) / static_cast<double>(sharedBytes + 1));
    std::uint64_t taken = 0;
    std::vector<TensorSlice> slicesA;
    std::vector<TensorSlice> slicesB;
    std::vector<Dtype> dtypes;
    for (SampledPair& pair : pairs) {
        const std::uint64_t elements = ofA[pair.a.tensor].elements();
        const auto wanted = static_cast<std::uint64_t>(std::ceil(static_cast<double>(elements) * share));
        pair.a.end = pair.b.end = std::min(elements, std::max(wanted, LeastSampledElements));
        taken += pair.a.end * bitsOf(pair.dtype) / 8;
        if (taken > MostSampledBytes)
            break;
        slicesA.push_back(pair.a);
        slicesB.push_back(pair.b);
        dtypes.push_back(pair.dtype);
    }
    if (slicesA.empty())
        return out;
    DS_TRY(const std::unique_ptr<StateWalk> walkA, a.walk(slicesA, { means }));
    DS_TRY(const std::unique_ptr<StateWalk> walkB, b.walk(slicesB, { means }));
    std::vector<double> norms(dtypes.size());
    DS_CHECK(walkPairs(*walkA, *walkB, means.threads, task, [&](std::size_t n, PairReader& reader) -> Result<void> {
        Sum squares;
        const std::unique_ptr<PairBatches> blocks =
            means.backend->measure(dtypes[n], [&](const DiffMoments& moments) { squares.add(moments.movedSquares); });
        DS_CHECK(forEachPair(reader, task, [&](ByteSpan x, ByteSpan y) { return blocks->add(x, y); }));
        DS_CHECK(blocks->finish());
        norms[n] = std::sqrt(squares.value());
        return {};
    }));
    for (const double norm : norms)
        out.norm = std::hypot(out.norm, norm);
    return out;
}

} // namespace deltascope
