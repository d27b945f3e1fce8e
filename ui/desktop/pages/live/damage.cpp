#include "pages/live/damage.h"

#include <algorithm>

namespace deltascope::desktop {

namespace {

bool isDamaged(const app::StepView& step, const std::optional<app::VerifiedView>& verified)
{
    return step.state == "broken" || (verified && verified->result == "damaged");
}

bool isUsable(const app::StepView& step) { return step.restorable || step.state != "complete"; }

app::ProblemView problemOf(const app::StepView& step, bool damaged)
{
    if (!step.problems.empty())
        return step.problems.front();
    if (!damaged)
        return { {}, step.step, step.name, step.restore.reason, {} };
    return { "DS-DIGEST", step.step, step.name, "Its bytes are not those that were published.",
             "Verify it again; if it fails, use the step before." };
}

}

std::optional<Damage> findDamage(const app::RunSnapshot& snapshot)
{
    if (!snapshot.run)
        return std::nullopt;
    const std::vector<const app::StepView*> steps = app::newestSteps(*snapshot.run);
    const app::StepView* first = nullptr;
    const app::StepView* sound = nullptr;
    bool chainIsSound = true;
    for (const app::StepView* step : steps) {
        const std::optional<app::VerifiedView> verified = app::verifiedOf(snapshot.verified, *step);
        const bool unusable = isDamaged(*step, verified) || !isUsable(*step);
        if (step->kind == "anchor" && step->restorable && !unusable) {
            chainIsSound = true;
            first = nullptr;
        }
        if (unusable && !first) {
            chainIsSound = false;
            first = step;
        } else if (chainIsSound && step->restorable) {
            sound = step;
        }
    }
    if (!first)
        return std::nullopt;
    Damage damage;
    damage.epoch = first->epoch;
    damage.step = first->step;
    damage.verified = app::verifiedOf(snapshot.verified, *first);
    damage.damaged = isDamaged(*first, damage.verified);
    damage.problem = problemOf(*first, damage.damaged);
    if (sound)
        damage.sound = sound->step;
    return damage;
}

} // namespace deltascope::desktop
