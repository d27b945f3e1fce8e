#pragma once

#include "deltascope/engine/layout.h"

#include <cstddef>
#include <span>

namespace deltascope {

/// Where a store keeps what it reads, asks in one batch for the begin of all objects that Layout::index() will read of
/// these versions, or of the first of them, so many that their fronts take at most 64 MiB. What fails shows when they
/// are read. Returns how many versions it asked for, at least one unless there is none; all where the store keeps
/// nothing.
std::size_t fetchHeaders(const ObjectStore& store, const Layout& layout,
                         std::span<const VersionObjects* const> versions, TaskContext& task);

} // namespace deltascope
