#pragma once

#include "deltascope/base/bytes.h"

namespace deltascope::xet {

// The order of bytes behind compression scheme 2: those at 0, 4, 8, … first, then those at 1, 5, …, and so on
// (draft-denis-xet, "ByteGrouping4LZ4").

/// `out` has the size of `bytes`; they must not overlap.
void groupBytes(ByteSpan bytes, MutableByteSpan out) noexcept;
/// The inverse.
void ungroupBytes(ByteSpan grouped, MutableByteSpan out) noexcept;

} // namespace deltascope::xet
