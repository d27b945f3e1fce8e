#pragma once

#include "deltascope/engine/tensor.h"

#include <optional>
#include <string_view>

namespace deltascope {

/// PyTorch's name of an element type, without "torch.": "bfloat16". Empty for types that it has none for.
std::string_view torchWord(Dtype dtype) noexcept;
/// The other way; "torch." in front is allowed.
std::optional<Dtype> parseTorchDtype(std::string_view word) noexcept;

} // namespace deltascope
