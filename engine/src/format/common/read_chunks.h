#pragma once

#include "deltascope/engine/object_store.h"

#include <cstdint>
#include <functional>
#include <string_view>

namespace deltascope {

/// Shows `bytes` of an object from byte `begin` on, from front to back, in chunks that stay in the second-level cache.
/// Errors: Canceled, those of ObjectStore::read.
Result<void> readChunks(const ObjectStore& store, std::string_view key, std::uint64_t begin, std::uint64_t bytes,
                        TaskContext& task, const std::function<void(ByteSpan)>& show);

} // namespace deltascope
