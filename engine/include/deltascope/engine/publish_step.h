#pragma once

#include "deltascope/engine/act_plan.h"
#include "deltascope/engine/publish.h"
#include "deltascope/engine/read_acts.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace deltascope {

/// A state that a step is published from or to: known by its objects, and not read yet.
struct StepState {
    std::vector<PlannedObject> reads; ///< every object that it is rebuilt from, with the address of its store
    std::string checkpoint; ///< address of the store that holds it as one complete checkpoint; empty: it is none
    std::vector<std::string> unknown; ///< as ActPlan::unknown
    std::string origin; ///< what it is called; may be empty
    /// Reads its headers. What it returns lives as long as this.
    std::function<Result<const State*>(TaskContext& task)> open;

    /// Without origin and open.
    static StepState of(const PlannedState& state);
    static StepState ofFile(const ObjectStore& store, const ObjectInfo& file);
};

/// The step from one state to the next, and where it is published.
struct StepToPublish {
    std::string into; ///< canonical address of the run
    StepState from, to;
};

/// A version that is put next.
struct DueVersion {
    std::int64_t step = 0;
    bool anchor = false;
    std::string anchorReason; ///< why it is an anchor, with the numbers; empty for deltas
    std::vector<std::string> keys; ///< of its objects, the committing one last
};

/// What publishing a step would do.
struct PublishPlan {
    ActPlan act;
    std::optional<std::int64_t> head; ///< the newest step before; nothing: the run is empty
    std::vector<DueVersion> versions; ///< empty: the step is there already, or it is refused
    std::uint64_t stateBytes = 0; ///< of the state that is published
    bool isAdapter = false; ///< as in PublishedVersion
};

/// Plans what publishStep() does. Reads headers, and holds an external base against the first delta of the run, as
/// Publisher::open does; writes nothing there, and takes no lease. `into`: null where the folder is not there yet.
/// Errors: those of Publisher::open but for the lease, Malformed (a state that would be put has no element),
/// BaseMismatch (the tensors differ in name, dtype or shape), Unsupported (the settings of adapters differ), those of
/// opening the states.
Result<PublishPlan> planPublish(Workbench& bench, std::shared_ptr<ObjectStore> into, const OpenOptions& base,
                                const StepToPublish& step, const PublishOptions& options, TaskContext& task);

/// Publishes the step from one state to the next. An empty source gets `from` as its first anchor, unless the layout
/// starts from an external base, and `to` as the delta behind it. In a source that holds a run already, `from` must be
/// its newest state, bit for bit, and `to` becomes the next step. Where the newest version is this very step, put by a
/// process that was killed before it could tell, nothing is put (PublishedVersion::wasThere). Plans under the lease,
/// before the states are opened. `planHash`: of the plan that was looked at; empty: of none. Errors: Exists (that plan
/// does not fit any more), those of Publisher.
Result<std::vector<PublishedVersion>> publishStep(Workbench& bench, std::shared_ptr<ObjectStore> into,
                                                  const OpenOptions& base, const StepToPublish& step,
                                                  const PublishOptions& options, const std::string& planHash,
                                                  TaskContext& task);

} // namespace deltascope
