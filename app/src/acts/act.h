#pragma once

#include "acts/report.h"
#include "deltascope/app/monitor.h"
#include "deltascope/engine/act_plan.h"
#include "deltascope/engine/operations.h"
#include "deltascope/engine/roll_back.h"

#include <functional>
#include <string>
#include <vector>

namespace deltascope::app {

/// A plan with what makes it complete and carries it out.
struct BoundPlan {
    PlanView view; ///< without an id; of what only the engine knows nothing yet
    ActRequest request; ///< what was asked for
    /// Arguments that were left open or ambiguous, as they were understood: with them the same request means the same
    /// when the run has grown.
    ActArgs settled;
    ActCall call; ///< what the engine is asked for
    /// Takes what the engine has planned into the plan that faces show.
    void (*complete)(PlanView& plan, const JobResult& planned) = nullptr;

    /// The call that carries it out. `by`: the principal that asks.
    ActCall bound(const std::string& by) const;
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

/// What the engine plans an act with, or carries it out. Valid during the call.
struct ActWork {
    Workbench& bench;
    const ActCall& call;
    const CheckedArgs& args; ///< of `call`; a step is any word that addresses know

    bool isPlan() const noexcept { return call.planHash.empty(); }
    ActOptions how() const; ///< of carrying it out
    ChooseVersion chosen(TaskContext& task) const; ///< the version that the argument `step` means; both outlive it
};

/// An act: one folder below app/src/acts, and one line in registry.cpp.
struct Act {
    ActInfo info;
    /// What is known before the engine plans it: title, command line and BoundPlan::call (its act alone).
    /// Errors: NotFound (no such step), Usage, ChainGap and others for a step that cannot be rebuilt.
    Result<BoundPlan> (*plan)(const ActScene& scene, const CheckedArgs& args);
    ActReport report; ///< of run()
    /// Makes the plan, or carries it out. Errors: those of the act.
    Result<JobResult> (*run)(const ActWork& work, TaskContext& task);
    void (*complete)(PlanView& plan, const JobResult& planned); ///< BoundPlan::complete
};

/// The registry.
const std::vector<Act>& acts();
/// Errors: Usage (there is none, with those that there are).
Result<const Act*> findAct(std::string_view kind);

/// Errors: Usage (a field that the act does not have, a value that does not fit, a required one that is absent).
Result<void> checkArgs(const ActInfo& act, const ActArgs& args);

/// Plans or carries out an act of the engine. Errors: Usage (there is no such act; see checkArgs), those of the act.
Result<JobResult> runAct(Workbench& bench, const ActCall& call, TaskContext& task);

/// What an act on a run would do. Errors: Usage, Transient (the run is not opened yet), those of Act::plan.
Result<BoundPlan> planAct(const RunSnapshot& snapshot, const SourceRequest& source, const ActRequest& request,
                          const MonitorOptions& options);

} // namespace deltascope::app
