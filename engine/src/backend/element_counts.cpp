// What is counted of elements one after another, the same in every backend that has no better way.
#include "backend/nan_rule.h"
#include "backend/steps.h"
#include "deltascope/engine/backend.h"
#include "deltascope/engine/number_format.h"

#include <array>
#include <cassert>
#include <cstring>

namespace deltascope {

namespace {

template <class Format>
void countStepsOf(const Format& format, ByteSpan before, ByteSpan after, StepCounts& counts) noexcept
{
    using Bits = typename Format::Bits;
    for (std::size_t at = 0; at < before.size(); at += sizeof(Bits)) {
        const Bits x = loadLe<Bits>(before, at);
        const Bits y = loadLe<Bits>(after, at);
        if (x == y || format.isNan(x) || format.isNan(y))
            continue;
        const std::size_t bin = StepCounts::binOf(distance(format.ordered(x), format.ordered(y)));
        ++counts.all[bin];
        if constexpr (sizeof(Bits) == 2)
            counts.sameLowByte[bin] += ((x ^ y) & 0xff) == 0;
    }
}

template <class Bits> void countPatternsOf(ByteSpan elements, std::span<std::uint64_t> counts) noexcept
{
    for (std::size_t at = 0; at < elements.size(); at += sizeof(Bits))
        ++counts[loadLe<Bits>(elements, at)];
}

/// In stripes of a fixed length, which compilers turn into vectors.
template <class Word> std::uint64_t countNanOf(ByteSpan elements, const NanRule<Word>& isNan) noexcept
{
    constexpr std::size_t StripeElements = 128; // a word of 8 bits counts them
    std::array<Word, StripeElements> stripe;
    std::uint64_t nan = 0;
    std::size_t at = 0;
    for (; at + sizeof stripe <= elements.size(); at += sizeof stripe) {
        std::memcpy(stripe.data(), elements.data() + at, sizeof stripe);
        Word inStripe = 0;
        for (const Word word : stripe)
            inStripe = static_cast<Word>(inStripe + (isNan(word) ? 1 : 0));
        nan += inStripe;
    }
    for (; at < elements.size(); at += sizeof(Word))
        nan += isNan(loadLe<Word>(elements, at)) ? 1 : 0;
    return nan;
}

} // namespace

void scalarSteps(ByteSpan before, ByteSpan after, Dtype dtype, StepCounts& counts) noexcept
{
    assert(before.size() == after.size() && before.size() * 8 % bitsOf(dtype) == 0);
    const auto count = [&](auto format) { countStepsOf(format, before, after, counts); };
    [[maybe_unused]] const bool counted = withNumbers(dtype, count, count);
    assert(counted);
}

void Backend::countSteps(ByteSpan before, ByteSpan after, Dtype dtype, StepCounts& counts) const noexcept
{
    scalarSteps(before, after, dtype, counts);
}

void Backend::countPatterns(ByteSpan elements, unsigned elementBytes, std::span<std::uint64_t> counts) const noexcept
{
    assert(elements.size() % elementBytes == 0 && counts.size() == std::size_t { 1 } << (8 * elementBytes));
    if (elementBytes == 1)
        return countPatternsOf<std::uint8_t>(elements, counts);
    assert(elementBytes == 2);
    countPatternsOf<std::uint16_t>(elements, counts);
}

std::uint64_t Backend::countNan(ByteSpan elements, Dtype dtype) const noexcept
{
    assert(bitsOf(dtype) % 8 == 0 && elements.size() * 8 % bitsOf(dtype) == 0);
    switch (bitsOf(dtype)) {
    case 8:
        return countNanOf(elements, nanRule<std::uint8_t>(dtype));
    case 16:
        return countNanOf(elements, nanRule<std::uint16_t>(dtype));
    case 32:
        return countNanOf(elements, nanRule<std::uint32_t>(dtype));
    default:
        return countNanOf(elements, nanRule<std::uint64_t>(dtype));
    }
}

} // namespace deltascope
