#include "deltascope/engine/cost.h"

#include "deltascope/base/bytes.h"
#include "deltascope/engine/parallel.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace deltascope {

namespace {

constexpr std::uint64_t SampleBytes = 16 * 1024; ///< of one look
constexpr std::uint64_t MostSamples = (64ULL << 20) / SampleBytes; ///< of all tensors together
constexpr std::uint64_t MostSamplesOfTensor = 64;
constexpr std::uint64_t LeastElements = 4096;

double halfValue(std::uint16_t bits)
{
    const int exponent = (bits >> 10) & 31;
    const int fraction = bits & 1023;
    if (exponent == 31)
        return std::numeric_limits<double>::quiet_NaN(); // Inf and NaN are left out alike
    const double size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    return (bits & 0x8000) ? -size : size;
}

double valueAt(ByteSpan bytes, std::size_t at, Dtype dtype)
{
    if (dtype == Dtype::F32)
        return std::bit_cast<float>(loadLe<std::uint32_t>(bytes, at));
    const auto half = loadLe<std::uint16_t>(bytes, at);
    return dtype == Dtype::F16 ? halfValue(half) : std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
}

/// Sums for a standard deviation.
struct Spread {
    double count = 0;
    double sum = 0;
    double squares = 0;

    void add(ByteSpan bytes, Dtype dtype)
    {
        for (std::size_t at = 0; at < bytes.size(); at += bitsOf(dtype) / 8) {
            const double value = valueAt(bytes, at, dtype);
            if (!std::isfinite(value))
                continue;
            count += 1;
            sum += value;
            squares += value * value;
        }
    }
    double sigma() const
    {
        if (count == 0)
            return 0;
        const double mean = sum / count;
        return std::sqrt(std::max(0.0, squares / count - mean * mean));
    }
};

bool isWeight(const TensorEntry& entry)
{
    if (!entry.info() || entry.info()->shape.size() < 2 || entry.info()->elements() < LeastElements)
        return false;
    return entry.info()->dtype == Dtype::BF16 || entry.info()->dtype == Dtype::F16 || entry.info()->dtype == Dtype::F32;
}

/// The complete state that rebuilding the newest step starts from.
Result<std::optional<OpenVersion>> openState(const Run& run, TaskContext& task)
{
    OpenVersion state;
    const Version* latest = run.latest();
    const Result<Plan> plan =
        latest ? planFor(run, *latest) : Result<Plan>(fail(Code::NotFound, "the run has no version"));
    if (plan && !plan->fromExternalBase) {
        state.store = run.store;
        state.layout = run.layout;
        const PlanLink& first = plan->links.front();
        state.objects = run.versions[first.version].objectsOf(first.form);
    } else if (run.base) {
        state.store = run.base->store;
        state.layout = run.base->layout;
        state.objects = run.base->objects;
    } else {
        return std::optional<OpenVersion>();
    }
    DS_TRY(state.index, state.layout->index(*state.store, state.objects, task));
    return std::optional(std::move(state));
}

Result<WeightScale> sampleTensor(const OpenVersion& state, const TensorEntry& entry, std::uint64_t samples,
                                 TaskContext& task)
{
    const TensorInfo& tensor = *entry.info();
    const std::uint64_t blocks = (tensor.bytes() + SampleBytes - 1) / SampleBytes;
    const std::uint64_t looks = std::min(samples, blocks);
    WeightScale scale { tensor.name, tensor.dtype, tensor.elements(), 0, 0 };
    Spread spread;
    for (std::uint64_t i = 0; i < looks; ++i) {
        DS_CHECK(task.checkpoint());
        const std::uint64_t begin = blocks * i / looks * SampleBytes;
        const std::uint64_t end = std::min(begin + SampleBytes, tensor.bytes());
        DS_TRY(const std::unique_ptr<PatchStream> stream,
               state.layout->open(*state.store, state.objects, state.index, entry, tensor, { &task, SampleBytes, {} }));
        if (begin > 0 && !stream->seekable())
            break; // reading all that lies before is no sample
        DS_TRY(const PatchPiece piece, stream->next(begin, end));
        const FullBlock* block = std::get_if<FullBlock>(&piece);
        if (!block)
            return fail(Code::Internal, "a complete tensor was read as a patch", entry.name());
        spread.add(block->bytes, tensor.dtype);
        scale.sampledBytes += end - begin;
        task.addDone(end - begin);
    }
    scale.sigma = spread.sigma();
    return scale;
}

}

Result<std::vector<WeightScale>> sampleWeightScales(Workbench& bench, const Run& run, TaskContext& task)
{
    DS_TRY(const std::optional<OpenVersion> state, openState(run, task));
    if (!state)
        return std::vector<WeightScale>();
    std::vector<const TensorEntry*> weights;
    for (const TensorEntry& entry : state->index.tensors) {
        if (isWeight(entry))
            weights.push_back(&entry);
    }
    std::stable_sort(weights.begin(), weights.end(), [](const TensorEntry* a, const TensorEntry* b) {
        return a->info()->bytes() > b->info()->bytes();
    });
    weights.resize(std::min<std::size_t>(weights.size(), MostSamples));
    std::vector<WeightScale> scales(weights.size());
    if (weights.empty())
        return scales;
    const std::uint64_t samples = std::min(MostSamplesOfTensor, MostSamples / weights.size());
    task.beginPhase("sample of weights", 0);
    DS_CHECK(forEachParallel(bench.threads, weights.size(), task, [&](std::size_t i) -> Result<void> {
        DS_TRY(scales[i], sampleTensor(*state, *weights[i], samples, task));
        return {};
    }));
    return scales;
}

} // namespace deltascope
