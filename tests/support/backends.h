#pragma once

#include "deltascope/engine/backend.h"
#include "deltascope/engine/state.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace deltascope::test {

/// What states are compared with and deltas applied with where nobody chose anything.
inline std::shared_ptr<const Backend> fastestBackend()
{
    static const std::shared_ptr<const Backend> fastest = *Backends::builtin().choose("");
    return fastest;
}

/// For walks of states that a test opens by itself.
inline WalkMeans walkMeans(std::string scratchFolder = {}) { return { 1, std::move(scratchFolder), fastestBackend() }; }

/// Applies a piece by every backend that this machine runs, and expects the same of each.
inline PatchCounts applyPiece(const PatchPiece& piece, MutableByteSpan block, Dtype dtype)
{
    static const Backends all = Backends::builtin();
    const std::vector<std::byte> before(block.begin(), block.end());
    const PatchCounts counts = all.all().front()->apply(piece, block, dtype);
    for (const auto& backend : all.all()) {
        if (!backend->isSupportedHere())
            continue;
        std::vector<std::byte> other = before;
        EXPECT_EQ(backend->apply(piece, other, dtype), counts) << backend->name() << ' ' << word(dtype);
        EXPECT_TRUE(std::equal(other.begin(), other.end(), block.begin())) << backend->name() << ' ' << word(dtype);
    }
    return counts;
}

} // namespace deltascope::test
