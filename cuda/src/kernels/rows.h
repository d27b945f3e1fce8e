#pragma once

#include "kernels/arguments.h"
#include "kernels/execution.h"

#include <cstdint>

// How a warp reads two stretches: 512 bytes of each at a time, 16 bytes a lane.

namespace deltascope::cuda {

/// 16 bytes of a tensor, as they are loaded: packed, so that a warp keeps many of them in registers.
template <class Word> struct alignas(16) Vector {
    static constexpr unsigned Words = 16 / sizeof(Word);
    static constexpr unsigned PerPart = sizeof(Word) < 4 ? 4 / sizeof(Word) : 1;

    std::uint32_t parts[4];

    DELTASCOPE_TILE Word word(unsigned i) const
    {
        if constexpr (sizeof(Word) == 8)
            return static_cast<Word>(parts[2 * i] | static_cast<Word>(parts[2 * i + 1]) << 32);
        else
            return static_cast<Word>(parts[i / PerPart] >> 8 * sizeof(Word) * (i % PerPart));
    }
    DELTASCOPE_TILE void put(unsigned i, Word word) ///< in a vector of zeros
    {
        if constexpr (sizeof(Word) == 8) {
            parts[2 * i] = static_cast<std::uint32_t>(word);
            parts[2 * i + 1] = static_cast<std::uint32_t>(word >> 32);
        } else {
            parts[i / PerPart] |= static_cast<std::uint32_t>(word) << 8 * sizeof(Word) * (i % PerPart);
        }
    }
};

/// The job that a block of a launch belongs to.
template <class Arguments> DELTASCOPE_TILE const PairJob& jobOf(const Arguments& arguments, std::uint64_t block)
{
    const std::uint32_t job = reinterpret_cast<const std::uint32_t*>(arguments.jobOfBlock)[block];
    return reinterpret_cast<const PairJob*>(arguments.jobs)[job];
}

/// Elements [begin, end) of both stretches of a job: one block of it, or less at its end.
template <class Word> struct BlockPair {
    const Word* before;
    const Word* after;
    std::uint32_t elements;
    bool aligned; ///< both may be read 16 bytes at a time

    DELTASCOPE_TILE BlockPair(const PairJob& job, std::uint64_t block)
    {
        const std::uint64_t begin = (block - job.firstBlock) * BlockElements;
        const std::uint64_t left = job.elements - begin;
        before = reinterpret_cast<const Word*>(job.before) + begin;
        after = reinterpret_cast<const Word*>(job.after) + begin;
        elements = left < BlockElements ? static_cast<std::uint32_t>(left) : BlockElements;
        aligned = (job.before | job.after) % sizeof(Vector<Word>) == 0;
    }
};

/// 16 bytes from element `at` on; zero behind the end.
template <class Word>
DELTASCOPE_TILE Vector<Word> loadVector(const Word* from, std::uint32_t at, std::uint32_t elements, bool aligned)
{
    constexpr unsigned Words = Vector<Word>::Words;
    if (aligned && at + Words <= elements)
        return *reinterpret_cast<const Vector<Word>*>(from + at);
    Vector<Word> vector {};
    for (unsigned i = 0; i < Words; ++i) {
        if (at + i < elements)
            vector.put(i, from[at + i]);
    }
    return vector;
}

/// What the 16 bytes from element `at` of a block on add to its sum (DeviceModule::sums).
template <class Word> DELTASCOPE_TILE std::uint32_t sumOf(const Vector<Word>& vector, std::uint32_t at)
{
    constexpr std::uint32_t Parts = 4;
    std::uint32_t factor = 2 * Parts * (at / Vector<Word>::Words) + 1;
    std::uint32_t sum = 0;
    for (unsigned i = 0; i < Parts; ++i, factor += 2)
        sum += vector.parts[i] * factor;
    return sum;
}

/// Bit i: word i differs.
template <class Word> DELTASCOPE_TILE std::uint32_t changedWords(const Vector<Word>& a, const Vector<Word>& b)
{
    std::uint32_t changed = 0;
    for (unsigned i = 0; i < Vector<Word>::Words; ++i)
        changed |= static_cast<std::uint32_t>(a.word(i) != b.word(i)) << i;
    return changed;
}

DELTASCOPE_TILE std::uint32_t bitsSet(std::uint32_t bits)
{
#if defined(__CUDACC__)
    return static_cast<std::uint32_t>(__popc(bits));
#else
    return static_cast<std::uint32_t>(__builtin_popcount(bits));
#endif
}

} // namespace deltascope::cuda
