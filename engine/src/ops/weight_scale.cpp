#include "deltascope/engine/cost.h"

#include "backend/value_sums.h"
#include "deltascope/engine/operations.h"
#include "deltascope/engine/walk.h"

#include <algorithm>

namespace deltascope {

namespace {

constexpr std::uint64_t MostBytes = 64ULL << 20; ///< of all tensors together
constexpr std::uint64_t MostBytesOfTensor = 1ULL << 20;
constexpr std::uint64_t LeastBytesOfLook = 16 * 1024;
constexpr std::uint64_t LeastElements = 4096;

bool isWeight(const TensorInfo& tensor)
{
    return tensor.shape.size() >= 2 && tensor.elements() >= LeastElements
        && (tensor.dtype == Dtype::BF16 || tensor.dtype == Dtype::F16 || tensor.dtype == Dtype::F32);
}

/// The complete state that rebuilding the newest step starts from. Nothing: the run has none.
std::optional<Plan> planOfStart(const Run& run)
{
    Plan start;
    const Version* const latest = run.latest();
    const Result<Plan> plan = latest ? planFor(run, *latest) : Result<Plan>(Plan {});
    if (plan && !plan->links.empty() && !plan->fromExternalBase)
        start.links.push_back(plan->links.front());
    else if (run.base)
        start.fromExternalBase = true;
    else
        return std::nullopt;
    return start;
}

/// Adds looks at a tensor, spread over all of it; each begins with a block.
void addLooks(const State& state, std::size_t tensor, std::uint64_t mostBytes, std::vector<TensorSlice>& looks)
{
    const TensorInfo& info = state.tensors()[tensor];
    const std::uint64_t width = bitsOf(info.dtype) / 8;
    const std::uint64_t block = blockBytesOf(info.dtype);
    const std::uint64_t blocks = (info.bytes() + block - 1) / block;
    const std::uint64_t count = std::clamp<std::uint64_t>(mostBytes / LeastBytesOfLook, 1, blocks);
    const std::uint64_t bytes = std::min(block, mostBytes / count);
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t begin = blocks * i / count * block;
        looks.push_back({ tensor, begin / width, std::min(begin + bytes, info.bytes()) / width });
    }
}

Result<std::vector<WeightScale>> sample(const State& state, const WalkMeans& means, TaskContext& task)
{
    const TensorRange tensors = state.tensors();
    std::vector<std::size_t> weights;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (isWeight(tensors[i]))
            weights.push_back(i);
    }
    std::stable_sort(weights.begin(), weights.end(),
                     [&](std::size_t a, std::size_t b) { return tensors[a].bytes() > tensors[b].bytes(); });
    weights.resize(std::min<std::size_t>(weights.size(), MostBytes / LeastBytesOfLook));
    std::vector<WeightScale> scales;
    if (weights.empty())
        return scales;
    std::vector<TensorSlice> looks;
    std::vector<std::size_t> scaleOf; ///< of each look
    for (const std::size_t weight : weights) {
        addLooks(state, weight, std::min(MostBytesOfTensor, MostBytes / weights.size()), looks);
        scaleOf.resize(looks.size(), scales.size());
        scales.push_back({ tensors[weight].name, tensors[weight].dtype, tensors[weight].elements(), 0, 0 });
    }
    DS_TRY(const std::unique_ptr<StateWalk> walk, state.walk(looks, { means }));
    std::vector<ValueSums> sumsOf(looks.size());
    const SliceWork add = [&](std::size_t look, SliceReader& reader) {
        return forEachBlock(reader, task,
                            [&](ByteSpan block) { sumsOf[look] += sumValues(block, walk->tensor(look).dtype); });
    };
    DS_CHECK(walkTensors(*walk, means.threads, task, add));
    std::vector<ValueSums> sums(scales.size());
    for (std::size_t look = 0; look < looks.size(); ++look) {
        const SliceBytes bytes = bytesOf(looks[look], walk->tensor(look));
        sums[scaleOf[look]] += sumsOf[look];
        scales[scaleOf[look]].sampledBytes += bytes.end - bytes.begin;
    }
    for (std::size_t i = 0; i < scales.size(); ++i)
        scales[i].sigma = sums[i].deviation();
    return scales;
}

}

Result<std::vector<WeightScale>> sampleWeightScales(Workbench& bench, const Run& run, TaskContext& task)
{
    const std::optional<Plan> start = planOfStart(run);
    if (!start)
        return std::vector<WeightScale>();
    DS_TRY(const PathPtr state, openChecked(bench, run, *start, false, task));
    DS_TRY(const WalkMeans means, bench.means());
    task.beginPhase("sample of weights", 0);
    return ifSound(sample(*state, means, task), { state.get() }, task);
}

} // namespace deltascope
