#include "backend/scalar_apply.h"

#include "backend/add_elements.h"
#include "backend/nan_rule.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace deltascope {

namespace {

template <class Word> Word wordAt(const std::byte* at) noexcept
{
    Word word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

template <class Word> void putWordAt(std::byte* at, Word word) noexcept { std::memcpy(at, &word, sizeof word); }

// Elements per step of the dense loops: a constant, so that they vectorize at -O2, and small enough for a counter as
// wide as the element.
template <class Word> constexpr std::size_t StepElements = sizeof(Word) == 1 ? 128 : 1024;

template <class Word> Word differs(const std::byte* a, const std::byte* b, std::size_t element) noexcept
{
    return static_cast<Word>(wordAt<Word>(a + element * sizeof(Word)) != wordAt<Word>(b + element * sizeof(Word)));
}

template <class Word> Word maskOne(std::byte* block, const std::byte* mask, std::size_t element) noexcept
{
    const Word bits = wordAt<Word>(mask + element * sizeof(Word));
    std::byte* at = block + element * sizeof(Word);
    putWordAt<Word>(at, static_cast<Word>(wordAt<Word>(at) ^ bits));
    return static_cast<Word>(bits != 0);
}

template <class Word> std::uint64_t differentStep(const std::byte* __restrict a, const std::byte* __restrict b) noexcept
{
    Word count = 0;
    for (std::size_t i = 0; i < StepElements<Word>; ++i)
        count = static_cast<Word>(count + differs<Word>(a, b, i));
    return count;
}

template <class Word> std::uint64_t maskStep(std::byte* __restrict block, const std::byte* __restrict mask) noexcept
{
    Word count = 0;
    for (std::size_t i = 0; i < StepElements<Word>; ++i)
        count = static_cast<Word>(count + maskOne<Word>(block, mask, i));
    return count;
}

template <class Word>
std::uint64_t countDifferentWords(const std::byte* a, const std::byte* b, std::size_t elements) noexcept
{
    constexpr std::size_t StepBytes = StepElements<Word> * sizeof(Word);
    std::uint64_t count = 0;
    for (; elements >= StepElements<Word>; elements -= StepElements<Word>, a += StepBytes, b += StepBytes)
        count += differentStep<Word>(a, b);
    for (std::size_t i = 0; i < elements; ++i)
        count += differs<Word>(a, b, i);
    return count;
}

template <class Word> std::uint64_t maskWords(std::byte* block, const std::byte* mask, std::size_t elements) noexcept
{
    constexpr std::size_t StepBytes = StepElements<Word> * sizeof(Word);
    std::uint64_t count = 0;
    for (; elements >= StepElements<Word>; elements -= StepElements<Word>, block += StepBytes, mask += StepBytes)
        count += maskStep<Word>(block, mask);
    for (std::size_t i = 0; i < elements; ++i)
        count += maskOne<Word>(block, mask, i);
    return count;
}

/// Elements of one whole-byte width.
template <class Word> struct WordOps {
    NanRule<Word> isNan;
    Word minusZero;

    explicit WordOps(Dtype dtype)
        : isNan(nanRule<Word>(dtype))
        , minusZero(static_cast<Word>(zeroSign(dtype)))
    {
    }

    std::uint64_t different(ByteSpan a, ByteSpan b) const noexcept
    {
        return countDifferentWords<Word>(a.data(), b.data(), a.size() / sizeof(Word));
    }

    std::uint64_t zeroSigns(ByteSpan a, ByteSpan b) const noexcept
    {
        if (minusZero == 0)
            return 0;
        std::uint64_t count = 0;
        for (std::size_t at = 0; at < a.size(); at += sizeof(Word)) {
            const Word one = wordAt<Word>(a.data() + at);
            const Word other = wordAt<Word>(b.data() + at);
            count += one != other && static_cast<Word>((one | other) ^ minusZero) == 0;
        }
        return count;
    }

    /// Of elements that differ, how many have one low byte; of 16-bit types.
    std::uint64_t sameLowByte(ByteSpan a, ByteSpan b) const noexcept
    {
        std::uint64_t count = 0;
        if constexpr (sizeof(Word) == 2) {
            for (std::size_t at = 0; at < a.size(); at += sizeof(Word)) {
                const auto difference = static_cast<Word>(wordAt<Word>(a.data() + at) ^ wordAt<Word>(b.data() + at));
                count += difference != 0 && (difference & 0xff) == 0;
            }
        }
        return count;
    }

    PatchCounts assign(const AssignElements& piece, MutableByteSpan block) const noexcept
    {
        std::byte* const bytes = block.data();
        const std::byte* const fresh = piece.bits.data();
        const std::size_t count = piece.elements.size();
        const NanRule<Word> nan = isNan;
        std::uint64_t noops = 0;
        std::uint64_t nanNoops = 0;
        std::uint64_t sameLowBytes = 0; // no-ops among them
        for (std::size_t i = 0; i < count; ++i) {
            std::byte* at = bytes + std::size_t { piece.elements[i] } * sizeof(Word);
            const Word word = wordAt<Word>(fresh + i * sizeof(Word));
            const Word before = wordAt<Word>(at);
            if constexpr (sizeof(Word) == 2)
                sameLowBytes += ((before ^ word) & 0xff) == 0;
            if (before == word) { // rare on a sound chain, so the branch is free and the NaN test is not made
                ++noops;
                nanNoops += nan(word);
            }
            putWordAt<Word>(at, word);
        }
        PatchCounts counts { .assigned = count, .noops = noops, .nanNoops = nanNoops, .changed = count - noops };
        counts.sameLowByte = sizeof(Word) == 2 ? sameLowBytes - noops : 0;
        return counts;
    }

    std::uint64_t xorElements(const XorElements& piece, MutableByteSpan block) const noexcept
    {
        std::byte* const bytes = block.data();
        std::uint64_t changed = 0;
        for (std::size_t i = 0; i < piece.elements.size(); ++i) {
            std::byte* at = bytes + std::size_t { piece.elements[i] } * sizeof(Word);
            const Word mask = wordAt<Word>(piece.bits.data() + i * sizeof(Word));
            changed += mask != 0;
            putWordAt<Word>(at, static_cast<Word>(wordAt<Word>(at) ^ mask));
        }
        return changed;
    }

    std::uint64_t xorBlock(ByteSpan mask, MutableByteSpan block) const noexcept
    {
        return maskWords<Word>(block.data(), mask.data(), block.size() / sizeof(Word));
    }

    PatchCounts assignBytes(const AssignBytes& piece, MutableByteSpan block) const noexcept
    {
        const std::size_t count = piece.positions.size();
        std::uint64_t noops = 0;
        std::uint64_t changed = 0;
        std::uint64_t last = UINT64_MAX; // the last element that changed
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t position = piece.positions[i];
            const bool differs = block[position] != piece.values[i];
            block[position] = piece.values[i];
            const std::uint64_t element = position / sizeof(Word);
            noops += !differs;
            changed += differs && element != last;
            last = differs ? element : last;
        }
        return { .assigned = count, .noops = noops, .nanNoops = 0, .changed = changed };
    }
};

/// Elements of 4 or 6 bits, packed from the low bit up. Rare, so simple rather than fast.
class PackedOps {
public:
    explicit PackedOps(unsigned bits)
        : m_bits(bits)
    {
    }

