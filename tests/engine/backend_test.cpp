#include "deltascope/engine/backend.h"

#include "support/device.h"
#include "support/sanitizer.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <string>
#include <sys/mman.h>
#include <utility>
#include <vector>

namespace deltascope {
namespace {

constexpr unsigned Widths[] = { 1, 2, 4, 8 };

const Backends& built()
{
    static const Backends all = test::allBackends();
    return all;
}

/// A stretch that ends where its allocation ends, so that a sanitizer sees the first byte read behind it, and that
/// starts `offset` bytes into it.
class Stretch {
public:
    Stretch(std::size_t sizeBytes, std::size_t offset)
        : m_bytes(std::make_unique<std::byte[]>(offset + sizeBytes))
        , m_span(m_bytes.get() + offset, sizeBytes)
    {
    }

    MutableByteSpan span() const { return m_span; }

private:
    std::unique_ptr<std::byte[]> m_bytes;
    MutableByteSpan m_span;
};

struct Pair {
    Stretch before;
    Stretch after;

    Pair(std::size_t sizeBytes, std::size_t beforeOffset, std::size_t afterOffset, std::uint32_t seed)
        : before(sizeBytes, beforeOffset)
        , after(sizeBytes, afterOffset)
    {
        std::mt19937 random(seed);
        std::generate(before.span().begin(), before.span().end(), [&] { return static_cast<std::byte>(random()); });
        std::copy(before.span().begin(), before.span().end(), after.span().begin());
    }

    /// Flips one bit of an element, a different one each time.
    void change(std::size_t element, unsigned width) const
    {
        const std::size_t bit = element * 7 % (width * 8);
        after.span()[element * width + bit / 8] ^= std::byte { 1 } << (bit % 8);
    }
};

struct Extracted {
    std::vector<std::uint32_t> positions;
    std::vector<std::byte> values;

    bool operator==(const Extracted&) const = default;
};

constexpr std::size_t GuardBytes = 64;
constexpr std::byte Guard { 0xa5 };

/// Everything that the backend found; fails if it writes behind the slack.
Extracted extractWith(const Backend& backend, const Pair& pair, unsigned width)
{
    const std::size_t room = pair.before.span().size() / width + Backend::SlackElements;
    std::vector<std::byte> positionBytes(room * sizeof(std::uint32_t) + GuardBytes, Guard);
    std::vector<std::byte> valueBytes(room * width + GuardBytes, Guard);
    auto* const positions = reinterpret_cast<std::uint32_t*>(positionBytes.data());
    const std::size_t found =
        backend.extract(pair.before.span(), pair.after.span(), width, positions, valueBytes.data());
    const auto untouched = [](std::byte byte) { return byte == Guard; };
    EXPECT_TRUE(std::all_of(positionBytes.end() - GuardBytes, positionBytes.end(), untouched));
    EXPECT_TRUE(std::all_of(valueBytes.end() - GuardBytes, valueBytes.end(), untouched));
    EXPECT_LE(found, pair.before.span().size() / width);
    Extracted out;
    out.positions.assign(positions, positions + found);
    out.values.assign(valueBytes.begin(), valueBytes.begin() + static_cast<std::ptrdiff_t>(found * width));
    return out;
}

/// The plain meaning, written without any backend.
Extracted expected(const Pair& pair, unsigned width)
{
    Extracted out;
    const MutableByteSpan before = pair.before.span();
    const MutableByteSpan after = pair.after.span();
    for (std::size_t at = 0; at < before.size(); at += width) {
        if (std::equal(&before[at], &before[at] + width, &after[at]))
            continue;
        out.positions.push_back(static_cast<std::uint32_t>(at / width));
        out.values.insert(out.values.end(), &after[at], &after[at] + width);
    }
    return out;
}

std::vector<std::byte> copyOf(MutableByteSpan span) { return { span.begin(), span.end() }; }

/// All operations of `backend` on `pair`.
void check(const Backend& backend, const Pair& pair, unsigned width)
{
    SCOPED_TRACE(testing::Message() << backend.name() << ", " << width << " bytes per element, "
                                    << pair.before.span().size() / width << " elements");
    const Extracted truth = expected(pair, width);
    const MutableByteSpan before = pair.before.span();
    const MutableByteSpan after = pair.after.span();
    EXPECT_EQ(backend.count(before, after, width), truth.positions.size());
    EXPECT_EQ(extractWith(backend, pair, width), truth);

    std::vector<std::byte> mask(before.size());
    std::transform(before.begin(), before.end(), after.begin(), mask.begin(), std::bit_xor<>());
    std::vector<std::byte> out(before.size() + GuardBytes, Guard);
    EXPECT_EQ(backend.xorInto(before, after, width, MutableByteSpan(out).first(before.size())), truth.positions.size());
    EXPECT_TRUE(std::equal(mask.begin(), mask.end(), out.begin()));
    EXPECT_EQ(out.back(), Guard);
    EXPECT_EQ(out[before.size()], Guard);

    std::vector<std::byte> inPlace = copyOf(before);
    EXPECT_EQ(backend.xorInto(inPlace, after, width, inPlace), truth.positions.size());
    EXPECT_EQ(inPlace, mask);
    inPlace = copyOf(after);
    EXPECT_EQ(backend.xorInto(before, inPlace, width, inPlace), truth.positions.size());
    EXPECT_EQ(inPlace, mask);
}

/// Every backend that was built; those that this machine cannot run are skipped, and say so.
class BackendConformance : public testing::TestWithParam<std::string> {
protected:
    void SetUp() override
    {
        const Result<std::shared_ptr<const Backend>> chosen = built().choose(GetParam());
        if (!chosen)
            GTEST_SKIP() << chosen.error().text;
        backend = *chosen;
        ASSERT_EQ(backend->name(), GetParam());
    }

