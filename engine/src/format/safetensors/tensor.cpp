#include "deltascope/engine/tensor.h"

#include "deltascope/base/bytes.h"
#include "format/common/quote_name.h"

#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace deltascope {
namespace {

constexpr std::uint64_t ElementLimit = std::uint64_t(1) << 62;

struct DtypeFacts {
    Dtype dtype;
    std::string_view word;
    unsigned bits;
};

/// docs/formats/safetensors.md section 2, in the order of the enumerators.
constexpr std::array<DtypeFacts, 22> Facts { {
    { Dtype::Bool, "BOOL", 8 },
    { Dtype::F4, "F4", 4 },
    { Dtype::F6E2M3, "F6_E2M3", 6 },
    { Dtype::F6E3M2, "F6_E3M2", 6 },
    { Dtype::U8, "U8", 8 },
    { Dtype::I8, "I8", 8 },
    { Dtype::F8E5M2, "F8_E5M2", 8 },
    { Dtype::F8E4M3, "F8_E4M3", 8 },
    { Dtype::F8E8M0, "F8_E8M0", 8 },
    { Dtype::F8E4M3Fnuz, "F8_E4M3FNUZ", 8 },
    { Dtype::F8E5M2Fnuz, "F8_E5M2FNUZ", 8 },
    { Dtype::I16, "I16", 16 },
    { Dtype::U16, "U16", 16 },
    { Dtype::F16, "F16", 16 },
    { Dtype::BF16, "BF16", 16 },
    { Dtype::I32, "I32", 32 },
    { Dtype::U32, "U32", 32 },
    { Dtype::F32, "F32", 32 },
    { Dtype::C64, "C64", 64 },
    { Dtype::F64, "F64", 64 },
    { Dtype::I64, "I64", 64 },
    { Dtype::U64, "U64", 64 },
} };

constexpr bool inOrder()
{
    for (std::size_t i = 0; i < Facts.size(); ++i) {
        if (static_cast<std::size_t>(Facts[i].dtype) != i)
            return false;
    }
    return true;
}
static_assert(inOrder());

const DtypeFacts& factsOf(Dtype dtype) noexcept { return Facts[static_cast<std::size_t>(dtype)]; }

std::string described(const TensorInfo& tensor)
{
    return fmt::format("tensor {} with {} elements in the shape [{}]", quoteName(tensor.name), word(tensor.dtype),
                       fmt::join(tensor.shape, ","));
}

} // namespace

std::string_view word(Dtype dtype) noexcept { return factsOf(dtype).word; }

std::optional<Dtype> parseDtype(std::string_view word) noexcept
{
    for (const DtypeFacts& facts : Facts) {
        if (facts.word == word)
            return facts.dtype;
    }
    return std::nullopt;
}

unsigned bitsOf(Dtype dtype) noexcept { return factsOf(dtype).bits; }

std::uint64_t TensorInfo::elements() const noexcept
{
    std::uint64_t product = 1;
    for (const std::uint64_t dimension : shape)
        product *= dimension;
    return product;
}

Result<std::uint64_t> checkedSize(const TensorInfo& tensor)
{
    if (tensor.shape.size() > MaxTensorRank)
        return fail(Code::Malformed,
                    fmt::format("tensor {} has {} dimensions, more than the {} allowed", quoteName(tensor.name),
                                tensor.shape.size(), MaxTensorRank));
    std::uint64_t elements = 1;
    for (const std::uint64_t dimension : tensor.shape) {
        const std::optional<std::uint64_t> product = checkedMul(elements, dimension);
        if (!product || *product >= ElementLimit)
            return fail(Code::Hostile,
                        fmt::format("{} is larger than any file: 2^62 elements or more", described(tensor)));
        elements = *product;
    }
    const std::optional<std::uint64_t> bits = checkedMul(elements, bitsOf(tensor.dtype));
    if (!bits)
        return fail(Code::Hostile, fmt::format("{} is larger than any file: 2^64 bits or more", described(tensor)));
    if (*bits % 8 != 0)
        return fail(Code::Malformed,
                    fmt::format("{} takes {} bits, which are not whole bytes", described(tensor), *bits));
    return *bits / 8;
}

bool canonicalBefore(const TensorInfo& a, const TensorInfo& b) noexcept
{
    return a.dtype != b.dtype ? a.dtype > b.dtype : a.name < b.name;
}

} // namespace deltascope
