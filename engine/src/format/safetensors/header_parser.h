#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/base/result.h"
#include "deltascope/engine/tensor.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace deltascope {

/// One entry of a safetensors header as it is written there: well-formed, but not checked against its neighbours.
struct HeaderEntry {
    TensorInfo info;
    std::uint64_t begin = 0; ///< from the start of the data section
    std::uint64_t end = 0;
};

struct HeaderContent {
    std::vector<HeaderEntry> tensors; ///< in the order of the text; a name may still occur twice
    std::map<std::string, std::string, std::less<>> metadata;
};

/// Reads the JSON of a header without ever holding its tree, so that memory stays below ten times its size and hostile
/// nesting costs nothing. docs/formats/safetensors.md section 3, checks 5 to 14.
/// Errors: Malformed; Hostile (nesting, keys that occur twice, more entries than any model has).
Result<HeaderContent> parseHeaderJson(ByteSpan json);

} // namespace deltascope
