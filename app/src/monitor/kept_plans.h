#pragma once

#include "plans.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

namespace deltascope::app {

/// Plans that may be started. Of each principal the newest ones are kept, so that one who makes many takes no room from
/// the others. A value that its owner guards.
class KeptPlans {
public:
    static constexpr std::size_t MostOfOne = 64; ///< of one principal
    static constexpr std::size_t MostBytesOfOne = std::size_t { 1 } << 20; ///< the same, in memory
    static constexpr std::size_t Most = 1'024; ///< of all

    /// `by`: the principal that asked for it. Errors: Usage (larger than what one principal may have).
    Result<PlanView> add(BoundPlan plan, const std::string& by);
    /// Errors: NotFound; Rewritten if `hash` is not the plan's.
    Result<const BoundPlan*> find(const std::string& id, const std::string& hash) const;

private:
    struct Kept {
        BoundPlan plan;
        std::string by;
        std::size_t bytes = 0;
    };
    void makeRoom(const std::string& by, std::size_t bytes);

    std::deque<Kept> m_plans; ///< oldest first
    std::uint64_t m_next = 1;
};

} // namespace deltascope::app
