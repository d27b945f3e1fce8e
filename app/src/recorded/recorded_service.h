#pragma once

#include "read_bundle.h"
#include "service/event_queue.h"
#include "service/job_runner.h"

#include <string>

namespace deltascope::app {

/// Why nothing is rebuilt, compared or read from a bundle.
Error noWeights(const RecordedRun& recorded);
/// Why it says nothing about notes and the journal.
Error noAnnotations(const RecordedRun& recorded);
/// Why nothing new happens in it.
Error onlyRecorded(const RecordedRun& recorded);

/// Jobs that a bundle has the answer to; the others are refused.
class RecordedService final : public Service {
public:
    /// `recorded` outlives it.
    explicit RecordedService(const RecordedRun& recorded);

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
    Result<std::string> backend() const override { return std::string(); }
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
    JobId answer(std::string title, Result<JobResult> outcome);
    /// The answer if it is this run that is meant.
    JobId answerOf(std::string title, const SourceRequest& request, JobResult result);
    JobId refuseWeights(std::string title) { return answer(std::move(title), fail(noWeights(m_recorded))); }
    JobId refuseActs(std::string title) { return answer(std::move(title), fail(onlyRecorded(m_recorded))); }

    const RecordedRun& m_recorded;
    EventBus m_bus;
    JobRunner m_runner; ///< last: its thread uses everything above
};

} // namespace deltascope::app
