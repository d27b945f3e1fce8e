#pragma once

#include "deltascope/base/result.h"

#include <cstdint>
#include <optional>
#include <string>

namespace deltascope::app {

/// A problem or an error as every face shows it.
struct ProblemView {
    std::string code; ///< "DS-CHAIN-GAP"
    std::optional<std::int64_t> step;
    std::string where; ///< object, file or source
    std::string text;
    std::string remedy;

    bool operator==(const ProblemView&) const = default;
};

ProblemView problemView(const Error& error);
/// Whether it is something to know and nothing to doubt (docs/formats/dsm1.md 9). A code of another build is no notice.
bool isNotice(const ProblemView& problem) noexcept;
/// The first one that is no notice, else the first one; null: there is none.
const ProblemView* gravest(const std::vector<ProblemView>& problems) noexcept;

} // namespace deltascope::app
