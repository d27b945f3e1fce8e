#pragma once

#include <string_view>

/// Keys of what we write beside a run, relative to its source; no foreign reader looks there
/// (docs/formats/ds-facts.md).
namespace deltascope::beside {

inline constexpr std::string_view Root = ".deltascope/";
inline constexpr std::string_view Spans = ".deltascope/v1/spans/";
inline constexpr std::string_view Replicas = ".deltascope/v1/replicas/";
inline constexpr std::string_view Leases = ".deltascope/v1/lease/";
inline constexpr std::string_view MirrorOffer = ".deltascope/v1/mirror.json";
inline constexpr std::string_view Refs = ".deltascope/v1/refs/";
inline constexpr std::string_view Pins = ".deltascope/v1/pins/";
inline constexpr std::string_view Notes = ".deltascope/v1/notes/";
inline constexpr std::string_view Journal = ".deltascope/v1/journal/";
inline constexpr std::string_view DemoMark = ".deltascope/demo";

/// Whether the key is ours, beside the source itself or beside a run in a folder below it.
constexpr bool holds(std::string_view key) noexcept
{
    constexpr std::string_view Below = "/.deltascope/";
    return key.starts_with(Root) || key.find(Below) != std::string_view::npos;
}

} // namespace deltascope::beside
