#include "read_views.h"
#include "view/annotations_description.h"

#include <algorithm>

namespace deltascope::app {

namespace {

CoverageView readCoverage(const json& from)
{
    CoverageView coverage;
    coverage.tensors = read<std::uint32_t>(from, "tensors");
    coverage.digest = read<std::uint32_t>(from, "digest");
    coverage.root = read<std::uint32_t>(from, "root");
    coverage.anchor = read<std::uint32_t>(from, "anchor");
    coverage.base = read<std::uint32_t>(from, "base");
    coverage.weak = read<std::uint32_t>(from, "weak");
    coverage.firstSight = read<std::uint32_t>(from, "first_sight");
    coverage.none = read<std::uint32_t>(from, "none");
    coverage.weakest = readList<std::string>(from, "weakest");
    return coverage;
}

StepVerdictView readVerdict(const json& from)
{
    StepVerdictView step;
    step.epoch = read<int>(from, "epoch");
    step.step = read<std::int64_t>(from, "step");
    step.result = read<std::string>(from, "result");
    step.health = readText(from, "health");
    step.digestsChecked = read<std::uint32_t>(from, "digests_checked");
    if (const json& coverage = fieldOf(from, "coverage"); !coverage.is_null())
        step.coverage = readCoverage(coverage);
    step.root = readText(from, "root");
    step.anchorDifference = readOptional<std::uint64_t>(from, "anchor_differs_elems");
    step.zeroSigns = read<std::uint64_t>(from, "zero_sign_elems");
    step.missed = read<std::uint64_t>(from, "missed_elems");
    step.driftEstimate = readOptional<std::uint64_t>(from, "drift_elems_estimate");
    step.problems = readEach(from, "problems", readAs<ProblemView>);
    return step;
}

TensorDiffView readTensorDiff(const json& from)
{
    TensorDiffView tensor;
    tensor.name = read<std::string>(from, "name");
    tensor.dtype = read<std::string>(from, "dtype");
    tensor.shape = readList<std::uint64_t>(from, "shape");
    tensor.elements = read<std::uint64_t>(from, "elements");
    tensor.different = read<std::uint64_t>(from, "elements_different");
    tensor.touched = readOptional<std::uint64_t>(from, "elements_touched");
    tensor.signFlips = read<std::uint64_t>(from, "sign_flips");
    tensor.nanInvolved = read<std::uint64_t>(from, "nan_involved");
    tensor.maxAbs = readOptional<double>(from, "max_abs").value_or(0); // JSON knows no infinity
    tensor.maxUlp = read<std::uint64_t>(from, "max_ulp");
    tensor.relativeNorm = readOptional<double>(from, "relative_norm");
    return tensor;
}

SettingDiffView readSetting(const json& from)
{
    const auto textOf = [&](const char* side) { return from.contains(side) ? from.at(side).dump() : "null"; };
    return { read<std::string>(from, "name"), textOf("a"), textOf("b") };
}

ReshapedTensorView readReshaped(const json& from)
{
    ReshapedTensorView tensor;
    tensor.name = read<std::string>(from, "name");
    tensor.dtypeA = read<std::string>(from, "dtype_a");
    tensor.dtypeB = read<std::string>(from, "dtype_b");
    tensor.shapeA = readList<std::uint64_t>(from, "shape_a");
    tensor.shapeB = readList<std::uint64_t>(from, "shape_b");
    return tensor;
}

std::optional<JobResult> readResult(const std::string& kind, const json& from)
{
    if (from.is_null())
        return std::nullopt;
    if (kind == "verify")
        return std::make_shared<const VerifyView>(readVerify(from));
    if (kind == "diff")
        return std::make_shared<const DiffView>(readDiff(from));
    if (kind == "materialize")
        return std::make_shared<const MaterializeView>(readMaterialize(from));
    if (kind == "rollback" || kind == "undo")
        return std::make_shared<const RollBackView>(readAs<RollBackView>(from));
    if (kind == "branch")
        return std::make_shared<const BranchView>(readAs<BranchView>(from));
    if (kind == "ref" || kind == "unref" || kind == "pin" || kind == "unpin" || kind == "note")
        return std::make_shared<const AnnotatedView>(readAs<AnnotatedView>(from));
    return std::nullopt;
}

}

VerifyView readVerify(const json& from)
{
    VerifyView view;
    view.source = read<std::string>(from, "source");
    view.level = read<int>(from, "level");
    view.result = read<std::string>(from, "result");
    view.steps = readEach(from, "steps", readVerdict);
    view.consistentTo = readEach(from, "consistent_to", [](const json& epoch) {
        return ConsistentToView { read<int>(epoch, "epoch"), readOptional<std::int64_t>(epoch, "step") };
    });
    if (const auto digests = from.find("store_digests"); digests != from.end() && !digests->is_null())
        view.storeDigests =
            StoreDigestsView { read<std::uint64_t>(*digests, "equal"), read<std::uint64_t>(*digests, "not_compared"),
                               read<std::uint64_t>(*digests, "none") };
    view.problems = readEach(from, "problems", readAs<ProblemView>);
    view.seconds = read<double>(from, "seconds");
    return view;
}

namespace {

/// A server of an earlier version does not tell it.
ReadsView readReads(const json& from)
{
    ReadsView view;
    if (from.contains("rewritten"))
        view.rewritten = readList<std::string>(from, "rewritten");
    if (from.contains("notices"))
        view.notices = readEach(from, "notices", readAs<ProblemView>);
    return view;
}

}

DiffView readDiff(const json& from)
{
    DiffView view;
    view.equal = readOptional<bool>(from, "equal").value_or(true);
    if (from.contains("tensor_globs")) { // a server of an earlier version compares all
        view.globs = readList<std::string>(from, "tensor_globs");
        view.tensorsLeftOut = read<std::uint64_t>(from, "tensors_left_out");
    }
    view.tensorsTotal = read<std::uint64_t>(from, "tensors_total");
    view.tensorsDifferent = read<std::uint64_t>(from, "tensors_different");
    view.elementsTotal = read<std::uint64_t>(from, "elements_total");
    view.elementsDifferent = read<std::uint64_t>(from, "elements_different");
    view.elementsTouched = readOptional<std::uint64_t>(from, "elements_touched");
    view.relativeNorm = readOptional<double>(from, "relative_norm");
    view.bytesCompared = read<std::uint64_t>(from, "bytes_compared");
    view.onlyInA = readList<std::string>(from, "only_in_a");
    view.onlyInB = readList<std::string>(from, "only_in_b");
    if (from.contains("settings")) // a server of an earlier version compares tensors alone
        view.settings = readEach(from, "settings", readSetting);
    if (from.contains("form_differences")) // likewise
        view.forms = readEach(from, "form_differences", [](const json& form) {
            return FormDifferenceView { read<std::string>(form, "kind"), read<std::string>(form, "a"),
                                        read<std::string>(form, "b"), read<std::uint64_t>(form, "tensors"),
                                        read<std::string>(form, "text") };
        });
    view.tensors = readEach(from, "tensors", readTensorDiff);
    view.reshaped = readEach(from, "changed_dtype_or_shape", readReshaped);
    view.reads = readReads(from);
    view.seconds = read<double>(from, "seconds");
    return view;
}

MaterializeView readMaterialize(const json& from)
{
    MaterializeView view;
    view.step = read<std::int64_t>(from, "step");
    view.chosen = from.contains("chosen") ? readText(from, "chosen") : std::string(); // older servers do not tell
    view.path = read<std::string>(from, "path");
    view.bytes = read<std::uint64_t>(from, "bytes");
    view.root = readText(from, "root");
    view.tensors = read<std::uint64_t>(from, "tensors");
    view.resumedBytes = read<std::uint64_t>(from, "resumed_bytes");
    view.digestsChecked = read<std::uint32_t>(from, "digests_checked");
    view.coverage = readCoverage(fieldOf(from, "coverage"));
    view.proven = read<bool>(from, "proven");
    view.lossProven = read<bool>(from, "loss_proven");
    view.lossy = read<bool>(from, "lossy");
    view.state = readText(from, "state");
    view.statesDiffer = read<std::uint64_t>(from, "states_differ_elems");
    view.committed = read<bool>(from, "committed");
    view.sidecars = readList<std::string>(from, "sidecars");
    view.leftOut = readList<std::string>(from, "left_out");
    if (from.contains("trainer_files")) { // of this version
        view.trainerFiles = readList<std::string>(from, "trainer_files");
        view.missing = readList<std::string>(from, "missing");
    }
    view.reads = readReads(from);
    view.seconds = read<double>(from, "seconds");
    return view;
}

TaskView readTask(const json& from)
{
    TaskView task;
    task.id = read<std::string>(from, "id");
    task.plan.kind = read<std::string>(from, "kind");
    task.plan.title = read<std::string>(from, "title");
    task.plan.run = read<std::string>(from, "run");
    task.plan.cli = read<std::string>(from, "cli");
    task.plan.hash = read<std::string>(from, "plan_hash");
    if (from.contains("undo")) // earlier versions had no acts that can be taken back
        task.plan.undo = readText(from, "undo");
    task.by = read<std::string>(from, "by");
    task.startedUs = read<std::int64_t>(from, "started_us");
    task.state = read<std::string>(from, "state");
    task.phase = read<std::string>(from, "phase");
    task.doneBytes = read<std::uint64_t>(from, "done");
    task.totalBytes = read<std::uint64_t>(from, "total");
    task.bytesPerSecond = read<double>(from, "rate");
    task.secondsLeft = readOptional<double>(from, "eta_s");
    task.seconds = read<double>(from, "elapsed_s");
    task.resumable = read<bool>(from, "resumable");
    task.interrupted = read<bool>(from, "interrupted");
    if (const json& problem = fieldOf(from, "problem"); !problem.is_null())
        task.problem = readAs<ProblemView>(problem);
    // Servers and records of earlier versions have none.
    if (const auto notKept = from.find("not_kept"); notKept != from.end() && !notKept->is_null())
        task.notKept = readAs<ProblemView>(*notKept);
    task.result = readResult(task.plan.kind, fieldOf(from, "result"));
    return task;
}

} // namespace deltascope::app
