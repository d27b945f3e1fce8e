#include "lineage/health.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <vector>

namespace deltascope {

namespace {

/// What is wrong with one tensor, without its version.
std::string sentenceOf(const SuspectTensor& suspect)
{
    switch (suspect.suspicion) {
    case Suspicion::NotFinite:
        return fmt::format("{} of {} {} NaN or infinite",
                           suspect.figure == 1 ? "1 element" : fmt::format("{} elements", suspect.figure), suspect.name,
                           suspect.figure == 1 ? "is" : "are");
    case Suspicion::Zero:
        return fmt::format("{} is all zeros, and was not before", suspect.name);
    case Suspicion::Constant:
        return fmt::format("{} has one value throughout, and had not before", suspect.name);
    case Suspicion::SignFlips:
        return fmt::format("{} elements of {} change their sign; of as many changed elements the last deltas explain "
                           "{:.0f}",
                           suspect.figure, suspect.name, suspect.usual);
    case Suspicion::Move:
        return fmt::format("{} moves by {:.3g} of its norm; the last deltas explain {:.3g}", suspect.name,
                           suspect.figure, suspect.usual);
    case Suspicion::UlpDistance:
        return fmt::format("{} elements of {} move more than eight times as far as any did in the last deltas",
                           suspect.figure, suspect.name);
    case Suspicion::NotChanged:
        return fmt::format("{} does not change while other tensors do; each of the last deltas changed at least {} of "
                           "its elements",
                           suspect.name, suspect.usual);
    case Suspicion::ZeroLayer:
        return fmt::format("{} is all zeros, as is its whole layer", suspect.name);
    case Suspicion::Wrap:
        break;
    }
    return fmt::format("{} has {:.0f} elements and positions of this layout count {:.0f}: a change behind them names "
                       "another element",
                       suspect.name, suspect.figure, suspect.usual);
}

/// What its full form has of suspect values, where that could be compared; empty else.
const std::vector<SuspectTensor>& suspectsOfFullForm(const Version& version)
{
    static const std::vector<SuspectTensor> none;
    const std::optional<std::size_t> form = version.fullForm();
    const FormFacts* facts = form ? version.factsOf(*form) : nullptr;
    return facts ? facts->suspects : none;
}

Error ownProblem(const Version& version)
{
    const VersionFacts& facts = *version.facts;
    const std::vector<SuspectTensor>& tensors =
        facts.suspectTensors.empty() ? suspectsOfFullForm(version) : facts.suspectTensors;
    return Error { Code::SuspectValues,
                   fmt::format("values of step {} are suspect: {}", version.step(), textOf(tensors)),
                   version.objects.name,
                   version.step(),
                   {} };
}

/// That the first state of a run holds infinities which are no alarm.
void noteMasks(Run& run)
{
    constexpr std::size_t MostNamed = 3;
    const auto first = std::find_if(run.versions.begin(), run.versions.end(), [](const Version& version) {
        return version.facts && !version.facts->infiniteTensors.empty();
    });
    if (first == run.versions.end())
        return;
    const std::vector<std::string>& names = first->facts->infiniteTensors;
    const std::vector<std::string> named(
        names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(MostNamed, names.size())));
    first->problems.push_back(
        Error { Code::Infinite,
                fmt::format("{}{} {} infinities from this step on, as masks and the ranges of observers do: no alarm",
                            fmt::join(named, ", "), names.size() > MostNamed ? " and others" : "",
                            names.size() == 1 ? "holds" : "hold"),
                first->objects.name,
                first->step(),
                {} });
}

}

std::string textOf(const std::vector<SuspectTensor>& tensors)
{
    constexpr std::size_t MostNamed = 3;
    constexpr std::size_t MostKept = 10; ///< VersionFacts::suspectTensors
    std::string text;
    for (std::size_t i = 0; i < std::min(MostNamed, tensors.size()); ++i)
        text += (i > 0 ? "; " : "") + sentenceOf(tensors[i]);
    if (tensors.size() <= MostNamed)
        return text;
    const std::size_t others = tensors.size() - MostNamed;
    return fmt::format("{}; so are the values of {}{} other {}", text, tensors.size() < MostKept ? "" : "at least ",
                       others, others == 1 ? "tensor" : "tensors");
}

std::string_view word(Suspicion suspicion) noexcept
{
    switch (suspicion) {
    case Suspicion::NotFinite:
        return "not_finite";
    case Suspicion::Zero:
        return "zero";
    case Suspicion::Constant:
        return "constant";
    case Suspicion::SignFlips:
        return "sign_flips";
    case Suspicion::Move:
        return "move";
    case Suspicion::UlpDistance:
        return "ulp_distance";
    case Suspicion::NotChanged:
        return "not_changed";
    case Suspicion::ZeroLayer:
        return "zero_layer";
    case Suspicion::Wrap:
        break;
    }
    return "wrap";
}

void assessHealth(Run& run)
{
    // Where what comes behind a version inherits from; a full form may be free of what its version has.
    std::vector<std::optional<std::size_t>> origin(run.versions.size());
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        Version& version = run.versions[i];
        version.suspect = false;
        if (version.obstacle || version.beingWritten)
            continue;
        version.suspect = std::any_of(version.problems.begin(), version.problems.end(), [](const Error& problem) {
            return problem.code == Code::SuspectValues; // its headers say so
        });
        if (version.suspect)
            origin[i] = i;
        const VersionFacts* facts = version.facts ? &*version.facts : nullptr;
        const std::optional<std::size_t> restored = restoredVersion(run, i);
        const std::optional<std::size_t> from =
            restored || version.kind == VersionKind::Anchor ? restored : version.base;
        if (facts && !(facts->suspectTensors.empty() && suspectsOfFullForm(version).empty())) {
            version.suspect = true;
            version.problems.push_back(ownProblem(version));
            origin[i] = i;
        } else if (from && origin[*from]) {
            version.suspect = true;
            origin[i] = origin[*from];
            version.problems.push_back(
                Error { Code::SuspectValues,
                        fmt::format("step {} {} step {}, whose values are suspect, and no complete anchor "
                                    "between them is free of that",
                                    version.step(), restored ? "restores what builds on" : "builds on",
                                    run.versions[*origin[i]].step()),
                        version.objects.name,
                        version.step(),
                        {} });
        }
        if (origin[i] && version.fullFormDiffers() && suspectsOfFullForm(version).empty())
            origin[i].reset();
    }
    noteMasks(run);
}

} // namespace deltascope
