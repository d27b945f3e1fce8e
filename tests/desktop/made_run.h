#pragma once

#include "deltascope/app/view/summary_view.h"

#include <cstdint>
#include <memory>

namespace deltascope::desktop {

/// Runs of any length without a bucket: anchors every `anchorEvery` steps, all sound.
struct MadeRun {
    std::int64_t first = 0;
    std::int64_t last = 0;
    std::int64_t anchorEvery = 10;
    int verifiedLevel = 3; ///< 0: nothing was verified

    app::EpochView epoch(int number = 0) const
    {
        app::EpochView epoch;
        epoch.epoch = number;
        for (std::int64_t at = first; at <= last; ++at) {
            app::StepView step;
            const std::int64_t anchor = at - at % anchorEvery;
            step.epoch = number;
            step.step = at;
            step.kind = at == anchor || at == first ? "anchor" : "delta";
            step.state = "complete";
            step.name = "step_" + std::to_string(at);
            if (step.kind == "delta")
                step.baseStep = at - 1;
            step.changedElements = 1000;
            step.totalElements = 100'000;
            if (step.kind == "delta")
                step.changedFraction = 0.01;
            step.wireBytes = step.kind == "anchor" ? 1'000'000 : 10'000 + static_cast<std::uint64_t>(at % 7) * 100;
            step.publishedUs = 1'700'000'000'000'000 + at * 12'000'000;
            step.restorable = true;
            step.restore.deltas = static_cast<std::uint64_t>(at - std::max(anchor, first));
            step.restore.bytes = 1'000'000 + step.restore.deltas * 10'000;
            step.objects.push_back({ step.name + ".safetensors", step.wireBytes, step.publishedUs });
            epoch.steps.push_back(std::move(step));
        }
        return epoch;
    }

    std::shared_ptr<app::RunSnapshot> snapshot(std::vector<app::EpochView> epochs) const
    {
        auto run = std::make_shared<app::RunView>();
        run->source = "file:///made";
        run->latest = epochs.back().steps.back().step;
        auto snapshot = std::make_shared<app::RunSnapshot>();
        snapshot->id = "made";
        snapshot->name = "made";
        snapshot->source = run->source;
        snapshot->state = "live";
        for (const app::EpochView& epoch : epochs) {
            for (const app::StepView& step : epoch.steps) {
                if (verifiedLevel > 0)
                    snapshot->verified[{ step.epoch, step.step }] = { verifiedLevel, "verified", step.publishedUs + 1 };
            }
        }
        run->epochs = std::move(epochs);
        snapshot->run = run;
        return snapshot;
    }
    std::shared_ptr<app::RunSnapshot> snapshot() const { return snapshot({ epoch() }); }
};

} // namespace deltascope::desktop
