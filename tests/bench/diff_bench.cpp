// How fast changes are found, against what this machine's memory gives. All ratios are taken inside one run: every pass
// of a kernel is followed by one plain two-stream read of the same bytes by the same threads ("x_read2" is the ratio of
// medians).
//
//   deltascope-bench-diff [--benchmark_filter=REGEX] [--benchmark_format=json] …
//
// Counters (look at these, not at "Time", which the library divides by the threads twice): GB/s counts the bytes of
// both inputs (of one for BM_read1 and BM_memcpy); spread is max/min of the middle five reference passes: a row
// above 1.25 is noise. Before a density is timed, every backend must have found exactly the changes that were made; a
// mismatch ends the program with status 1.
#include "deltascope/engine/backend.h"

#include <algorithm>
#include <barrier>
#include <benchmark/benchmark.h>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <new>
#include <random>
#include <sys/mman.h>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "diff_bench.cpp"
#include <hwy/foreach_target.h> // before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace deltascope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Lanes = hn::ScalableTag<std::uint64_t>;

HWY_INLINE auto loadAt(const std::uint64_t* at) { return hn::LoadU(Lanes(), at); }

/// The xor of all words, with the widest vectors and four independent sums.
std::uint64_t readOne(const std::uint64_t* a, std::size_t words)
{
    const Lanes d;
    const std::size_t step = hn::Lanes(d);
    auto sum0 = hn::Zero(d);
    auto sum1 = sum0;
    auto sum2 = sum0;
    auto sum3 = sum0;
    for (std::size_t i = 0; i + 4 * step <= words; i += 4 * step) {
        sum0 = hn::Xor(sum0, loadAt(a + i));
        sum1 = hn::Xor(sum1, loadAt(a + i + step));
        sum2 = hn::Xor(sum2, loadAt(a + i + 2 * step));
        sum3 = hn::Xor(sum3, loadAt(a + i + 3 * step));
    }
    return hn::GetLane(hn::SumOfLanes(d, hn::Xor(hn::Xor(sum0, sum1), hn::Xor(sum2, sum3))));
}

/// The same over two streams: all that a comparison must read, and no work on it.
std::uint64_t readTwo(const std::uint64_t* a, const std::uint64_t* b, std::size_t words)
{
    const Lanes d;
    const std::size_t step = hn::Lanes(d);
    auto sum0 = hn::Zero(d);
    auto sum1 = sum0;
    auto sum2 = sum0;
    auto sum3 = sum0;
    for (std::size_t i = 0; i + 4 * step <= words; i += 4 * step) {
        sum0 = hn::Xor(sum0, hn::Xor(loadAt(a + i), loadAt(b + i)));
        sum1 = hn::Xor(sum1, hn::Xor(loadAt(a + i + step), loadAt(b + i + step)));
        sum2 = hn::Xor(sum2, hn::Xor(loadAt(a + i + 2 * step), loadAt(b + i + 2 * step)));
        sum3 = hn::Xor(sum3, hn::Xor(loadAt(a + i + 3 * step), loadAt(b + i + 3 * step)));
    }
    return hn::GetLane(hn::SumOfLanes(d, hn::Xor(hn::Xor(sum0, sum1), hn::Xor(sum2, sum3))));
}

} // namespace HWY_NAMESPACE
} // namespace deltascope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace deltascope {

HWY_EXPORT(readOne);
HWY_EXPORT(readTwo);

namespace {

constexpr std::size_t BufferBytes = std::size_t { 256 } << 20;
constexpr unsigned ElementBytes = 2; // bf16
constexpr std::size_t Elements = BufferBytes / ElementBytes;
constexpr int Passes = 15;
constexpr std::size_t HugePageBytes = std::size_t { 2 } << 20;

const Backends& backends()
{
    static const Backends all = Backends::builtin();
    return all;
}

struct Free {
    void operator()(void* at) const noexcept { std::free(at); }
};

template <class T> std::unique_ptr<T[], Free> bigBuffer(std::size_t count)
{
    const std::size_t sizeBytes = (count * sizeof(T) + HugePageBytes - 1) / HugePageBytes * HugePageBytes;
    void* const at = std::aligned_alloc(HugePageBytes, sizeBytes);
    if (at == nullptr)
        throw std::bad_alloc();
    madvise(at, sizeBytes, MADV_HUGEPAGE); // a hint; without it page faults and TLB misses are measured
    return std::unique_ptr<T[], Free>(static_cast<T*>(at));
}

/// Both inputs, and room for what extract finds. Densities are per mille.
class Data {
public:
    Data()
    {
        std::mt19937_64 random(1);
        for (std::size_t i = 0; i < Elements; i += 4) {
            const std::uint64_t bits = random();
            std::memcpy(&before[i], &bits, sizeof bits);
        }
    }

