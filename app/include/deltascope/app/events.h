#pragma once

#include "deltascope/app/view/act_view.h"
#include "deltascope/app/view/annotations_view.h"
#include "deltascope/app/view/cost_view.h"
#include "deltascope/app/view/heat_view.h"
#include "deltascope/app/view/log_view.h"
#include "deltascope/app/view/operation_view.h"
#include "deltascope/app/view/run_view.h"
#include "deltascope/app/view/statistics_view.h"
#include "deltascope/app/view/tensor_view.h"
#include "deltascope/base/result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace deltascope::app {

enum class JobId : std::uint64_t {};

enum class JobState : std::uint8_t { Queued, Running, Paused, Done, Failed, Canceled };

/// A job as of now.
struct JobView {
    JobId id {};
    std::string title; ///< "materialize step 12"
    JobState state = JobState::Queued;
    std::string phase;
    std::uint64_t doneBytes = 0;
    std::uint64_t totalBytes = 0; ///< 0: not known
    double bytesPerSecond = 0; ///< over the last seconds
    double seconds = 0; ///< since it started
    std::optional<double> secondsLeft; ///< of this phase; nothing while it cannot be said
};

/// What a job ends with.
using JobResult = std::variant<
    std::shared_ptr<const RunView>, std::shared_ptr<const LogView>, std::shared_ptr<const StepDetailView>,
    std::shared_ptr<const ListingView>, std::shared_ptr<const VerifyView>, std::shared_ptr<const DigestView>,
    std::shared_ptr<const DigestCheckView>, std::shared_ptr<const DiffView>, std::shared_ptr<const MaterializeView>,
    std::shared_ptr<const PublishView>, std::shared_ptr<const DoctorView>, std::shared_ptr<const DemoView>,
    std::shared_ptr<const CostView>, std::shared_ptr<const BlocksView>, std::shared_ptr<const ElementsView>,
    std::shared_ptr<const StatisticsView>, std::shared_ptr<const StatisticsHistoryView>,
    std::shared_ptr<const TensorFirstsView>, std::shared_ptr<const StatisticsCostView>,
    std::shared_ptr<const HeaderView>, std::shared_ptr<const AnnotationsView>, std::shared_ptr<const AnnotatedView>,
    std::shared_ptr<const RollBackView>, std::shared_ptr<const BranchView>, std::shared_ptr<const PlannedReadView>,
    std::shared_ptr<const DiscardView>>;

struct JobProgressed {
    JobView job;
};
/// Also failure and cancellation; the last event of a job.
struct JobFinished {
    JobId job {};
    Result<JobResult> outcome;
};
/// The run as it is now; for watched and analyzed runs.
struct RunChanged {
    JobId job {};
    std::shared_ptr<const RunView> run;
    std::shared_ptr<const HeatView> heat; ///< of the same moment, where versions are replayed; may be null
};
/// What a long publication has done so far.
struct Published {
    JobId job {};
    std::shared_ptr<const PublishView> view;
};
using Event = std::variant<JobProgressed, JobFinished, RunChanged, Published>;

/// The events of one subscriber. Bounded: progress is kept once per job, a newer run replaces an older one of the same
/// job, and the end of a job is never dropped. Any thread.
class EventFeed {
public:
    virtual ~EventFeed() = default;
    /// Everything since the last call.
    virtual std::vector<Event> take() = 0;
    /// Blocks until there is something to take or the time is over.
    virtual void wait(int milliseconds) = 0;
};

} // namespace deltascope::app
