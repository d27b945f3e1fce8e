#pragma once

#include "deltascope/app/view/run_view.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace deltascope::app {

/// What a verification of one step came to.
struct VerifiedView {
    int level = 0;
    std::string result; ///< as in StepVerdictView
    std::int64_t tUs = 0;
    std::optional<ProblemView> problem = std::nullopt; ///< the gravest that it found; nothing: none, or only notices

    bool operator==(const VerifiedView&) const = default;
};
/// By epoch and step; the deepest verification since the version got its objects.
using VerifiedSteps = std::map<std::pair<int, std::int64_t>, VerifiedView>;

/// Nothing for a step that was not verified.
std::optional<VerifiedView> verifiedOf(const VerifiedSteps& verified, const StepView& step);
/// From strong to weak; nothing else is sound.
inline constexpr std::array<std::string_view, 3> SoundResults = { "verified", "consistent", "first_sight" };
/// Place in SoundResults; nothing for what was not found sound.
std::optional<std::size_t> soundnessOf(const VerifiedView& verified);
/// Steps of the newest epoch, ascending; holes left out.
std::vector<const StepView*> newestSteps(const RunView& run);

} // namespace deltascope::app