    void prepare(std::int64_t perMille)
    {
        if (perMille == m_perMille)
            return;
        m_perMille = perMille;
        std::memcpy(after.get(), before.get(), BufferBytes);
        std::vector<std::uint32_t> truth;
        std::mt19937_64 random(2);
        if (perMille > 0) {
            std::geometric_distribution<std::size_t> gap(static_cast<double>(perMille) / 1000);
            for (std::size_t i = gap(random); i < Elements; i += 1 + gap(random)) {
                ++after[i]; // one step of the last bit, as training does
                truth.push_back(static_cast<std::uint32_t>(i));
            }
        }
        for (const auto& backend : backends().all())
            if (backend->isSupportedHere() && !findsExactly(*backend, truth)) {
                fmt::print(stderr, "{} is wrong at {} per mille; nothing is timed\n", backend->name(), perMille);
                std::exit(1);
            }
    }

    std::unique_ptr<std::uint16_t[], Free> before = bigBuffer<std::uint16_t>(Elements);
    std::unique_ptr<std::uint16_t[], Free> after = bigBuffer<std::uint16_t>(Elements);
    std::unique_ptr<std::uint32_t[], Free> positions = bigBuffer<std::uint32_t>(Elements + Backend::SlackElements);
    std::unique_ptr<std::uint16_t[], Free> values = bigBuffer<std::uint16_t>(Elements + Backend::SlackElements);

private:
    bool findsExactly(const Backend& backend, const std::vector<std::uint32_t>& truth)
    {
        const ByteSpan a = std::as_bytes(std::span(before.get(), Elements));
        const ByteSpan b = std::as_bytes(std::span(after.get(), Elements));
        std::memset(positions.get(), 0xff, truth.size() * sizeof truth[0]);
        std::memset(values.get(), 0xff, truth.size() * ElementBytes);
        if (backend.count(a, b, ElementBytes) != truth.size())
            return false;
        if (backend.extract(a, b, ElementBytes, positions.get(), reinterpret_cast<std::byte*>(values.get()))
            != truth.size())
            return false;
        for (std::size_t i = 0; i < truth.size(); ++i)
            if (positions[i] != truth[i] || values[i] != after[truth[i]])
                return false;
        return true;
    }

    std::int64_t m_perMille = -1;
};

Data& data()
{
    static Data only;
    return only;
}

/// What one thread works on.
struct Share {
    const std::uint16_t* before;
    const std::uint16_t* after;
    std::uint32_t* positions;
    std::uint16_t* values;
    std::size_t elements;

