#pragma once

#include "deltascope/app/monitor.h"

#include <functional>
#include <string>
#include <vector>

namespace deltascope::app {

/// A plan with what starts it.
struct BoundPlan {
    PlanView view; ///< without an id
    ActRequest request; ///< what was asked for
    /// `by`: the principal that asks.
    std::function<JobId(Service&, const PlanView& plan, const std::string& by)> start;
    /// Where the plan is made from states that have to be read: the job that reads them. Null: the plan is complete.
    std::function<JobId(Service&)> prepare = nullptr;
    /// Takes what that job has found into the plan.
    std::function<void(PlanView&, const JobResult&)> complete = nullptr;
};

/// What an act is planned from. Valid during the call.
struct ActScene {
    const RunSnapshot& snapshot; ///< it is open
    const SourceRequest& source; ///< how the run is read
    const MonitorOptions& options;
};

/// The arguments of an act, complete: what was not given has its standard value.
class CheckedArgs {
public:
    /// `args`: as checkArgs() lets them pass.
    CheckedArgs(const std::vector<ActField>& fields, ActArgs args);
    const std::string& text(std::string_view name) const; ///< also of steps, folders and choices
    std::int64_t whole(std::string_view name) const;
    bool flag(std::string_view name) const;
    const ActArgs& all() const noexcept { return m_args; }

private:
    ActArgs m_args;
};

/// An act: one folder below app/src/acts, and one line in registry.cpp.
struct Act {
    ActInfo info;
    /// What it would do, from what is known of the run. Errors: NotFound (no such step), Usage, ChainGap and others for
    /// a step that cannot be rebuilt.
    Result<BoundPlan> (*plan)(const ActScene& scene, const CheckedArgs& args);
};

/// The registry.
const std::vector<Act>& acts();
/// Errors: Usage (there is none, with those that there are).
Result<const Act*> findAct(std::string_view kind);

/// Errors: Usage (a field that the act does not have, a value that does not fit, a required one that is absent).
Result<void> checkArgs(const ActInfo& act, const ActArgs& args);

/// What an act on a run would do. Errors: Usage, Transient (the run is not opened yet), those of Act::plan.
Result<BoundPlan> planAct(const RunSnapshot& snapshot, const SourceRequest& source, const ActRequest& request,
                          const MonitorOptions& options);

} // namespace deltascope::app
