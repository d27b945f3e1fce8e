#pragma once

#include "acts/act.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace deltascope::app {

/// Plans that may be started. Of each principal the newest ones are kept, so that one who makes many takes no room from
/// the others. A value that its owner guards.
class KeptPlans {
public:
    static constexpr std::size_t MostOfOne = 64; ///< of one principal
    /// The same, in memory. A plan that its job makes larger than this is kept alone.
    static constexpr std::size_t MostBytesOfOne = std::size_t { 1 } << 20;
    static constexpr std::size_t Most = 1'024; ///< of all

    /// `by`: the principal that asked for it. `prepare`: starts the job that makes the plan; null: it is complete.
    /// Errors: Usage (larger than what one principal may have).
    Result<PlanView> add(BoundPlan plan, const std::string& by, const std::function<JobId()>& prepare = nullptr);
    /// Errors: NotFound; Usage (it is not made yet); Rewritten if `hash` is not the plan's.
    Result<const BoundPlan*> find(const std::string& id, const std::string& hash) const;
    /// As it is now. Errors: NotFound.
    Result<PlanView> view(const std::string& id) const;
    void drop(const std::string& id);

    void take(const JobView& job);
    /// Whether the job has made one of the plans.
    bool takeEnd(JobId job, const Result<JobResult>& outcome);
    /// Jobs whose plans are not kept any more.
    std::vector<JobId> takeDropped();

private:
    struct Kept {
        BoundPlan plan;
        std::string by;
        std::size_t bytes = 0;
        std::optional<JobId> job; ///< that makes the plan
    };
    Kept* planOf(JobId job);
    void forget(const Kept& kept);
    /// For the plan with that id: older ones of the same principal go, as far as they have to.
    void makeRoom(const std::string& by, std::size_t bytes, const std::string& id);

    std::deque<Kept> m_plans; ///< oldest first
    std::vector<JobId> m_dropped;
    std::uint64_t m_next = 1;
};

} // namespace deltascope::app