    ByteSpan beforeBytes() const { return std::as_bytes(std::span(before, elements)); }
    ByteSpan afterBytes() const { return std::as_bytes(std::span(after, elements)); }
    const std::uint64_t* beforeWords() const { return reinterpret_cast<const std::uint64_t*>(before); }
    const std::uint64_t* afterWords() const { return reinterpret_cast<const std::uint64_t*>(after); }
    std::size_t words() const { return elements * ElementBytes / sizeof(std::uint64_t); }
};

Share shareOf(const benchmark::State& state)
{
    const std::size_t elements = Elements / static_cast<std::size_t>(state.threads());
    const std::size_t from = elements * static_cast<std::size_t>(state.thread_index());
    Data& all = data();
    return { &all.before[from], &all.after[from], &all.positions[from], &all.values[from], elements };
}

double secondsSince(std::chrono::steady_clock::time_point began)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

double medianOf(std::vector<double>& seconds)
{
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
}

/// The threads of the running benchmark start every pass together.
std::unique_ptr<std::barrier<>> passStart;

void setUp(const benchmark::State& state)
{
    data().prepare(state.range(0));
    passStart = std::make_unique<std::barrier<>>(state.threads());
}

/// Runs `pass(share)` and the reference alternately; `sizeBytes`: what a pass of this thread is taken to have moved.
template <class Pass> void measure(benchmark::State& state, std::size_t inputs, const Pass& pass)
{
    const Share share = shareOf(state);
    const auto reference = [&share] {
        benchmark::DoNotOptimize(HWY_DYNAMIC_DISPATCH(readTwo)(share.beforeWords(), share.afterWords(), share.words()));
    };
    pass(share); // page faults and clock speed
    reference();
    std::vector<double> ours;
    std::vector<double> theirs;
    for ([[maybe_unused]] const auto _ : state) {
        passStart->arrive_and_wait();
        auto began = std::chrono::steady_clock::now();
        pass(share);
        ours.push_back(secondsSince(began));
        state.SetIterationTime(ours.back());
        passStart->arrive_and_wait();
        began = std::chrono::steady_clock::now();
        reference();
        theirs.push_back(secondsSince(began));
    }
    const double median = medianOf(ours);
    const std::size_t middle = theirs.size() / 2;
    const double referenceMedian = medianOf(theirs);
    state.counters["GB/s"] =
        static_cast<double>(inputs * share.elements * ElementBytes) / median / 1e9; // added up over threads
    state.counters["x_read2"] = benchmark::Counter(referenceMedian / median, benchmark::Counter::kAvgThreads);
    state.counters["spread"] =
        benchmark::Counter(theirs[middle + 2] / theirs[middle - 2], benchmark::Counter::kAvgThreads);
}

void readOneStream(benchmark::State& state)
{
    measure(state, 1, [](const Share& share) {
        benchmark::DoNotOptimize(HWY_DYNAMIC_DISPATCH(readOne)(share.beforeWords(), share.words()));
    });
}

void readTwoStreams(benchmark::State& state)
{
    measure(state, 2, [](const Share& share) {
        benchmark::DoNotOptimize(HWY_DYNAMIC_DISPATCH(readTwo)(share.beforeWords(), share.afterWords(), share.words()));
    });
}

void copyMemory(benchmark::State& state)
{
    measure(state, 1, [](const Share& share) {
        std::memcpy(share.values, share.before, share.elements * ElementBytes);
        benchmark::ClobberMemory();
    });
}

void countChanges(benchmark::State& state, const Backend& backend)
{
    measure(state, 2, [&backend](const Share& share) {
        benchmark::DoNotOptimize(backend.count(share.beforeBytes(), share.afterBytes(), ElementBytes));
    });
}

void extractChanges(benchmark::State& state, const Backend& backend)
{
    measure(state, 2, [&backend](const Share& share) {
        // The slack of one share lies in the room of the next, but far behind what is found at the densities here.
        benchmark::DoNotOptimize(backend.extract(share.beforeBytes(), share.afterBytes(), ElementBytes, share.positions,
                                                 reinterpret_cast<std::byte*>(share.values)));
        benchmark::ClobberMemory();
    });
}

void registerAll()
{
    const auto add = [](const std::string& name, const auto& run, const std::vector<std::int64_t>& perMilles) {
        auto* const bench = benchmark::RegisterBenchmark(name.c_str(), run);
        bench->ArgName("per_mille")->Setup(setUp)->Iterations(Passes)->UseManualTime()->Unit(benchmark::kMillisecond);
        for (const std::int64_t perMille : perMilles)
            bench->Arg(perMille);
        bench->Threads(1)->Threads(2);
    };
    const std::vector<std::int64_t> densities = { 0, 2, 10, 30, 100 };
    add("BM_read1", readOneStream, { 0 });
    add("BM_read2", readTwoStreams, { 0 });
    add("BM_memcpy", copyMemory, { 0 });
    for (const std::int64_t density : densities)
        for (const auto& backend : backends().all()) {
            if (!backend->isSupportedHere())
                continue;
            const Backend& which = *backend;
            const auto extract = [&which](benchmark::State& state) { extractChanges(state, which); };
            if (which.name() == "scalar") {
                add("BM_diff_scalar", extract, { density });
                continue;
            }
            add(fmt::format("BM_diff_count/{}", which.name()),
                [&which](benchmark::State& state) { countChanges(state, which); }, { density });
            add(fmt::format("BM_diff_extract/{}", which.name()), extract, { density });
        }
}

} // namespace
} // namespace deltascope

int main(int argc, char** argv)
{
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
        return 2;
    deltascope::registerAll();
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}

#endif // HWY_ONCE
