#include "format/common/fold_checksum.h"

#include "base/float16.h"

#include <bit>

namespace deltascope {

namespace {

template <class Stored, class Widen> std::uint64_t fold(ByteSpan bytes, Widen widen) noexcept
{
    std::uint64_t sum = 0;
    for (std::size_t at = 0; at + sizeof(Stored) <= bytes.size(); at += sizeof(Stored))
        sum ^= widen(loadLe<Stored>(bytes, at));
    return sum;
}

std::uint64_t patternOf(double value) noexcept { return std::bit_cast<std::uint64_t>(value); }

template <class Stored> std::uint64_t foldIntegers(ByteSpan bytes) noexcept
{
    return fold<Stored>(bytes, [](Stored value) { return static_cast<std::uint64_t>(value); });
}

}

std::uint64_t foldTensor(Dtype dtype, ByteSpan bytes) noexcept
{
    switch (dtype) {
    case Dtype::BF16:
        return fold<std::uint16_t>(bytes, [](std::uint16_t bits) { return patternOf(bf16ToFloat(bits)); });
    case Dtype::F16:
        return fold<std::uint16_t>(bytes, [](std::uint16_t bits) { return patternOf(f16ToFloat(bits)); });
    case Dtype::F32:
        return fold<std::uint32_t>(bytes, [](std::uint32_t bits) { return patternOf(std::bit_cast<float>(bits)); });
    case Dtype::F64:
    case Dtype::I64:
    case Dtype::U64:
        return foldIntegers<std::uint64_t>(bytes);
    case Dtype::I32:
        return foldIntegers<std::int32_t>(bytes);
    case Dtype::U32:
        return foldIntegers<std::uint32_t>(bytes);
    case Dtype::I16:
        return foldIntegers<std::int16_t>(bytes);
    case Dtype::U16:
        return foldIntegers<std::uint16_t>(bytes);
    case Dtype::I8:
        return foldIntegers<std::int8_t>(bytes);
    default:
        return foldIntegers<std::uint8_t>(bytes);
    }
}

} // namespace deltascope
