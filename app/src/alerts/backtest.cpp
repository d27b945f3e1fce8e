#include "alerts/backtest.h"

#include <algorithm>
#include <map>
#include <memory>

namespace deltascope::app {

namespace {

/// A run that grows.
class Replay {
public:
    Replay(const RunSnapshot& snapshot, const Visit& visit)
        : m_whole(snapshot)
        , m_visit(visit)
        , m_run(std::make_shared<RunView>())
    {
        for (const SpanView& span : snapshot.run->spans)
            m_spans.push_back(&span);
        std::stable_sort(m_spans.begin(), m_spans.end(),
                         [](const SpanView* a, const SpanView* b) { return a->t1Us < b->t1Us; });
        for (const auto& entry : snapshot.verified)
            m_verified.push_back(&entry);
        std::sort(m_verified.begin(), m_verified.end(),
                  [](const auto* a, const auto* b) { return a->second.tUs < b->second.tUs; });
        if (!m_verified.empty())
            m_endUs = m_verified.back()->second.tUs;
        if (!m_spans.empty())
            m_endUs = std::max(m_endUs, m_spans.back()->t1Us);
        m_run->baseBytes = snapshot.run->baseBytes;
        m_run->problems = snapshot.run->problems;
        m_then.id = snapshot.id;
        m_then.run = m_run;
    }

    void run()
    {
        for (const EpochView& epoch : m_whole.run->epochs) {
            m_run->epochs.push_back({ epoch.epoch, {} });
            for (const StepView& step : epoch.steps) {
                if (step.state == "gap") {
                    m_run->epochs.back().steps.push_back(step);
                    continue;
                }
                m_nowUs = std::max(m_nowUs + 1, step.publishedUs);
                visitAt(m_nowUs - 1);
                publish(step);
                visitAt(m_nowUs);
            }
        }
        if (m_endUs > m_nowUs)
            visitAt(m_endUs);
    }

private:
    void publish(const StepView& step)
    {
        m_run->epochs.back().steps.push_back(step);
        m_run->wireBytes += step.wireBytes;
        for (const DriftView& drift : m_whole.run->drift) {
            if (drift.epoch == step.epoch && drift.step == step.step)
                m_run->drift.push_back(drift);
        }
    }

    void visitAt(std::int64_t nowUs)
    {
        for (; m_span < m_spans.size() && m_spans[m_span]->t1Us <= nowUs; ++m_span) {
            const SpanView& span = *m_spans[m_span];
            m_run->spans.push_back(span);
            if (span.phase == "pause" || span.phase == "apply")
                m_serves[span.actor] = span.step;
        }
        for (; m_check < m_verified.size() && m_verified[m_check]->second.tUs <= nowUs; ++m_check)
            m_then.verified.insert(*m_verified[m_check]);
        m_run->replicas.clear();
        for (const auto& [id, step] : m_serves)
            m_run->replicas.push_back(replicaAt(id, step));
        m_visit(m_then, nowUs);
    }

    ReplicaView replicaAt(const std::string& id, std::int64_t step) const
    {
        const std::vector<StepView>& steps = m_run->epochs.back().steps;
        ReplicaView replica;
        replica.id = id;
        replica.state = "serving";
        replica.step = step;
        replica.behind = 0;
        for (auto newer = steps.rbegin(); newer != steps.rend() && newer->step > step; ++newer)
            *replica.behind += newer->state == "gap" ? 0 : 1;
        return replica;
    }

    const RunSnapshot& m_whole;
    const Visit& m_visit;
    std::shared_ptr<RunView> m_run;
    RunSnapshot m_then; ///< shows m_run
    std::vector<const SpanView*> m_spans; ///< by end
    std::size_t m_span = 0; ///< the next one
    std::vector<const VerifiedSteps::value_type*> m_verified; ///< by time
    std::size_t m_check = 0; ///< the next one
    std::map<std::string, std::int64_t> m_serves; ///< steps, by replica
    std::int64_t m_nowUs = 0;
    std::int64_t m_endUs = 0;
};

}

void replayRun(const RunSnapshot& snapshot, const Visit& visit) { Replay(snapshot, visit).run(); }

} // namespace deltascope::app
