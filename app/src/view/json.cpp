#include "deltascope/app/view/json.h"

#include "json_parts.h"
#include "run_description.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace deltascope::app {

namespace {

ordered_json json(const StoreDigestsView& digests)
{
    return { { "equal", digests.equal },
             { "not_compared", digests.uncompared },
             { "none", digests.none },
             { "text", storeDigestsText(digests) } };
}

ordered_json json(const CoverageView& coverage)
{
    return { { "tensors", coverage.tensors },        { "digest", coverage.digest }, { "root", coverage.root },
             { "anchor", coverage.anchor },          { "base", coverage.base },     { "weak", coverage.weak },
             { "first_sight", coverage.firstSight }, { "none", coverage.none },     { "weakest", coverage.weakest },
             { "text", coverageText(coverage) } };
}
}

std::string dumpText(const std::string& text)
{
    const auto isPlain = [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; };
    return std::all_of(text.begin(), text.end(), isPlain) ? '"' + text + '"' : dump(text);
}

std::string toJson(const RunView& view) { return dump(written(view)); }

std::string stepToJson(const StepView& view) { return dump(written(view)); }

std::string toJson(const ListingView& view) { return dump(written(view)); }

std::string toJson(const VerifyView& view)
{
    ordered_json consistentTo = ordered_json::array();
    for (const ConsistentToView& epoch : view.consistentTo)
        consistentTo.push_back({ { "epoch", epoch.epoch }, { "step", orNull(epoch.step) } });
    ordered_json steps = ordered_json::array();
    for (const StepVerdictView& step : view.steps)
        steps.push_back({ { "epoch", step.epoch },
                          { "step", step.step },
                          { "result", step.result },
                          { "health", step.health.empty() ? ordered_json(nullptr) : ordered_json(step.health) },
                          { "digests_checked", step.digestsChecked },
                          { "coverage", step.coverage ? json(*step.coverage) : ordered_json(nullptr) },
                          { "root", step.root.empty() ? ordered_json(nullptr) : ordered_json(step.root) },
                          { "anchor_differs_elems", orNull(step.anchorDifference) },
                          { "zero_sign_elems", step.zeroSigns },
                          { "missed_elems", step.missed },
                          { "drift_elems_estimate", orNull(step.driftEstimate) },
                          { "problems", written(step.problems) } });
    const std::string baseAlone = baseAloneText(view);
    return dump({ { "source", view.source },
                  { "level", view.level },
                  { "result", view.result },
                  { "consistent_to", std::move(consistentTo) },
                  { "on_base_alone", baseAlone.empty() ? ordered_json(nullptr) : ordered_json(baseAlone) },
                  { "store_digests", view.storeDigests ? json(*view.storeDigests) : ordered_json(nullptr) },
                  { "steps", std::move(steps) },
                  { "problems", written(view.problems) },
                  { "seconds", view.seconds } });
}

std::string toJson(const MaterializeView& view)
{
    return dump({ { "step", view.step },
                  { "chosen", view.chosen.empty() ? ordered_json(nullptr) : ordered_json(view.chosen) },
                  { "path", view.path },
                  { "bytes", view.bytes },
                  { "root", view.root.empty() ? ordered_json(nullptr) : ordered_json(view.root) },
                  { "tensors", view.tensors },
                  { "resumed_bytes", view.resumedBytes },
                  { "digests_checked", view.digestsChecked },
                  { "coverage", json(view.coverage) },
                  { "proven", view.proven },
                  { "loss_proven", view.lossProven },
                  { "lossy", view.lossy },
                  { "state", view.state.empty() ? ordered_json(nullptr) : ordered_json(view.state) },
                  { "states_differ_elems", view.statesDiffer },
                  { "committed", view.committed },
                  { "sidecars", view.sidecars },
                  { "left_out", view.leftOut },
                  { "trainer_files", view.trainerFiles },
                  { "missing", view.missing },
                  { "rewritten", view.reads.rewritten },
                  { "notices", written(view.reads.notices) },
                  { "seconds", view.seconds } });
}

std::string toJson(const PublishView& view)
{
    return dump({ { "source", view.source },
                  { "layout", view.layout },
                  { "steps", written(view.steps) },
                  { "steps_in_all", view.stepsInAll },
                  { "nothing_changed", view.nothingChanged },
                  { "notices", view.notices },
                  { "rewritten", view.reads.rewritten },
                  { "seconds", view.seconds } });
}

std::string toJson(const DoctorView& view)
{
    ordered_json checks = ordered_json::array();
    for (const CheckView& check : view.checks)
        checks.push_back({ { "name", check.name },
                           { "ok", check.ok },
                           { "essential", check.essential },
                           { "detail", check.detail } });
    return dump({ { "ok", view.ok }, { "checks", std::move(checks) } });
}

std::string errorToJson(const ProblemView& problem) { return dump({ { "error", written(problem) } }); }

} // namespace deltascope::app
