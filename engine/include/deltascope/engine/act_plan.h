#pragma once

#include "deltascope/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace deltascope {

/// An object that an act reads, writes or deletes.
struct PlannedObject {
    std::string store; ///< canonical address; empty: the source
    std::string key;
    std::string identity; ///< as it was listed; empty: the object must be absent
    /// 0 for what is written, for its size is known when it is made, and where nothing but headers is read.
    std::uint64_t bytes = 0;

    auto operator<=>(const PlannedObject&) const = default;
};

/// A fact that an act changes: "head" "16 to 17".
struct PlannedEffect {
    std::string fact;
    std::string value;

    bool operator==(const PlannedEffect&) const = default;
};

/// What an act is going to do. Made by the act itself, shown, and bound by its hash: the act that runs makes it again
/// and refuses to run if anything in it is different.
struct ActPlan {
    std::string kind; ///< "rollback"
    std::vector<std::pair<std::string, std::string>> arguments; ///< by name, as canonical text
    std::vector<PlannedObject> reads, writes, deletes; ///< each by store and key, once
    /// Objects below ".deltascope/v1/" that come and go, by kind with their number: "journal" "2".
    std::vector<PlannedEffect> beside;
    std::vector<PlannedEffect> effects;
    std::vector<Error> warnings;
    std::vector<std::string> unknown; ///< what nobody can know beforehand, as sentences
    std::string undo; ///< the kind of act that takes it back; empty: none does

    /// Lower-case hex of SHA-256 over the facts above but for warnings and unknown (docs/formats/act-plan.md).
    std::string hash() const;
    std::uint64_t readBytes() const noexcept;
};

/// That a plan is still the one that was looked at. `hash`: of that one; `source`, `step`: what it is about. Errors:
/// Exists.
Result<void> expectPlanned(const ActPlan& plan, const std::string& hash, const std::string& source,
                           std::optional<std::int64_t> step);
/// Whether an error is that of expectPlanned(), so that the same plan can never be carried out.
bool isOfStalePlan(const Error& error);

/// How a plan is carried out.
struct ActOptions {
    std::string planHash; ///< ActPlan::hash() of what was planned
    std::string by; ///< who acts: "kim@host"
};

} // namespace deltascope
