#include "recorded_service.h"

namespace deltascope::app {

Error noWeights(const RecordedRun& recorded)
{
    return { Code::Unsupported,
             "a bundle holds no weights",
             recorded.about.path,
             {},
             "open the source itself: " + recorded.snapshot->source };
}

Error noAnnotations(const RecordedRun& recorded)
{
    return { Code::Unsupported,
             "the bundle was written by an older version, which kept no notes and no journal",
             recorded.about.path,
             {},
             "open the source itself: " + recorded.snapshot->source };
}

Error onlyRecorded(const RecordedRun& recorded)
{
    return { Code::Unsupported,
             "a bundle is a recording, in which nothing can be done",
             recorded.about.path,
             {},
             "open the source itself: " + recorded.snapshot->source };
}

RecordedService::RecordedService(const RecordedRun& recorded)
    : m_recorded(recorded)
    , m_runner(m_bus, 1)
{
}

JobId RecordedService::answer(std::string title, Result<JobResult> outcome)
{
    return m_runner.start(std::move(title), JobRunner::Life::Short,
                          [outcome = std::move(outcome)](JobId, TaskContext&) { return outcome; });
}

JobId RecordedService::answerOf(std::string title, const SourceRequest& request, JobResult result)
{
    if (request.source != m_recorded.snapshot->source)
        return refuseActs(std::move(title));
    return answer(std::move(title), std::move(result));
}

JobId RecordedService::openRun(SourceRequest request, Depth)
{
    return answerOf("open", request, m_recorded.snapshot->run);
}

JobId RecordedService::listObjects(SourceRequest request) { return answerOf("list", request, m_recorded.listing); }

JobId RecordedService::log(LogRequest) { return refuseWeights("log of some tensors"); }
JobId RecordedService::showStep(VersionRequest, Depth) { return refuseWeights("show"); }
JobId RecordedService::verify(VerifyRequest) { return refuseWeights("verify"); }
JobId RecordedService::digest(VersionRequest, bool, TensorHashes) { return refuseWeights("hash"); }
JobId RecordedService::checkDigests(VersionRequest, std::string, bool) { return refuseWeights("hash"); }
JobId RecordedService::diff(VersionRequest, VersionRequest, DiffChoice) { return refuseWeights("compare"); }
JobId RecordedService::blocks(TensorRequest, std::uint32_t) { return refuseWeights("blocks"); }
JobId RecordedService::elements(TensorRequest, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t)
{
    return refuseWeights("elements");
}
JobId RecordedService::statistics(TensorRequest) { return refuseWeights("values"); }
JobId RecordedService::statisticsHistory(TensorRequest, std::uint32_t) { return refuseWeights("values over steps"); }
JobId RecordedService::tensorFirsts(TensorRequest) { return refuseWeights("values over steps"); }
JobId RecordedService::statisticsCost(TensorRequest, std::uint32_t) { return refuseWeights("cost of values"); }
JobId RecordedService::readHeader(SourceRequest, std::string) { return refuseWeights("header"); }
JobId RecordedService::materialize(MaterializeRequest) { return refuseWeights("materialize"); }
JobId RecordedService::publish(PublishRequest) { return refuseActs("publish"); }
JobId RecordedService::cost(CostRequest) { return refuseActs("cost"); }
JobId RecordedService::annotations(SourceRequest request)
{
    constexpr const char* Title = "annotations";
    return m_recorded.annotations ? answerOf(Title, request, m_recorded.annotations)
                                  : answer(Title, fail(noAnnotations(m_recorded)));
}
JobId RecordedService::start(ActCall call) { return refuseActs(call.act.kind.c_str()); }
JobId RecordedService::doctor(std::optional<SourceRequest>, bool) { return refuseActs("doctor"); }
JobId RecordedService::demo(DemoRequest) { return refuseActs("demo"); }
JobId RecordedService::watch(SourceRequest, Depth) { return refuseActs("watch"); }

Result<DemoView> RecordedService::prepareDemo(const DemoRequest&) { return fail(onlyRecorded(m_recorded)); }
Result<void> RecordedService::removeDemo(const DemoRequest&) { return fail(onlyRecorded(m_recorded)); }

std::optional<std::vector<std::pair<std::string, std::uint64_t>>> RecordedService::countsOf(const HeatView& heat,
                                                                                            std::size_t column) const
{
    const HeatColumnView& wanted = heat.columns.at(column);
    const auto known = m_recorded.counts.find({ wanted.epoch, wanted.step });
    if (known == m_recorded.counts.end() || known->second.size() != heat.rows.size())
        return std::nullopt;
    std::vector<std::pair<std::string, std::uint64_t>> counts;
    for (std::size_t row = 0; row < heat.rows.size(); ++row)
        counts.emplace_back(heat.rows[row].name, known->second[row]);
    return counts;
}

} // namespace deltascope::app