    std::shared_ptr<const Backend> backend;
};

std::vector<std::string> builtNames()
{
    std::vector<std::string> names;
    for (const auto& backend : built().all())
        names.emplace_back(backend->name());
    return names;
}

INSTANTIATE_TEST_SUITE_P(All, BackendConformance, testing::ValuesIn(builtNames()),
                         [](const testing::TestParamInfo<std::string>& info) { return info.param; });

// One, two and many vectors of every target, the 64 elements that are compared at a time, and the 8 KiB chunks of
// extract.
const std::size_t Sizes[] = { 0,   1,   2,   3,   7,   8,   9,   15,   16,   17,   31,   32,   33,   63,    64,   65,
                              127, 128, 129, 191, 255, 256, 257, 1023, 1024, 1025, 4095, 4096, 4097, 16385, 20001 };

TEST_P(BackendConformance, NothingChanged)
{
    for (const unsigned width : Widths)
        for (const std::size_t elements : Sizes)
            check(*backend, Pair(elements * width, 0, 0, 1), width);
}

TEST_P(BackendConformance, EverythingChanged)
{
    for (const unsigned width : Widths)
        for (const std::size_t elements : Sizes) {
            const Pair pair(elements * width, 0, 0, 2);
            for (std::size_t i = 0; i < elements; ++i)
                pair.change(i, width);
            check(*backend, pair, width);
        }
}

TEST_P(BackendConformance, EverySecondChanged)
{
    for (const unsigned width : Widths)
        for (const std::size_t elements : Sizes) {
            const Pair pair(elements * width, 0, 0, 3);
            for (std::size_t i = elements % 2; i < elements; i += 2)
                pair.change(i, width);
            check(*backend, pair, width);
        }
}

TEST_P(BackendConformance, OnlyTheLastElementChanged)
{
    for (const unsigned width : Widths)
        for (const std::size_t elements : Sizes) {
            if (elements == 0)
                continue;
            const Pair pair(elements * width, 0, 0, 4);
            pair.change(elements - 1, width);
            check(*backend, pair, width);
        }
}

TEST_P(BackendConformance, OneChangeAtEachPlaceAndBit)
{
    for (const unsigned width : Widths) {
        const std::size_t elements = 131;
        for (std::size_t bit = 0; bit < elements * width * 8; bit += 5) {
            const Pair pair(elements * width, 0, 0, 5);
            pair.after.span()[bit / 8] ^= std::byte { 1 } << (bit % 8);
            ASSERT_EQ(backend->count(pair.before.span(), pair.after.span(), width), 1u) << bit;
            ASSERT_EQ(extractWith(*backend, pair, width), expected(pair, width)) << bit;
        }
    }
}

TEST_P(BackendConformance, StartsNeedNotBeAligned)
{
    for (const unsigned width : Widths)
        for (const auto& [beforeOffset, afterOffset] : { std::pair(1, 0), { 0, 1 }, { 3, 5 }, { 7, 7 }, { 63, 33 } }) {
            const std::size_t elements = 1237;
            const Pair pair(elements * width, static_cast<std::size_t>(beforeOffset),
                            static_cast<std::size_t>(afterOffset), 6);
            for (std::size_t i = 0; i < elements; i += 11)
                pair.change(i, width);
            check(*backend, pair, width);
        }
}

TEST_P(BackendConformance, RandomDensities)
{
    std::mt19937 random(7);
    for (const unsigned width : Widths)
        for (const double density : { 0.0005, 0.002, 0.01, 0.03, 0.1, 0.3, 0.5, 0.9, 0.99 })
            for (int round = 0; round < 4; ++round) {
                const std::size_t elements = 5000 + random() % 15000;
                const Pair pair(elements * width, random() % 64, random() % 64, random());
                std::bernoulli_distribution changed(density);
                for (std::size_t i = 0; i < elements; ++i)
                    if (changed(random))
                        pair.change(i, width);
                check(*backend, pair, width);
            }
}

TEST_P(BackendConformance, FullGroupsBesideEmptyOnes)
{
    for (const unsigned width : Widths)
        for (const std::size_t run : { 1, 4, 5, 8, 9, 16, 32, 63, 64, 65, 500 }) {
            const std::size_t elements = 6007;
            const Pair pair(elements * width, 0, 0, 8);
            for (std::size_t i = 0; i < elements; ++i)
                if (i / run % 2 == 1)
                    pair.change(i, width);
            check(*backend, pair, width);
        }
}

/// Patterns that compare differently as numbers than as bits: zeros, infinities, NaNs, quiet and signalling, denormals.
template <class Word> void checkPatterns(const Backend& backend, const std::vector<Word>& patterns)
{
    const std::size_t elements = patterns.size() * patterns.size();
    const Pair pair(elements * sizeof(Word), 0, 0, 9);
    for (std::size_t i = 0; i < elements; ++i) {
        storeLe<Word>(pair.before.span(), i * sizeof(Word), patterns[i / patterns.size()]);
        storeLe<Word>(pair.after.span(), i * sizeof(Word), patterns[i % patterns.size()]);
    }
    EXPECT_EQ(backend.count(pair.before.span(), pair.after.span(), sizeof(Word)), elements - patterns.size());
    check(backend, pair, sizeof(Word));
}

TEST_P(BackendConformance, ComparesBitsNotNumbers)
{
    checkPatterns<std::uint8_t>(*backend, { 0x00, 0x80, 0x7f, 0xff, 0x7e, 0xfe, 0x7c, 0xfc, 0x01, 0x81, 0x38 });
    checkPatterns<std::uint16_t>(
        *backend,
        { 0x0000, 0x8000, 0x7f80, 0xff80, 0x7fc0, 0xffc0, 0x7f81, 0x7fff, 0x7c00, 0x7e00, 0x0001, 0x8001, 0x3f80 });
    checkPatterns<std::uint32_t>(*backend,
                                 { 0x0000'0000, 0x8000'0000, 0x7f80'0000, 0xff80'0000, 0x7fc0'0000, 0xffc0'0000,
                                   0x7f80'0001, 0x7fff'ffff, 0x0000'0001, 0x8000'0001, 0x3f80'0000 });
    checkPatterns<std::uint64_t>(*backend,
                                 { 0, 0x8000'0000'0000'0000, 0x7ff0'0000'0000'0000, 0xfff0'0000'0000'0000,
                                   0x7ff8'0000'0000'0000, 0xfff8'0000'0000'0000, 0x7ff0'0000'0000'0001, UINT64_MAX, 1,
                                   0x0000'0001'0000'0000, 0x3ff0'0000'0000'0000 });
}

/// Zeroed memory that costs nothing until it is written to; `at` is null if the system refuses it.
struct Sparse {
    explicit Sparse(std::size_t sizeBytes)
        : size(sizeBytes)
    {
        void* const got =
            mmap(nullptr, sizeBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        at = got == MAP_FAILED ? nullptr : static_cast<std::byte*>(got);
    }
    ~Sparse()
    {
        if (at != nullptr)
            munmap(at, size);
    }
    Sparse(const Sparse&) = delete;
    Sparse& operator=(const Sparse&) = delete;

    MutableByteSpan span() const { return { at, size }; }

    std::byte* at = nullptr;
    std::size_t size;
};

TEST_P(BackendConformance, PositionsPast2To31)
{
    if (test::UnderSanitizer)
        GTEST_SKIP() << "a sanitizer looks at each of 2^31 elements: 16 GiB or a minute; the release build runs it";
    if (backend->name() == "cuda" && !test::isRealDevice())
        GTEST_SKIP() << "lanes that run one after the other look at 2^31 elements for minutes";
    const std::size_t elements = (std::size_t { 1 } << 31) + 129;
    const Sparse before(elements);
    const Sparse after(elements);
    const Sparse positionBytes((elements + Backend::SlackElements) * sizeof(std::uint32_t));
    const Sparse values(elements + Backend::SlackElements);
    if (before.at == nullptr || after.at == nullptr || positionBytes.at == nullptr || values.at == nullptr)
        GTEST_SKIP() << "no address space for 2^31 elements";
    const std::vector<std::uint32_t> changed = { 0, 0x7fff'ffff, 0x8000'0000, 0x8000'0040, 0x8000'0080 };
    for (const std::uint32_t element : changed)
        after.at[element] = std::byte { 7 };
    EXPECT_EQ(backend->count(before.span(), after.span(), 1), changed.size());
    auto* const positions = reinterpret_cast<std::uint32_t*>(positionBytes.at);
    ASSERT_EQ(backend->extract(before.span(), after.span(), 1, positions, values.at), changed.size());
    EXPECT_TRUE(std::equal(changed.begin(), changed.end(), positions));
    EXPECT_TRUE(
        std::all_of(values.at, values.at + changed.size(), [](std::byte value) { return value == std::byte { 7 }; }));
}

TEST(Backends, ScalarComesFirstAndNamesDiffer)
{
    std::vector<std::string> names = builtNames();
    ASSERT_FALSE(names.empty());
    EXPECT_EQ(names.front(), "scalar");
    EXPECT_TRUE(built().all().front()->isSupportedHere());
    std::sort(names.begin(), names.end());
    EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
}

TEST(Backends, TheFastestSupportedOneIsChosen)
{
    const auto chosen = built().choose("");
    ASSERT_TRUE(chosen);
    EXPECT_TRUE((*chosen)->isSupportedHere());
    bool behind = false; // nothing that this machine runs comes after it
    for (const auto& backend : built().all()) {
        EXPECT_FALSE(behind && !backend->byNameOnly() && backend->isSupportedHere()) << backend->name();
        behind |= backend == *chosen;
    }
    EXPECT_TRUE(behind);
}

TEST(Backends, TheForcedOneIsTheOneThatRuns)
{
    for (const auto& backend : built().all()) {
        const auto chosen = built().choose(backend->name());
        if (!backend->isSupportedHere()) {
            ASSERT_FALSE(chosen) << backend->name();
            EXPECT_EQ(chosen.error().code, Code::Unsupported);
            continue;
        }
        ASSERT_TRUE(chosen) << backend->name();
        EXPECT_EQ(*chosen, backend);
        EXPECT_EQ((*chosen)->name(), backend->name());
    }
}

TEST(Backends, AnUnknownNameIsRefusedAndTheKnownOnesAreListed)
{
    for (const std::string_view name : { "AVX2", "avx", "scalar ", "cuda9" }) {
        const auto chosen = built().choose(name);
        ASSERT_FALSE(chosen) << name;
        EXPECT_EQ(chosen.error().code, Code::Usage);
        for (const auto& backend : built().all())
            EXPECT_NE(chosen.error().text.find(backend->name()), std::string::npos) << chosen.error().text;
    }
}

#if defined(__x86_64__)
TEST(Backends, VectorTargetsOfX86RunWhereTheProcessorHasThem)
{
    const Backends builtin = Backends::builtin();
    EXPECT_EQ(builtin.all().back()->name(), "avx512"); // a build for this very processor may leave out avx2
    const bool avx2 = __builtin_cpu_supports("avx2") != 0;
    const bool avx512 = __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0;
    for (const auto& backend : builtin.all()) {
        const bool expected = backend->name() == "scalar" || (backend->name() == "avx2" ? avx2 : avx512);
        EXPECT_EQ(backend->isSupportedHere(), expected) << backend->name();
    }
}
#endif

} // namespace
} // namespace deltascope
