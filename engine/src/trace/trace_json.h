#pragma once

#include "deltascope/engine/trace.h"

#include <optional>
#include <string>
#include <string_view>

namespace deltascope {

inline constexpr std::string_view SpanFolder = ".deltascope/v1/spans/";
inline constexpr std::string_view ReplicaFolder = ".deltascope/v1/replicas/";

std::string spanToLine(const Span& span); ///< with its line break
std::optional<Span> spanFromLine(std::string_view line);
std::string heartbeatToText(const Heartbeat& heartbeat);
std::optional<Heartbeat> heartbeatFromText(std::string_view text);

} // namespace deltascope
