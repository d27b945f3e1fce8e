#pragma once

#include "deltascope/base/result.h"
#include "deltascope/base/task.h"
#include "store/xet/ledger.h"
#include "store/xet/read_plan.h"

#include <vector>

namespace deltascope::xet {

/// Decodes the chunks of a fetched piece that its terms need, writes what is wanted of them, and hashes each. Errors:
/// Truncated, Hostile, Unsupported (see nextRecord and RecordDecoder), Canceled.
Result<std::vector<PlacedChunk>> decodePiece(const PieceFetch& fetch, ByteSpan body,
                                             const std::vector<WantedBytes>& parts, TaskContext& task);

} // namespace deltascope::xet
