#pragma once

#include "deltascope/base/result.h"
#include "deltascope/base/short_list.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

constexpr std::size_t MaxTensorRank = 16; ///< of a tensor from outside: more dimensions are refused

/// Element types of safetensors in the library's own ascending order, which also drives the canonical order of tensors
/// in a file (docs/formats/safetensors.md). On disk: the word, never this number.
enum class Dtype : std::uint8_t {
    Bool,
    F4,
    F6E2M3,
    F6E3M2,
    U8,
    I8,
    F8E5M2,
    F8E4M3,
    F8E8M0,
    F8E4M3Fnuz,
    F8E5M2Fnuz,
    I16,
    U16,
    F16,
    BF16,
    I32,
    U32,
    F32,
    C64,
    F64,
    I64,
    U64,
};

/// "BF16" and so on, as safetensors writes it.
std::string_view word(Dtype dtype) noexcept;
std::optional<Dtype> parseDtype(std::string_view word) noexcept;
/// Size of one element: 4, 6, 8, 16, 32 or 64 bits.
unsigned bitsOf(Dtype dtype) noexcept;

/// Sizes of the dimensions of a tensor, outermost first.
using TensorShape = ShortList<std::uint64_t, 2>;

/// Name, element type and shape of one tensor. Data is row-major, little-endian, dense.
struct TensorInfo {
    std::string name;
    Dtype dtype = Dtype::BF16;
    TensorShape shape; ///< empty: a scalar with one element

    /// Both are only called on checked infos (checkedSize()), so neither overflows.
    std::uint64_t elements() const noexcept;
    std::uint64_t bytes() const noexcept { return (elements() * bitsOf(dtype)) / 8; }

    bool operator==(const TensorInfo&) const = default;
};

/// Bytes of the tensor with every multiplication checked.
/// Errors: Hostile (rank over 16, 2^62 or more elements or bits beyond 64 bits, a size that is not whole bytes).
Result<std::uint64_t> checkedSize(const TensorInfo& tensor);

/// Canonical order in a file: element type descending, then name ascending by bytes.
bool canonicalBefore(const TensorInfo& a, const TensorInfo& b) noexcept;

} // namespace deltascope
