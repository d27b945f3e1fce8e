#pragma once

#include "deltascope/base/result.h"
#include "file_handle.h"

#include <cstdint>
#include <functional>
#include <string_view>

namespace deltascope {

enum class EntryKind : std::uint8_t { File, Folder, Link, Other };

using VisitEntry = std::function<void(std::string_view name, EntryKind kind)>;

/// Calls `visit` for all entries of an open folder (not for "." and ".."), in no order. Entries that vanish meanwhile
/// may be left out. An error can come after some visits.
Result<void> readFolder(const FileHandle& folder, std::string_view where, const VisitEntry& visit);

} // namespace deltascope
