#include "backend/add_elements.h"

#include "base/float16.h"

#include <cstring>

namespace deltascope {

namespace {

template <class Word, class Add> PatchCounts addWith(const AddElements& piece, MutableByteSpan block, Add add) noexcept
{
    PatchCounts counts;
    counts.assigned = piece.elements.size();
    for (std::size_t i = 0; i < piece.elements.size(); ++i) {
        std::byte* const at = block.data() + std::size_t { piece.elements[i] } * sizeof(Word);
        float difference = 0;
        Word before;
        std::memcpy(&difference, piece.values.data() + i * sizeof difference, sizeof difference);
        std::memcpy(&before, at, sizeof before);
        const Word after = add(before, difference);
        std::memcpy(at, &after, sizeof after);
        if (after == before)
            ++counts.noops;
        else
            ++counts.changed;
    }
    return counts;
}

}

PatchCounts addElements(const AddElements& piece, MutableByteSpan block, Dtype dtype) noexcept
{
    switch (dtype) {
    case Dtype::BF16:
        return addWith<std::uint16_t>(piece, block, [](std::uint16_t before, float difference) {
            return floatToBf16(bf16ToFloat(before) + difference);
        });
    case Dtype::F16:
        return addWith<std::uint16_t>(piece, block, [](std::uint16_t before, float difference) {
            return floatToF16(f16ToFloat(before) + difference);
        });
    case Dtype::F32:
        return addWith<std::uint32_t>(piece, block, [](std::uint32_t before, float difference) {
            return std::bit_cast<std::uint32_t>(std::bit_cast<float>(before) + difference);
        });
    default:
        return {};
    }
}

} // namespace deltascope
