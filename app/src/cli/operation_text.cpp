#include "text.h"

#include "deltascope/base/bytes.h"
#include "deltascope/base/code.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace deltascope::cli {

namespace {

std::string shapeText(const std::vector<std::uint64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

Paint paintOf(const std::string& verdict)
{
    if (verdict == "damaged")
        return Paint::Bad;
    if (verdict == "incomplete")
        return Paint::Warn;
    return verdict == "verified" || verdict == "consistent" ? Paint::Good : Paint::Plain;
}

/// What a result word means, said once under the table.
std::string meaning(const app::VerifyView& report)
{
    const std::string& verdict = report.result;
    if (verdict == "verified")
        return "as its publisher recorded, tensor by tensor or as a whole";
    if (verdict == "consistent")
        return "structure, no-op test and anchors or weak digests agree; no strong digest covers every tensor";
    if (verdict == "first_sight") {
        const bool anyVouched = std::any_of(report.steps.begin(), report.steps.end(), [](const auto& step) {
            return step.coverage && step.coverage->firstSight + step.coverage->none < step.coverage->tensors;
        });
        return anyVouched
            ? "readable; what nothing else vouches for is as we saw it first, which may be just now"
            : "readable and as we saw it first, which may be just now; no digest of the publisher was compared";
    }
    if (verdict == "unverified") {
        const auto doubted = std::count_if(report.steps.begin(), report.steps.end(), [&](const auto& step) {
            return step.result == "unverified"
                && !std::all_of(step.problems.begin(), step.problems.end(), app::isNotice);
        });
        if (doubted > 0)
            return fmt::format("what is listed above speaks against {} of its steps, although no damage is proven",
                               doubted);
        if (!std::all_of(report.problems.begin(), report.problems.end(), app::isNotice))
            return "what is listed above speaks against it, although no damage is proven";
        const bool anyVouched = std::any_of(report.steps.begin(), report.steps.end(), [](const auto& step) {
            return step.coverage && step.coverage->none < step.coverage->tensors;
        });
        return anyVouched ? "not all of it was compared with something that vouches for it"
                          : "nothing was compared with anything that vouches for it";
    }
    if (verdict == "incomplete") {
        const auto isIncomplete = [](const auto& step) { return step.result == "incomplete"; };
        const auto isUnsupported = [](const auto& step) {
            const app::ProblemView* const problem = app::gravest(step.problems);
            return problem && problem->code == word(Code::Unsupported);
        };
        const auto incomplete = std::count_if(report.steps.begin(), report.steps.end(), isIncomplete);
        if (incomplete == 0)
            return "a step that was published is not here; what is listed above says which";
        const auto unsupported = std::count_if(report.steps.begin(), report.steps.end(), isUnsupported);
        return unsupported < incomplete ? "something that it builds on is missing or not finished"
            : incomplete == std::ssize(report.steps)
            ? "its encoding cannot be read, so that nothing of it was checked"
            : "the encoding of some steps cannot be read, so that nothing of these was checked";
    }
    return "bytes are not what they should be";
}

using Verdicts = std::vector<app::StepVerdictView>::const_iterator;

/// "11 to 15 unverified, 16 consistent, 17 to 18 as first read"
std::string wordsOf(Verdicts begin, Verdicts end)
{
    std::vector<std::string> words;
    while (begin != end) {
        const std::string& result = begin->result;
        const auto next = std::find_if(begin, end, [&](const auto& step) { return step.result != result; });
        const std::int64_t last = std::prev(next)->step;
        words.push_back(fmt::format(
            "{} {}", begin->step == last ? fmt::to_string(last) : fmt::format("{} to {}", begin->step, last),
            result == "first_sight" ? "as first read" : result));
        begin = next;
    }
    return fmt::format("{}", fmt::join(words, ", "));
}

}

bool namesStep(const app::ProblemView& problem)
{
    return !problem.step || problem.text.find(fmt::format("tep {}", *problem.step)) != std::string::npos;
}

std::string problemsHeading(const std::vector<app::ProblemView>& problems)
{
    const app::ProblemView* const worst = app::gravest(problems);
    return worst && app::isNotice(*worst) ? "Notices" : "Problems";
}

std::string problemText(const app::ProblemView& problem, const Style& style)
{
    std::string text = "  " + paint(style, app::isNotice(problem) ? Paint::Dim : Paint::Warn, problem.code) + "  ";
    text += namesStep(problem) ? "" : fmt::format("step {}: ", *problem.step);
    text += safe(problem.text) + "\n";
    if (!problem.where.empty())
        text += paint(style, Paint::Dim, "      in " + safe(problem.where)) + "\n";
    if (!problem.remedy.empty())
        text += paint(style, Paint::Dim, "      " + safe(problem.remedy)) + "\n";
    return text;
}

/// "  way          delta on step 8, 1.2 MB; 3.4 MB in 2 deltas, first_sight, used  deltas/…".
std::string formText(const app::FormView& form, const Style& style)
{
    std::string text = fmt::format("  way          {}{}, {}", form.kind,
                                   form.baseStep ? fmt::format(" on step {}", *form.baseStep) : std::string(),
                                   bytesText(form.wireBytes));
    text += form.restore.reason.empty()
        ? fmt::format("; to rebuild {} in {}, vouched for by {}{}{}", bytesText(form.restore.bytes),
                      counted(form.restore.deltas, "delta"), form.evidence, form.isTrained ? ", trained state" : "",
                      form.isUsed ? ", used" : "")
        : "; " + paint(style, Paint::Bad, "cannot be used: " + safe(form.restore.reason));
    return text + "  " + safe(form.name) + "\n";
}

std::string stepText(const app::StepDetailView& detail, const Style& style)
{
    const app::StepView& step = detail.step;
    std::string text = paint(style, Paint::Bold, fmt::format("step {}", step.step))
        + fmt::format("  {}  {}  epoch {}\n", step.kind, step.state, step.epoch);
    if (!detail.chosen.empty())
        text += "  " + paint(style, Paint::Warn, safe(detail.chosen)) + "\n";
    if (!step.id.empty())
        text += fmt::format("  id           {}\n", safe(step.id));
    if (step.baseStep)
        text += fmt::format("  builds on    step {}\n", *step.baseStep);
    if (step.restores)
        text += fmt::format("  restores     step {}\n", *step.restores);
    if (!step.branchOf.empty())
        text += fmt::format("  branch of    {}\n", safe(step.branchOf));
    if (step.changedElements && step.totalElements)
        text += fmt::format("  changed      {} of {} elements\n", countText(*step.changedElements),
                            countText(*step.totalElements));
    if (step.kind == "anchor" && step.changedVsPrevious)
        text += fmt::format("  against the replay before it: {} {}\n", counted(*step.changedVsPrevious, "element"),
                            *step.changedVsPrevious == 1 ? "differs" : "differ");
    text += fmt::format("  published    {} ago, {}\n", ageText(step.publishedUs, nowUs()), bytesText(step.wireBytes));
    if (step.pauseMs)
        text +=
            fmt::format("  paused       {}{}\n", pauseText(*step.pauseMs), step.pauseIsLogged ? ", say the logs" : "");
    if (step.restorable)
        text += fmt::format("  to rebuild   {} in {}{}\n", bytesText(step.restore.bytes),
                            counted(step.restore.deltas, "delta"), step.proven ? "" : ", unproven");
    else
        text += "  " + paint(style, Paint::Bad, "cannot be rebuilt: " + safe(step.restore.reason)) + "\n";
    if (step.forms.size() > 1) {
        for (const app::FormView& form : step.forms)
            text += formText(form, style);
    }
    for (const app::ObjectView& object : step.objects)
        text += fmt::format("  object       {}  {}\n", safe(object.key), bytesText(object.sizeBytes));
    for (const app::ProblemView& problem : step.problems)
        text += problemText(problem, style);
    text +=
        paint(style, Paint::Dim, fmt::format("\n  {:>14}  {:>8}  {:<5} {}\n", "changed", "share", "dtype", "tensor"));
    constexpr std::size_t UsualRest = 56; ///< of a line, beside the name
    std::size_t room = text.size();
    for (const app::TensorCountView& tensor : detail.tensors)
        room += tensor.name.size() + UsualRest;
    text.reserve(room); // of a million lines, growing would hold the text twice
    for (const app::TensorCountView& tensor : detail.tensors) {
        const std::optional<std::uint64_t> moved = tensor.changedVsPrevious;
        const std::string changed = moved ? countText(*moved) : "–";
        const std::string share = moved && tensor.totalElements > 0
            ? percentText(static_cast<double>(*moved) / static_cast<double>(tensor.totalElements))
            : "";
        text += fmt::format("  {:>14}  {:>8}  {:<5} {} {}\n", changed, share, tensor.dtype, safe(tensor.name),
                            paint(style, Paint::Dim, shapeText(tensor.shape)));
    }
    return text;
}

std::string listingText(const app::ListingView& listing, const Style& style)
{
    std::string text;
    for (const app::ListingEntryView& entry : listing.objects) {
        const std::string version = entry.step ? fmt::format("{} {}", entry.kind, *entry.step) : "";
        const std::string lost = entry.neededBy.value_or(1) == 1 ? ""
            : *entry.neededBy == 0                               ? "no step needs it"
                                                                 : fmt::format("{} steps need it", *entry.neededBy);
        text += fmt::format("{:>10}  {:>8}  {}  {:<18}  {}\n", bytesText(entry.object.sizeBytes),
                            ageText(entry.object.modifiedUs, nowUs()),
                            paint(style, Paint::Dim, fmt::format("{:<18}", version)), lost, safe(entry.object.key));
    }
    return text;
}

/// Where trust begins and how far it reaches, for each epoch that is neither verified as a whole nor broken from its
/// start: "Epoch 0: consistent to step 10, 11 to 15 as first read."
std::string trustText(const app::VerifyView& report)
{
    std::string text;
    for (const app::ConsistentToView& epoch : report.consistentTo) {
        const auto ofEpoch = [&](const app::StepVerdictView& step) { return step.epoch == epoch.epoch; };
        const auto begin = std::find_if(report.steps.begin(), report.steps.end(), ofEpoch);
        const auto end = std::find_if_not(begin, report.steps.end(), ofEpoch);
        const auto behind = std::find_if(
            begin, end, [&](const app::StepVerdictView& step) { return !epoch.step || step.step > *epoch.step; });
        if (!epoch.step || behind == end)
            continue;
        const bool asRead = std::all_of(behind, end, [](const auto& step) { return step.result == "first_sight"; });
        text += fmt::format("\nEpoch {}: consistent to step {}, {}{}", epoch.epoch, *epoch.step, wordsOf(behind, end),
                            asRead ? ": no complete anchor follows to compare with" : "");
    }
    if (std::any_of(report.steps.begin(), report.steps.end(), [](const auto& s) { return s.coverage.has_value(); })
        && report.steps.front().result == "first_sight" && report.result != "first_sight")
        text += fmt::format("\nStep {} is where trust begins: nothing before it could be compared with it",
                            report.steps.front().step);
    return text.empty() ? text : text + "\n";
}

std::string acceptedText(const std::vector<std::string>& keys, const Style& style)
{
    constexpr std::size_t Shown = 5;
    std::string text;
    for (std::size_t i = 0; i < std::min(keys.size(), Shown); ++i)
        text += fmt::format("  rewritten since it was first seen, and accepted: {}\n", safe(keys[i]));
    if (keys.size() > Shown)
        text += fmt::format("  and {} more\n", counted(keys.size() - Shown, "object"));
    return paint(style, Paint::Warn, text);
}

std::string verifyText(const app::VerifyView& report, const Style& style)
{
    std::string text;
    for (const app::StepVerdictView& step : report.steps) {
        text +=
            fmt::format("{:>6}  {}", step.step, paint(style, paintOf(step.result), fmt::format("{:<12}", step.result)));
        if (step.coverage)
            text += "  " + coverageText(*step.coverage);
        if (!step.root.empty())
            text += "  root " + step.root.substr(0, 16) + "…";
        if (step.anchorDifference)
            text += "  differs from the replay in " + counted(*step.anchorDifference, "element");
        if (step.zeroSigns > 0)
            text += fmt::format(", {} in the sign of zero alone", countText(step.zeroSigns));
        if (step.driftEstimate && *step.driftEstimate > 0)
            text += paint(style, Paint::Warn, fmt::format(" (drift ~{})", countText(*step.driftEstimate)));
        if (step.missed > 0)
            text += fmt::format(", {} that the writer missed before", countText(step.missed));
        if (const app::ProblemView* const problem = app::gravest(step.problems))
            text += "  " + paint(style, app::isNotice(*problem) ? Paint::Dim : Paint::Warn, problem->code);
        text += "\n";
    }
    std::vector<app::ProblemView> problems = report.problems;
    std::vector<std::int64_t> steps; // that they are of; a problem itself may name the step that is its cause
    for (const app::ProblemView& problem : problems)
        steps.push_back(problem.step.value_or(0));
    for (const app::StepVerdictView& step : report.steps) {
        problems.insert(problems.end(), step.problems.begin(), step.problems.end());
        steps.resize(problems.size(), step.step);
    }
    if (!problems.empty())
        text += "\n" + paint(style, Paint::Bold, problemsHeading(problems)) + "\n";
    for (std::size_t i = 0; i < problems.size();) {
        text += problemText(problems[i], style);
        const std::size_t first = i++;
        while (i < problems.size() && problems[i].code == problems[first].code
               && problems[i].where == problems[first].where)
            ++i;
        if (const std::size_t more = i - first - 1; more > 0)
            text += paint(
                style, Paint::Dim,
                fmt::format("      and {} more of that kind for the same object, up to step {}\n", more, steps[i - 1]));
    }
    if (!report.rewritten.empty())
        text += "\n" + acceptedText(report.rewritten, style);
    text += trustText(report);
    if (report.storeDigests)
        text += "\n" + storeDigestsText(*report.storeDigests) + "\n";
    const std::string baseAlone = baseAloneText(report);
    text += fmt::format("\n{}: {}{} ({} {}, level {}, {})\n", paint(style, paintOf(report.result), report.result),
                        meaning(report), baseAlone.empty() ? "" : "; " + baseAlone, report.steps.size(),
                        report.steps.size() == 1 ? "step" : "steps", report.level, durationText(report.seconds));
    return text;
}

std::string readsText(const app::ReadsView& reads, const Style& style)
{
    std::string text;
    for (const std::string& key : reads.rewritten)
        text +=
            paint(style, Paint::Warn, fmt::format("  rewritten since it was first seen, and used: {}\n", safe(key)));
    for (const app::ProblemView& notice : reads.notices)
        text += problemText(notice, style);
    return text;
}

std::string digestText(const app::DigestView& digest, const Style& style)
{
    std::string text;
    for (const app::TensorDigestView& tensor : digest.tensors)
        text += fmt::format("{}  {} {} {}\n", toHex(tensor.xxh3), tensor.dtype, safe(tensor.name),
                            paint(style, Paint::Dim, shapeText(tensor.shape)));
    text += fmt::format("root         {}\nstrong root  {}\n", digest.root, digest.strongRoot);
    if (!digest.chosen.empty())
        text += paint(style, Paint::Warn, safe(digest.chosen) + "\n");
    text += readsText(digest.reads, style);
    return text;
}

std::string digestCheckText(const app::DigestCheckView& check, const std::string& path, const Style& style)
{
    std::string text;
    if (!check.chosen.empty())
        text += paint(style, Paint::Warn, safe(check.chosen) + "\n");
    if (!check.forms.empty())
        text += fmt::format("A is the state, B is {}\n", safe(path));
    for (const app::FormDifferenceView& form : check.forms)
        text += paint(style, Paint::Warn, safe(form.text)) + "\n";
    const std::string by = check.bySha256 == check.tensorsCompared ? "SHA-256"
        : check.bySha256 == 0                                      ? "XXH3-128"
                              : fmt::format("SHA-256, {} by XXH3-128 alone", check.tensorsCompared - check.bySha256);
    const std::string done =
        fmt::format("by {}, {} in {}", by, bytesText(check.bytesHashed), durationText(check.seconds));
    if (const std::string nothing = app::nothingComparedText(check); !nothing.empty())
        text += nothing + "\n";
    else if (check.different.empty())
        text += fmt::format("{} {} the digests of {} ({}){}\n", counted(check.tensorsCompared, "tensor"),
                            check.tensorsCompared == 1 ? "has" : "have", safe(path), done,
                            check.equal ? "" : "; the states are not equal");
    else
        text +=
            fmt::format("{} of {} {} from {} ({})\n", check.different.size(), counted(check.tensorsCompared, "tensor"),
                        check.different.size() == 1 ? "differs" : "differ", safe(path), done);
    for (const std::string& name : check.different)
        text += "  differs: " + safe(name) + "\n";
    for (const app::ReshapedTensorView& tensor : check.reshaped)
        text += fmt::format("  {} is {} {} and {} {} in the document\n", safe(tensor.name), tensor.dtypeA,
                            shapeText(tensor.shapeA), tensor.dtypeB, shapeText(tensor.shapeB));
    for (const std::string& name : check.onlyInState)
        text += "  not in the document: " + safe(name) + "\n";
    for (const std::string& name : check.onlyInDigests)
        text += "  only in the document: " + safe(name) + "\n";
    return text + readsText(check.reads, style);
}

namespace {

/// How much was compared where not all was; else empty.
std::string partText(const app::DiffView& diff)
{
    if (diff.tensorsLeftOut == 0)
        return {};
    const std::uint64_t apart = diff.reshaped.size() + diff.onlyInA.size() + diff.onlyInB.size();
    return fmt::format("{} of {} compared ({}){}; nothing is known of the other {}\n", countText(diff.tensorsTotal),
                       counted(diff.tensorsTotal + apart + diff.tensorsLeftOut, "tensor"),
                       safe(fmt::format("{}", fmt::join(diff.globs, " "))),
                       apart == 0
                           ? std::string()
                           : fmt::format(", {} of one side alone or of another dtype or shape", countText(apart)),
                       countText(diff.tensorsLeftOut));
}

/// "0 → 3,072": NaN and infinities of A and of B, as a column.
std::string notFiniteText(const app::TensorDiffView& tensor)
{
    return fmt::format("{:>15}  ",
                       tensor.signFlips || tensor.notFiniteA + tensor.notFiniteB > 0
                           ? fmt::format("{} → {}", countText(tensor.notFiniteA), countText(tensor.notFiniteB))
                           : "–");
}

/// A dash: there is nothing to measure, or it is not measured of this dtype.
std::string differenceRow(const app::TensorDiffView& tensor, bool withNotFinite)
{
    return fmt::format("{:>12} {:>12} {:>10} {:>8} {:>7}  {}{}\n", countText(tensor.different),
                       tensor.touched ? countText(*tensor.touched) : "–",
                       tensor.maxAbs ? fmt::format("{:.3g}", *tensor.maxAbs) : "–",
                       tensor.maxUlp ? std::to_string(*tensor.maxUlp) : "–",
                       tensor.signFlips ? std::to_string(*tensor.signFlips) : "–",
                       withNotFinite ? notFiniteText(tensor) : "", safe(tensor.name));
}

/// What was not compared element by element.
std::string listsText(const app::DiffView& diff)
{
    std::string text;
    if (const std::string notRounded = app::notRoundedText(diff); !notRounded.empty())
        text += "  " + notRounded + "\n";
    for (const app::ReshapedTensorView& tensor : diff.reshaped)
        text += fmt::format("  {} is {} {} in A and {} {} in B\n", safe(tensor.name), tensor.dtypeA,
                            shapeText(tensor.shapeA), tensor.dtypeB, shapeText(tensor.shapeB));
    if (!diff.settings.empty())
        text += "  " + safe(app::settingsText(diff)) + "\n";
    for (const std::string& name : diff.onlyInA)
        text += "  only in A: " + safe(name) + "\n";
    for (const std::string& name : diff.onlyInB)
        text += "  only in B: " + safe(name) + "\n";
    return text;
}

}

std::string diffText(const app::DiffView& diff, const Style& style)
{
    const std::string adapters = diff.adapters.empty() ? "" : paint(style, Paint::Warn, safe(diff.adapters)) + "\n";
    const std::string part = partText(diff);
    if (diff.equal && !part.empty())
        return adapters + part
            + fmt::format("These are bit-identical in A and B ({} compared in {}).\n", bytesText(diff.bytesCompared),
                          durationText(diff.seconds))
            + readsText(diff.reads, style);
    if (diff.equal)
        return adapters
            + fmt::format("{} bit-identical ({}{}, {} compared in {}).\n",
                          adapters.empty() ? "A and B are" : "The tensors of A and B are",
                          counted(diff.tensorsTotal, "tensor"), diff.elementsTotal == 0 ? " without elements" : "",
                          bytesText(diff.bytesCompared), durationText(diff.seconds))
            + readsText(diff.reads, style);
    std::string text = adapters + part;
    for (const app::FormDifferenceView& form : diff.forms)
        text += paint(style, Paint::Warn, safe(form.text)) + "\n";
    if (const std::string nothing = app::nothingComparedText(diff); !nothing.empty())
        return text + nothing + "\n" + listsText(diff) + readsText(diff.reads, style);
    text += fmt::format("{} of {} {}, {} of {}", diff.tensorsDifferent, counted(diff.tensorsTotal, "tensor"),
                        diff.tensorsDifferent == 1 || diff.tensorsTotal == 1 ? "differs" : "differ",
                        countText(diff.elementsDifferent), counted(diff.elementsTotal, "element"));
    if (diff.elementsTouched)
        text += fmt::format(" ({} touched on the way)", countText(*diff.elementsTouched));
    if (diff.relativeNorm)
        text += fmt::format(", relative L2 {:.3g}", *diff.relativeNorm);
    const std::string notFinite = app::notFiniteText(diff);
    if (!notFinite.empty())
        text += "\n" + paint(style, Paint::Warn, notFinite);
    text += "\n";
    if (!diff.tensors.empty())
        text += paint(style, Paint::Dim,
                      fmt::format("\n{:>12} {:>12} {:>11} {:>8} {:>7}  {}{}\n", "different", "touched", "max |Δ|",
                                  "max ulp", "signs", notFinite.empty() ? "" : fmt::format("{:>15}  ", "NaN/inf A→B"),
                                  "tensor"));
    for (const app::TensorDiffView& tensor : diff.tensors)
        text += differenceRow(tensor, !notFinite.empty());
    return text + listsText(diff) + readsText(diff.reads, style);
}

std::string materializeText(const app::MaterializeView& result, const Style& style)
{
    if (!result.committed)
        return fmt::format("This part of step {} is written and read back ({}).\n", result.step,
                           durationText(result.seconds));
    std::string text = paint(style, Paint::Good, "✓") + fmt::format(" step {} → {}\n", result.step, safe(result.path));
    text += fmt::format("  {}, {}, read back and equal, {}\n", counted(result.tensors, "tensor"),
                        bytesText(result.bytes), durationText(result.seconds));
    text += "  root " + result.root + "\n";
    if (!result.chosen.empty())
        text += paint(style, Paint::Warn, "  " + safe(result.chosen) + "\n");
    if (const std::string evidence = coverageText(result.coverage); !evidence.empty())
        text += "  " + evidence + "\n";
    if (result.digestsChecked > 0)
        text += fmt::format("  {} matched on the way\n", counted(result.digestsChecked, "publisher digest"));
    if (result.resumedBytes > 0)
        text += fmt::format("  {} were there from an earlier attempt\n", bytesText(result.resumedBytes));
    if (result.lossProven)
        text += paint(style, Paint::Bad, "  a delta on the way is proven to be lost: no trainer ever had this state\n");
    else if (app::mayLackDelta(result))
        text += paint(style, Paint::Warn, "  unproven: a delta on the way may be lost (DS-UNPROVEN); log says where\n");
    if (result.lossy)
        text += paint(style, Paint::Warn, "  built by adding rounded differences: nothing proves these bits\n");
    if (!result.state.empty())
        text += paint(style, Paint::Warn,
                      fmt::format("  this is the {} state; the {} one differs in {} (--state)\n",
                                  result.state == "served" ? "served" : "trained",
                                  result.state == "served" ? "trained" : "served",
                                  counted(result.statesDiffer, "element")));
    text += readsText(result.reads, style);
    if (!result.trainerFiles.empty())
        text += fmt::format("  for training: {}\n", safe(fmt::format("{}", fmt::join(result.trainerFiles, ", "))));
    if (!result.missing.empty())
        text += paint(style, Paint::Warn,
                      fmt::format("  the source has no {} of this step: training begins with a new one\n",
                                  fmt::join(result.missing, ", no ")));
    if (!result.leftOut.empty())
        text += paint(style, Paint::Dim,
                      fmt::format("  not copied: {} (state of the trainer at the step that the rebuild began with)\n",
                                  safe(fmt::format("{}", fmt::join(result.leftOut, ", ")))));
    if (std::find(result.sidecars.begin(), result.sidecars.end(), "config.json") == result.sidecars.end())
        text += paint(style, Paint::Dim,
                      "  the source holds no config.json; --base DIR carries config and tokenizer files over\n");
    return text;
}

std::string publishedLine(const app::StepView& step, const Style& style)
{
    return fmt::format("{} step {}  {}  {} of {} elements  {}\n", paint(style, Paint::Good, "✓"), step.step, step.kind,
                       countText(step.changedElements.value_or(0)), countText(step.totalElements.value_or(0)),
                       bytesText(step.wireBytes));
}

std::string publishText(const app::PublishView& result, const Style& style)
{
    std::string text;
    for (const app::StepView& step : result.steps)
        text += publishedLine(step, style);
    for (const std::string& key : result.reads.rewritten)
        text +=
            paint(style, Paint::Warn, fmt::format("  rewritten since it was first seen, and used: {}\n", safe(key)));
    for (const std::string& notice : result.notices)
        text += paint(style, Paint::Dim, "  " + safe(notice)) + "\n";
    return text;
}

std::string doctorText(const app::DoctorView& report, const Style& style)
{
    std::string text;
    for (const app::CheckView& check : report.checks) {
        const std::string mark = check.ok
            ? paint(style, Paint::Good, "✓")
            : paint(style, check.essential ? Paint::Bad : Paint::Warn, check.essential ? "✕" : "!");
        text += fmt::format("{} {:<16} {}\n", mark, check.name, safe(check.detail));
    }
    return text;
}

} // namespace deltascope::cli
