#pragma once

#include "deltascope/base/bytes.h"

#include <algorithm>
#include <map>
#include <string>

namespace deltascope {

/// What make_seeds.py packs: names (one byte of length in front) with their content (three bytes). Of two equal names
/// the first counts.
inline std::map<std::string, ByteSpan> readRecords(ByteSpan input, std::size_t most)
{
    std::map<std::string, ByteSpan> records;
    while (!input.empty() && records.size() < most) {
        const std::size_t nameBytes = std::min<std::size_t>(std::to_integer<std::size_t>(input[0]), input.size() - 1);
        std::string name(asText(input.subspan(1, nameBytes)));
        input = input.subspan(1 + nameBytes);
        if (input.size() < 3)
            break;
        const std::size_t claimed = std::to_integer<std::size_t>(input[0]) | std::to_integer<std::size_t>(input[1]) << 8
            | std::to_integer<std::size_t>(input[2]) << 16;
        input = input.subspan(3);
        const std::size_t bytes = std::min(claimed, input.size());
        records.emplace(std::move(name), input.first(bytes));
        input = input.subspan(bytes);
    }
    return records;
}

} // namespace deltascope
