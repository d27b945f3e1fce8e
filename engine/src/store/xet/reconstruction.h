#pragma once

#include "deltascope/base/result.h"
#include "store/xet/hash.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope::xet {

// How the bytes of a file are put together: the answer to GET /v2/reconstructions/{file} and its older form, v1
// (hub-docs, "Xet protocol specification": download protocol).

/// Chunks of a xorb that follow each other in the file.
struct Term {
    Hash xorb;
    std::uint32_t first = 0; ///< chunk
    std::uint32_t end = 0; ///< one behind the last
    std::uint32_t bytes = 0; ///< of the chunks, before compression
};

/// Where chunks of a xorb can be had.
struct Piece {
    Hash xorb;
    std::uint32_t first = 0; ///< chunk
    std::uint32_t end = 0;
    std::string url; ///< signed for exactly these bytes; holds a secret
    std::uint64_t offset = 0; ///< in the serialized xorb
    std::uint64_t bytes = 0; ///< at most 64 MiB

    bool holds(const Term& term) const noexcept { return xorb == term.xorb && first <= term.first && term.end <= end; }
};

struct Reconstruction {
    std::uint64_t skippedBytes = 0; ///< at the front of the first term: they lie before what was asked for
    std::vector<Term> terms; ///< in the order of the file
    std::vector<Piece> pieces; ///< ordered by xorb and first chunk; no two of the same chunks
};

enum class ReconstructionForm : std::uint8_t { V1, V2 };

/// Every number in the outcome keeps the limits of the format. Errors: Hostile.
Result<Reconstruction> parseReconstruction(std::string_view json, ReconstructionForm form);

} // namespace deltascope::xet
