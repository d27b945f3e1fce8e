#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/base/result.h"
#include "store/xet/reader.h"
#include "store/xet/reconstruction.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace deltascope::xet {

/// Part of a read.
struct WantedBytes {
    std::uint64_t offset = 0; ///< in the file
    MutableByteSpan out;
    std::size_t range = 0; ///< which of the ranges that were asked for

    std::uint64_t end() const noexcept { return offset + out.size(); }
};

/// What is asked for at once: parts of one file that lie near each other.
struct ReadCluster {
    Hash file;
    std::uint64_t fileBytes = 0;
    std::vector<WantedBytes> parts; ///< by offset; at least one
    int attempt = 0; ///< how often its signed addresses were refused

    std::uint64_t begin() const noexcept { return parts.front().offset; }
    std::uint64_t end() const noexcept;
};

/// Groups what is wanted; `isLeftOut(i)` are ranges that need no request. A range may lie in several clusters.
std::vector<ReadCluster> clusterRanges(const std::vector<FileRange>& ranges, const std::vector<bool>& isLeftOut);

/// A term and where it lies in the file.
struct PlacedTerm {
    Term term;
    std::uint64_t offset = 0;
};

/// One range of a xorb to get, and what it serves.
struct PieceFetch {
    Piece piece;
    std::vector<PlacedTerm> terms;
};

/// What must be fetched for a cluster, in the order of the file. Errors: Hostile (no piece holds a term, or the file
/// begins before its begin), Truncated (the description ends early).
Result<std::vector<PieceFetch>> planFetches(const ReadCluster& cluster, Reconstruction reconstruction);

/// What is left of a cluster when only these terms of it are wanted; nothing if none of its parts is in them.
std::optional<ReadCluster> restOfCluster(const ReadCluster& cluster, const std::vector<PlacedTerm>& terms);

} // namespace deltascope::xet
