#pragma once

#include "deltascope/engine/lineage.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace deltascope {

/// What a form of a version builds on. Empty for a complete one.
struct BaseLink {
    std::optional<std::size_t> base; ///< index in Run::versions; nothing if it is missing
    std::optional<std::int64_t> baseStep;
    bool onExternalBase = false;
    bool acrossGap = false; ///< over a missing number, without a word of the publisher
};

/// The first number from `step` on that no run later than `epoch` has written over.
std::int64_t behindWrittenOver(const Run& run, int epoch, std::int64_t step);

/// Finds what a form of version `at` builds on: by the root of its state where `summary` names one, by the number that
/// it declares, else the version before it. `previous`: that one; nothing at the beginning of an epoch.
BaseLink linkOf(const Run& run, std::size_t at, const std::optional<VersionSummary>& summary,
                std::optional<std::size_t> previous);

} // namespace deltascope
