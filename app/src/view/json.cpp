#include "deltascope/app/view/json.h"

#include "json_parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace deltascope::app {

namespace {

ordered_json json(const ObjectView& object)
{
    return { { "key", object.key }, { "size", object.sizeBytes }, { "modified_at", object.modifiedUs } };
}

ordered_json json(const FormView& form)
{
    return { { "name", form.name },
             { "kind", form.kind },
             { "base_step", orNull(form.baseStep) },
             { "wire_bytes", form.wireBytes },
             { "restore", json(form.restore) },
             { "evidence", form.evidence },
             { "used", form.isUsed },
             { "state", form.isTrained ? "trained" : "served" },
             { "copy", form.isCopy } };
}

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

ordered_json json(const ProblemView& problem)
{
    return { { "code", problem.code },
             { "step", orNull(problem.step) },
             { "where", problem.where },
             { "text", problem.text },
             { "remedy", problem.remedy } };
}

ordered_json json(const std::vector<ProblemView>& problems)
{
    ordered_json list = ordered_json::array();
    for (const ProblemView& problem : problems)
        list.push_back(json(problem));
    return list;
}

ordered_json json(const RestoreView& restore)
{
    return { { "deltas", restore.deltas },
             { "bytes", restore.bytes },
             { "blocked_by", orNull(restore.blockedBy) },
             { "reason", restore.reason.empty() ? ordered_json(nullptr) : ordered_json(restore.reason) } };
}

ordered_json json(const StepView& step)
{
    ordered_json out;
    out["epoch"] = step.epoch;
    out["step"] = step.step;
    out["kind"] = step.kind;
    out["state"] = step.state;
    if (step.state == "gap") {
        out["last_step"] = step.lastMissing;
        return out;
    }
    out["name"] = step.name;
    out["base_step"] = orNull(step.baseStep);
    out["changed_elems"] = orNull(step.changedElements);
    out["changed_vs_prev_elems"] = orNull(step.changedVsPrevious);
    out["total_elems"] = orNull(step.totalElements);
    out["changed_frac"] = orNull(step.changedFraction);
    out["claimed_elems"] = orNull(step.claimedElements);
    out["wire_bytes"] = step.wireBytes;
    out["published_at"] = step.publishedUs;
    out["pause_ms"] = orNull(step.pauseMs);
    out["spans_from"] = step.pauseMs ? ordered_json(step.pauseIsLogged ? "logs" : "spans") : ordered_json(nullptr);
    out["restorable"] = step.restorable;
    out["proven"] = step.proven;
    out["restore"] = json(step.restore);
    ordered_json objects = ordered_json::array();
    for (const ObjectView& object : step.objects)
        objects.push_back(json(object));
    out["objects"] = std::move(objects);
    ordered_json forms = ordered_json::array();
    for (const FormView& form : step.forms)
        forms.push_back(json(form));
    out["forms"] = std::move(forms);
    out["problems"] = json(step.problems);
    if (!step.refs.empty())
        out["refs"] = step.refs;
    if (step.restores)
        out["restores"] = *step.restores;
    if (!step.branchOf.empty())
        out["branch_of"] = step.branchOf;
    return out;
}

ordered_json json(const DriftView& point)
{
    return { { "epoch", point.epoch },
             { "step", point.step },
             { "differs_elems", point.differs },
             { "zero_sign_elems", point.zeroSigns },
             { "estimate_elems", orNull(point.estimate) } };
}

ordered_json json(const NoteView& note)
{
    return {
        { "actor", note.actor }, { "step", orNull(note.step) }, { "t_us", orNull(note.tUs) }, { "text", note.text }
    };
}

ordered_json json(const ReplicaView& replica)
{
    return { { "id", replica.id },
             { "engine", replica.engine },
             { "state", replica.state },
             { "step", orNull(replica.step) },
             { "behind", orNull(replica.behind) },
             { "age_s", replica.ageSeconds },
             { "late", replica.late },
             { "lagging", replica.lagging },
             { "foreign", replica.foreign },
             { "doubt", replica.doubt.empty() ? ordered_json(nullptr) : ordered_json(replica.doubt) },
             { "detail", replica.detail } };
}

ordered_json json(const std::optional<StoreMeterView>& meter)
{
    if (!meter)
        return nullptr;
    return { { "source", meter->source },      { "requests", meter->requests },
             { "retries", meter->retries },    { "bytes_in", meter->bytesIn },
             { "bytes_out", meter->bytesOut }, { "bytes_from_cache", meter->bytesFromCache } };
}

ordered_json json(const RunView& view)
{
    ordered_json out;
    out["source"] = view.source;
    out["layout"] = view.layout;
    out["run"] = view.run;
    out["rev"] = view.revision;
    out["base"] = view.base.empty() ? ordered_json(nullptr) : ordered_json(view.base);
    out["base_bytes"] = orNull(view.baseBytes);
    out["latest"] = orNull(view.latest);
    out["wire_bytes"] = view.wireBytes;
    out["ignored_objects"] = view.ignoredObjects;
    out["store_meter"] = json(view.meter);
    out["listed_us"] = listedOrNull(view.listedUs);
    ordered_json epochs = ordered_json::array();
    for (const EpochView& epoch : view.epochs) {
        ordered_json steps = ordered_json::array();
        for (const StepView& step : epoch.steps)
            steps.push_back(json(step));
        epochs.push_back({ { "epoch", epoch.epoch }, { "steps", std::move(steps) } });
    }
    out["epochs"] = std::move(epochs);
    out["problems"] = json(view.problems);
    out["events"] = json(view.events);
    ordered_json drift = ordered_json::array();
    for (const DriftView& point : view.drift)
        drift.push_back(json(point));
    out["drift"] = std::move(drift);
    out["noop_rate"] = orNull(view.noopRate);
    ordered_json replicas = ordered_json::array();
    for (const ReplicaView& replica : view.replicas)
        replicas.push_back(json(replica));
    out["replicas"] = std::move(replicas);
    ordered_json notes = ordered_json::array();
    for (const NoteView& note : view.notes)
        notes.push_back(json(note));
    out["notes"] = std::move(notes);
    ordered_json refs = ordered_json::array();
    for (const RefView& ref : view.refs)
        refs.push_back(json(ref));
    out["refs"] = std::move(refs);
    return out;
}

std::string dumpText(const std::string& text)
{
    const auto isPlain = [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; };
    return std::all_of(text.begin(), text.end(), isPlain) ? '"' + text + '"' : dump(text);
}

std::string toJson(const RunView& view) { return dump(json(view)); }

std::string stepToJson(const StepView& view) { return dump(json(view)); }

std::string toJson(const ListingView& view)
{
    ordered_json objects = ordered_json::array();
    for (const ListingEntryView& entry : view.objects) {
        ordered_json row = json(entry.object);
        row["step"] = orNull(entry.step);
        row["kind"] = entry.kind.empty() ? ordered_json(nullptr) : ordered_json(entry.kind);
        row["needed_by"] = orNull(entry.neededBy);
        objects.push_back(std::move(row));
    }
    return dump({ { "source", view.source },
                  { "layout", view.layout.empty() ? ordered_json(nullptr) : ordered_json(view.layout) },
                  { "objects", std::move(objects) } });
}

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
                          { "problems", json(step.problems) } });
    const std::string baseAlone = baseAloneText(view);
    return dump({ { "source", view.source },
                  { "level", view.level },
                  { "result", view.result },
                  { "consistent_to", std::move(consistentTo) },
                  { "on_base_alone", baseAlone.empty() ? ordered_json(nullptr) : ordered_json(baseAlone) },
                  { "store_digests", view.storeDigests ? json(*view.storeDigests) : ordered_json(nullptr) },
                  { "steps", std::move(steps) },
                  { "problems", json(view.problems) },
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
                  { "notices", json(view.reads.notices) },
                  { "seconds", view.seconds } });
}

std::string toJson(const PublishView& view)
{
    ordered_json steps = ordered_json::array();
    for (const StepView& step : view.steps)
        steps.push_back(json(step));
    return dump({ { "source", view.source },
                  { "layout", view.layout },
                  { "steps", std::move(steps) },
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

std::string errorToJson(const ProblemView& problem) { return dump({ { "error", json(problem) } }); }

} // namespace deltascope::app