    std::uint64_t different(ByteSpan a, ByteSpan b) const noexcept
    {
        Counter counter { m_bits };
        for (std::size_t i = 0; i < a.size(); ++i)
            counter.add(i, a[i] ^ b[i]);
        return counter.changed;
    }

    std::uint64_t zeroSigns(ByteSpan, ByteSpan) const noexcept { return 0; }
    std::uint64_t sameLowByte(ByteSpan, ByteSpan) const noexcept { return 0; }

    PatchCounts assign(const AssignElements& piece, MutableByteSpan block) const noexcept
    {
        PatchCounts counts;
        counts.assigned = piece.elements.size();
        for (std::size_t i = 0; i < piece.elements.size(); ++i) {
            const unsigned fresh = get(piece.bits, i);
            const bool same = get(block, piece.elements[i]) == fresh;
            ++(same ? counts.noops : counts.changed);
            put(block, piece.elements[i], fresh);
        }
        return counts;
    }

    std::uint64_t xorElements(const XorElements& piece, MutableByteSpan block) const noexcept
    {
        std::uint64_t changed = 0;
        for (std::size_t i = 0; i < piece.elements.size(); ++i) {
            const unsigned mask = get(piece.bits, i);
            changed += mask != 0;
            put(block, piece.elements[i], get(block, piece.elements[i]) ^ mask);
        }
        return changed;
    }

    std::uint64_t xorBlock(ByteSpan mask, MutableByteSpan block) const noexcept
    {
        Counter counter { m_bits };
        for (std::size_t i = 0; i < block.size(); ++i) {
            counter.add(i, mask[i]);
            block[i] ^= mask[i];
        }
        return counter.changed;
    }

