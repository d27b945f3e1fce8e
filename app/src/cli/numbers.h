#pragma once

#include "deltascope/base/result.h"

#include <cstdint>
#include <string>
#include <utility>

namespace deltascope::cli {

/// Bytes that "5GB", "512MiB" or "1000000" means. Errors: Usage.
Result<std::uint64_t> parseSize(const std::string& text);

/// "I/N" of --shard. Errors: Usage.
Result<std::pair<std::uint32_t, std::uint32_t>> parsePart(const std::string& text);

} // namespace deltascope::cli
