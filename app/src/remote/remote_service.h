#pragma once

#include "deltascope/app/remote.h"

#include "remote_runs.h"
#include "service/event_queue.h"
#include "service/job_runner.h"
#include "wire.h"

#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace deltascope::app {

/// Exact counts of columns that a server was asked for, a good many at a time. Any thread.
class RemoteCounts {
public:
    using Counts = std::vector<std::pair<std::string, std::uint64_t>>;

    explicit RemoteCounts(Wire& wire)
        : m_wire(wire)
    {
    }
    std::optional<Counts> of(const HeatView& heat, std::size_t column);

private:
    struct Column {
        std::string run;
        std::string chain;
        std::optional<Counts> counts;
    };
    const Column* known(const std::string& run, const std::string& chain) const;

    Wire& m_wire;
    std::mutex m_mutex;
    std::list<Column> m_columns; ///< the newest first
};

/// Jobs that a server does. It has no more of them than its API.
class RemoteService final : public Service {
public:
    /// All outlive it.
    RemoteService(Wire& wire, const RemoteRuns& runs, const CapabilitiesView& about);

    JobId openRun(SourceRequest request, Depth depth) override;
    JobId log(LogRequest request) override;
    JobId showStep(VersionRequest request, Depth depth) override;
    JobId listObjects(SourceRequest request) override;
    JobId verify(VerifyRequest request) override;
    JobId digest(VersionRequest request, bool acrossGap, TensorHashes hashes) override;
    JobId checkDigests(VersionRequest request, std::string path, bool acrossGap) override;
    JobId diff(VersionRequest a, VersionRequest b, DiffChoice choice) override;
    JobId blocks(TensorRequest request, std::uint32_t maxBlocks) override;
    JobId elements(TensorRequest request, std::uint64_t row, std::uint64_t col, std::uint64_t rows,
                   std::uint64_t cols) override;
    JobId statistics(TensorRequest request) override;
    JobId statisticsHistory(TensorRequest request, std::uint32_t steps) override;
    JobId tensorFirsts(TensorRequest request) override;
    JobId statisticsCost(TensorRequest request, std::uint32_t steps) override;
    JobId readHeader(SourceRequest request, std::string key) override;
    JobId materialize(MaterializeRequest request) override;
    JobId publish(PublishRequest request) override;
    JobId cost(CostRequest request) override;
    JobId annotations(SourceRequest request) override;
    JobId start(ActCall call) override;
    JobId doctor(std::optional<SourceRequest> source, bool clean) override;
    Result<DemoView> prepareDemo(const DemoRequest& request) override;
    JobId demo(DemoRequest request) override;
    Result<void> removeDemo(const DemoRequest& request) override;
    JobId watch(SourceRequest request, Depth depth) override;

    std::optional<std::vector<std::pair<std::string, std::uint64_t>>> countsOf(const HeatView& heat,
                                                                               std::size_t column) const override;
    Result<std::string> backend() const override;
    std::vector<StoreMeterView> meters() const override { return {}; }
    std::vector<JobView> jobs() const override { return m_runner.jobs(); }
    std::optional<JobView> job(JobId id) const override { return m_runner.job(id); }
    void cancel(JobId id) override { m_runner.cancel(id); }
    void pause(JobId id) override { m_runner.pause(id); }
    void resume(JobId id) override { m_runner.resume(id); }
    std::unique_ptr<EventFeed> subscribe(std::function<void()> wake) override
    {
        return m_bus.subscribe(std::move(wake));
    }

private:
    struct Place { ///< of a tensor
        std::string path; ///< "runs/wordle/steps/0:12/tensors/7/"
        WireQuery query;
    };
    Result<RemoteRuns::Snapshot> runOf(const SourceRequest& request) const;
    Result<Place> placeOf(const TensorRequest& request) const;
    JobId start(std::string title, JobRunner::Work work);
    JobId refuse(const char* what);
    /// A job that asks about one tensor.
    template <class View>
    JobId askOf(std::string title, TensorRequest request, std::string what, WireQuery query,
                View (*readView)(const json&));

    Wire& m_wire;
    const RemoteRuns& m_runs;
    const CapabilitiesView& m_about;
    mutable RemoteCounts m_counts;
    EventBus m_bus;
    JobRunner m_runner; ///< last: its threads use everything above
};

} // namespace deltascope::app
