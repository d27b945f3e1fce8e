#include "backend/scalar_diff.h"

#include "backend/moments.h"
#include "backend/scalar_apply.h"

#include <cassert>
#include <cstring>

namespace deltascope {

namespace {

template <class Word> Word loadAt(const std::byte* bytes, std::size_t element) noexcept
{
    Word word;
    std::memcpy(&word, bytes + element * sizeof(Word), sizeof word);
    return word;
}

template <class Word> void storeAt(std::byte* bytes, std::size_t element, Word word) noexcept
{
    std::memcpy(bytes + element * sizeof(Word), &word, sizeof word);
}

template <class Word> std::uint64_t countWords(ByteSpan before, ByteSpan after) noexcept
{
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < before.size() / sizeof(Word); ++i)
        count += loadAt<Word>(before.data(), i) != loadAt<Word>(after.data(), i);
    return count;
}

template <class Word>
std::size_t extractWords(ByteSpan before, ByteSpan after, std::uint32_t* positions, std::byte* values) noexcept
{
    std::size_t count = 0;
    for (std::size_t i = 0; i < before.size() / sizeof(Word); ++i) {
        const Word fresh = loadAt<Word>(after.data(), i);
        if (loadAt<Word>(before.data(), i) == fresh)
            continue;
        positions[count] = static_cast<std::uint32_t>(i);
        storeAt<Word>(values, count, fresh);
        ++count;
    }
    return count;
}

template <class Word> std::uint64_t xorWords(ByteSpan before, ByteSpan after, MutableByteSpan out) noexcept
{
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < before.size() / sizeof(Word); ++i) {
        const Word bits = static_cast<Word>(loadAt<Word>(before.data(), i) ^ loadAt<Word>(after.data(), i));
        storeAt<Word>(out.data(), i, bits);
        count += bits != 0;
    }
    return count;
}

class ScalarDiff final : public Backend {
public:
    std::string_view name() const noexcept override { return "scalar"; }
    bool isSupportedHere() const noexcept override { return true; }

    std::uint64_t count(ByteSpan before, ByteSpan after, unsigned elementBytes) const noexcept override
    {
        assert(before.size() == after.size() && before.size() % elementBytes == 0);
        switch (elementBytes) {
        case 1:
            return countWords<std::uint8_t>(before, after);
        case 2:
            return countWords<std::uint16_t>(before, after);
        case 4:
            return countWords<std::uint32_t>(before, after);
        default:
            assert(elementBytes == 8);
            return countWords<std::uint64_t>(before, after);
        }
    }

    std::size_t extract(ByteSpan before, ByteSpan after, unsigned elementBytes, std::uint32_t* positions,
                        std::byte* values) const noexcept override
    {
        assert(before.size() == after.size() && before.size() % elementBytes == 0);
        switch (elementBytes) {
        case 1:
            return extractWords<std::uint8_t>(before, after, positions, values);
        case 2:
            return extractWords<std::uint16_t>(before, after, positions, values);
        case 4:
            return extractWords<std::uint32_t>(before, after, positions, values);
        default:
            assert(elementBytes == 8);
            return extractWords<std::uint64_t>(before, after, positions, values);
        }
    }

    std::uint64_t xorInto(ByteSpan before, ByteSpan after, unsigned elementBytes,
                          MutableByteSpan out) const noexcept override
    {
        assert(before.size() == after.size() && before.size() % elementBytes == 0 && out.size() == before.size());
        switch (elementBytes) {
        case 1:
            return xorWords<std::uint8_t>(before, after, out);
        case 2:
            return xorWords<std::uint16_t>(before, after, out);
        case 4:
            return xorWords<std::uint32_t>(before, after, out);
        default:
            assert(elementBytes == 8);
            return xorWords<std::uint64_t>(before, after, out);
        }
    }

    DiffMoments moments(ByteSpan before, ByteSpan after, Dtype dtype) const noexcept override
    {
        return scalarMoments(before, after, dtype);
    }

    PatchCounts apply(const PatchPiece& piece, MutableByteSpan block, Dtype dtype) const noexcept override
    {
        return scalarApply(piece, block, dtype);
    }
};

} // namespace

std::shared_ptr<const Backend> makeScalarDiff() { return std::make_shared<ScalarDiff>(); }

} // namespace deltascope
