#pragma once

#include "deltascope/app/alerts.h"

#include "support/times.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace deltascope::app {

/// A run for the rules: an anchor every ten steps, ten seconds from one step to the next, 0.4 % of the weights changed
/// with a delta of a tenth of an anchor, pauses of one second.
class AlertRun {
public:
    explicit AlertRun(std::int64_t steps)
    {
        view.epochs = { { 0, {} } };
        for (std::int64_t step = 0; step < steps; ++step)
            publish(step % 10 == 0 ? "anchor" : "delta");
    }

    StepView& publish(const std::string& kind = "delta")
    {
        std::vector<StepView>& steps = view.epochs.back().steps;
        StepView step;
        step.epoch = view.epochs.back().epoch;
        step.step = steps.empty() ? 0 : std::max(steps.back().step, steps.back().lastMissing) + 1;
        step.kind = kind;
        step.state = "complete";
        step.restorable = true;
        step.publishedUs = nowUs();
        step.wireBytes = kind == "anchor" ? 1'000'000 : 100'000;
        step.changedFraction = 0.004;
        step.pauseMs = 1000;
        view.wireBytes += step.wireBytes;
        steps.push_back(step);
        return steps.back();
    }

    /// Steps that have no object.
    void miss(std::int64_t count = 1)
    {
        StepView gap;
        gap.step = newest().step + 1;
        gap.lastMissing = newest().step + count;
        gap.kind = gap.state = "gap";
        view.epochs.back().steps.push_back(gap);
    }

    StepView& newest() { return view.epochs.back().steps.back(); }

    void addReplica(std::string id, std::int64_t behind, std::string state = "serving")
    {
        ReplicaView replica;
        replica.id = std::move(id);
        replica.state = std::move(state);
        replica.step = newest().step - behind;
        replica.behind = behind;
        replica.ageSeconds = 1;
        view.replicas.push_back(std::move(replica));
    }

    RunSnapshot snapshot() const
    {
        RunSnapshot snapshot;
        snapshot.id = "wordle";
        snapshot.run = std::make_shared<RunView>(view);
        snapshot.verified = verified;
        return snapshot;
    }

    /// When the next step is due.
    std::int64_t nowUs() const
    {
        const std::vector<StepView>& steps = view.epochs.back().steps;
        const auto last = std::find_if(steps.rbegin(), steps.rend(), [](auto& step) { return step.state != "gap"; });
        return last == steps.rend() ? test::Begin : last->publishedUs + 10 * test::Second;
    }

    RunView view;
    VerifiedSteps verified;
};

} // namespace deltascope::app