    PatchCounts assignBytes(const AssignBytes& piece, MutableByteSpan block) const noexcept
    {
        Counter counter { m_bits };
        std::uint64_t noops = 0;
        for (std::size_t i = 0; i < piece.positions.size(); ++i) {
            std::byte& at = block[piece.positions[i]];
            noops += at == piece.values[i];
            counter.add(piece.positions[i], at ^ piece.values[i]);
            at = piece.values[i];
        }
        return { .assigned = piece.positions.size(), .noops = noops, .nanNoops = 0, .changed = counter.changed };
    }

private:
    /// Counts elements that differ, from differing bits in ascending order.
    struct Counter {
        unsigned bits;
        std::uint64_t changed = 0;
        std::uint64_t last = UINT64_MAX;

        void add(std::uint64_t byte, std::byte difference) noexcept
        {
            for (unsigned bit = 0; bit < 8; ++bit) {
                const std::uint64_t element = (byte * 8 + bit) / bits;
                if (((difference >> bit) & std::byte { 1 }) == std::byte { 0 } || element == last)
                    continue;
                last = element;
                ++changed;
            }
        }
    };

    unsigned get(ByteSpan bytes, std::uint64_t element) const noexcept
    {
        unsigned value = 0;
        for (unsigned bit = 0; bit < m_bits; ++bit) {
            const std::uint64_t at = element * m_bits + bit;
            value |= (std::to_integer<unsigned>(bytes[at / 8] >> (at % 8)) & 1U) << bit;
        }
        return value;
    }

    void put(MutableByteSpan bytes, std::uint64_t element, unsigned value) const noexcept
    {
        for (unsigned bit = 0; bit < m_bits; ++bit) {
            const std::uint64_t at = element * m_bits + bit;
            const std::byte mask = std::byte { 1 } << (at % 8);
            bytes[at / 8] = ((value >> bit) & 1U) != 0 ? bytes[at / 8] | mask : bytes[at / 8] & ~mask;
        }
    }

    unsigned m_bits;
};

PatchCounts onlyChanged(std::uint64_t changed) noexcept
{
    PatchCounts counts;
    counts.changed = changed;
    return counts;
}

template <class Ops> PatchCounts applyWith(const Ops& ops, const PatchPiece& piece, MutableByteSpan block) noexcept
{
    if (const auto* assign = std::get_if<AssignElements>(&piece))
        return ops.assign(*assign, block);
    if (const auto* mask = std::get_if<XorBlock>(&piece))
        return onlyChanged(ops.xorBlock(mask->bytes, block));
    if (const auto* bytes = std::get_if<AssignBytes>(&piece))
        return ops.assignBytes(*bytes, block);
    if (const auto* masks = std::get_if<XorElements>(&piece))
        return onlyChanged(ops.xorElements(*masks, block));
    if (const auto* full = std::get_if<FullBlock>(&piece)) {
        PatchCounts counts = onlyChanged(ops.different(block, full->bytes));
        if (counts.changed > 0) {
            counts.zeroSigns = ops.zeroSigns(block, full->bytes);
            counts.sameLowByte = ops.sameLowByte(block, full->bytes);
        }
        std::copy(full->bytes.begin(), full->bytes.end(), block.begin());
        return counts;
    }
    return {};
}

/// Calls `use` with the operations for elements of this type.
template <class Use> auto withOps(Dtype dtype, Use use) noexcept
{
    switch (bitsOf(dtype)) {
    case 4:
    case 6:
        return use(PackedOps(bitsOf(dtype)));
    case 8:
        return use(WordOps<std::uint8_t>(dtype));
    case 16:
        return use(WordOps<std::uint16_t>(dtype));
    case 32:
        return use(WordOps<std::uint32_t>(dtype));
    default:
        return use(WordOps<std::uint64_t>(dtype));
    }
}

} // namespace

std::uint64_t zeroSign(Dtype dtype) noexcept
{
    switch (dtype) {
    case Dtype::BF16:
    case Dtype::F16:
    case Dtype::F32:
    case Dtype::F64:
    case Dtype::F8E5M2:
    case Dtype::F8E4M3:
        return std::uint64_t { 1 } << (bitsOf(dtype) - 1);
    default:
        return 0;
    }
}

PatchCounts scalarApply(const PatchPiece& piece, MutableByteSpan block, Dtype dtype) noexcept
{
    if (const auto* add = std::get_if<AddElements>(&piece))
        return addElements(*add, block, dtype);
    return withOps(dtype, [&](const auto& ops) { return applyWith(ops, piece, block); });
}

std::uint64_t countDifferent(const Backend& backend, ByteSpan a, ByteSpan b, Dtype dtype) noexcept
{
    const unsigned bits = bitsOf(dtype);
    return bits % 8 == 0 ? backend.count(a, b, bits / 8) : PackedOps(bits).different(a, b);
}

} // namespace deltascope
