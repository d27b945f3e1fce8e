#include "make_views.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope::app {

bool mayLackDelta(const MaterializeView& view)
{
    return std::any_of(view.reads.notices.begin(), view.reads.notices.end(),
                       [](const ProblemView& notice) { return notice.code == word(Code::Unproven); });
}

namespace {

TensorDiffView diffRow(TensorDiff diff)
{
    TensorDiffView row;
    row.elements = diff.tensor.elements();
    row.name = std::move(diff.tensor.name);
    row.dtype = word(diff.tensor.dtype);
    row.shape = std::move(diff.tensor.shape);
    row.different = diff.different;
    row.touched = diff.touched;
    row.notFiniteA = diff.notFinite.a;
    row.notFiniteB = diff.notFinite.b;
    if (isNumber(diff.tensor.dtype)) {
        row.signFlips = diff.signFlips;
        row.nanInvolved = diff.nanInvolved;
        if (diff.different == 0 || diff.different > diff.notFinite.different)
            row.maxAbs = diff.maxAbs;
    }
    if (isFloating(diff.tensor.dtype) && (diff.different == 0 || diff.different > diff.nanInvolved))
        row.maxUlp = diff.maxUlp;
    row.relativeNorm = diff.relativeNorm;
    return row;
}

}

ReadsView makeReadsView(const std::vector<const State*>& states, const std::vector<Error>& known)
{
    ReadsView view;
    for (const Error& error : known)
        view.notices.push_back(problemView(error));
    for (const State* state : states) {
        if (state)
            addReads(view, *state);
    }
    return view;
}

void addReads(ReadsView& view, const State& state)
{
    const auto add = [](auto& list, auto item) {
        if (std::find(list.begin(), list.end(), item) == list.end())
            list.push_back(std::move(item));
    };
    for (std::string& key : state.rewritten())
        add(view.rewritten, std::move(key));
    for (const Error& notice : state.readNotices())
        add(view.notices, problemView(notice));
}

DigestView makeDigestView(CheckpointDigest digest)
{
    DigestView view;
    view.root = toHex(digest.root.fast);
    view.strongRoot = toHex(digest.root.strong);
    view.tensors.reserve(digest.tensors.size());
    for (TensorDigest& tensor : digest.tensors)
        view.tensors.push_back(TensorDigestView { std::move(tensor.tensor.name), std::string(word(tensor.tensor.dtype)),
                                                  tensor.tensor.shape, tensor.xxh3, tensor.sha256 });
    return view;
}

namespace {

std::vector<FormDifferenceView> formViews(const std::vector<FormDifference>& forms)
{
    std::vector<FormDifferenceView> views;
    for (const FormDifference& form : forms)
        views.push_back({ std::string(word(form.kind)), form.a, form.b, form.tensors, form.text() });
    return views;
}

std::vector<ReshapedTensorView> reshapedViews(const std::vector<ReshapedTensor>& tensors)
{
    std::vector<ReshapedTensorView> views;
    for (const ReshapedTensor& tensor : tensors)
        views.push_back({ tensor.a.name, std::string(word(tensor.a.dtype)), std::string(word(tensor.b.dtype)),
                          tensor.a.shape, tensor.b.shape });
    return views;
}

}

DigestCheckView makeDigestCheckView(DigestCheck check)
{
    DigestCheckView view;
    view.equal = check.equal();
    view.tensorsCompared = check.tensorsCompared;
    view.bySha256 = check.bySha256;
    view.bytesHashed = check.bytesHashed;
    view.different = std::move(check.different);
    view.onlyInState = std::move(check.onlyInState);
    view.onlyInDigests = std::move(check.onlyInDigests);
    view.reshaped = reshapedViews(check.reshaped);
    view.forms = formViews(check.forms);
    return view;
}

DiffView makeDiffView(DiffReport report)
{
    DiffView view;
    view.equal = report.equal();
    view.tensorsLeftOut = report.tensorsLeftOut;
    view.tensorsTotal = report.tensorsCompared;
    view.tensorsDifferent = report.tensorsDifferent();
    view.elementsTotal = report.elementsCompared;
    view.elementsDifferent = report.elementsDifferent();
    view.notFiniteA = report.notFinite.a;
    view.notFiniteB = report.notFinite.b;
    view.relativeNorm = report.relativeNorm;
    view.bytesCompared = report.bytesCompared;
    view.onlyInA = std::move(report.onlyInA);
    view.onlyInB = std::move(report.onlyInB);
    for (const SettingDiff& setting : report.settings)
        view.settings.push_back({ setting.name, setting.a, setting.b });
    view.adapters = std::move(report.adapters);
    view.forms = formViews(report.forms);
    if (report.touchedKnown)
        view.elementsTouched = 0;
    view.tensors.reserve(report.tensors.size());
    for (TensorDiff& diff : report.tensors) {
        if (view.elementsTouched)
            *view.elementsTouched += diff.touched.value_or(0);
        view.tensors.push_back(diffRow(std::move(diff)));
    }
    view.reshaped = reshapedViews(report.reshaped);
    return view;
}

std::string settingsText(const DiffView& diff)
{
    std::string text;
    for (const SettingDiffView& setting : diff.settings)
        text +=
            fmt::format("{}{} is {} in A and {} in B", text.empty() ? "" : "; ", setting.name, setting.a, setting.b);
    return text;
}

MaterializeView makeMaterializeView(const Version& version, const MaterializeReport& report)
{
    MaterializeView view;
    view.step = version.step();
    view.path = report.path;
    view.bytes = report.bytes;
    view.root = report.root;
    view.tensors = report.tensors;
    view.resumedBytes = report.resumedBytes;
    view.digestsChecked = report.digestsChecked;
    view.coverage = makeCoverageView(report.coverage);
    view.proven = report.proven;
    view.lossProven = report.lossProven;
    view.lossy = report.lossy;
    if (!version.ownFormObstacle)
        view.statesDiffer = version.fullFormDiffers().value_or(0);
    if (view.statesDiffer > 0)
        view.state = report.fromFullForm ? "trained" : "served";
    view.committed = report.committed;
    view.sidecars = report.sidecars;
    view.leftOut = report.leftOut;
    view.trainerFiles = report.trainerFiles;
    view.missing = report.missing;
    view.reads.rewritten = report.rewritten;
    for (const Error& notice : report.notices)
        view.reads.notices.push_back(problemView(notice));
    return view;
}

} // namespace deltascope::app
