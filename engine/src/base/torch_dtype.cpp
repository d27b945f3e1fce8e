#include "base/torch_dtype.h"

#include <algorithm>
#include <array>
#include <utility>

namespace deltascope {

namespace {

constexpr std::array<std::pair<Dtype, std::string_view>, 17> Words { {
    { Dtype::Bool, "bool" },
    { Dtype::U8, "uint8" },
    { Dtype::I8, "int8" },
    { Dtype::F8E5M2, "float8_e5m2" },
    { Dtype::F8E4M3, "float8_e4m3fn" },
    { Dtype::F8E8M0, "float8_e8m0fnu" },
    { Dtype::F8E4M3Fnuz, "float8_e4m3fnuz" },
    { Dtype::F8E5M2Fnuz, "float8_e5m2fnuz" },
    { Dtype::I16, "int16" },
    { Dtype::U16, "uint16" },
    { Dtype::F16, "float16" },
    { Dtype::BF16, "bfloat16" },
    { Dtype::I32, "int32" },
    { Dtype::U32, "uint32" },
    { Dtype::F32, "float32" },
    { Dtype::F64, "float64" },
    { Dtype::I64, "int64" },
} };

}

std::string_view torchWord(Dtype dtype) noexcept
{
    const auto at = std::find_if(Words.begin(), Words.end(), [&](const auto& entry) { return entry.first == dtype; });
    return at == Words.end() ? std::string_view() : at->second;
}

std::optional<Dtype> parseTorchDtype(std::string_view word) noexcept
{
    constexpr std::string_view Prefix = "torch.";
    if (word.starts_with(Prefix))
        word.remove_prefix(Prefix.size());
    const auto at = std::find_if(Words.begin(), Words.end(), [&](const auto& entry) { return entry.second == word; });
    return at == Words.end() ? std::nullopt : std::optional(at->first);
}

} // namespace deltascope
