#pragma once

#include <string_view>

namespace deltascope {

/// The file beside a rebuilt checkpoint that says what it was made from and what was checked: JSON with "source", the
/// canonical address of the run, among others (docs/cli.md).
inline constexpr std::string_view ProvenanceName = "deltascope.provenance.json";

} // namespace deltascope
