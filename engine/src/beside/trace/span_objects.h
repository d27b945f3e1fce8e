#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace deltascope {

// Names of the objects that hold spans, and the lines in a merged one that say from which object the spans behind them
// are: docs/formats/ds-facts.md, section 2.

struct SpanObject {
    std::int64_t first = 0;
    std::int64_t last = 0; ///< as `first`: an object that was put alone
    std::int64_t newestUs = 0; ///< of a merged one: the end of its newest span

    bool isMerged() const noexcept { return newestUs > 0; }
};

/// `name`: behind the folder of its actor; nothing for one that is no such object.
std::optional<SpanObject> parseSpanObject(std::string_view name);
std::string spanObjectName(const SpanObject& object);

std::string sectionLine(std::int64_t number); ///< with its line break
std::optional<std::int64_t> sectionOf(std::string_view line);

} // namespace deltascope
