#include "make_views.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace deltascope::app {

namespace {

constexpr std::string_view AsInBase = "as in the base you gave, whose bytes nothing vouches for";

}

CoverageView makeCoverageView(const Coverage& coverage)
{
    CoverageView view;
    view.tensors = coverage.tensors();
    view.digest = coverage.of(Evidence::Digest);
    view.root = coverage.of(Evidence::Root);
    view.anchor = coverage.of(Evidence::Anchor);
    view.base = coverage.of(Evidence::Base);
    view.weak = coverage.of(Evidence::Weak);
    view.firstSight = coverage.of(Evidence::FirstSight);
    view.none = coverage.of(Evidence::None);
    view.weakest = coverage.weakest;
    return view;
}

std::string coverageText(const CoverageView& coverage)
{
    std::vector<std::string> parts;
    const auto add = [&](std::uint32_t tensors, std::string_view how) {
        if (tensors == 0)
            return;
        if (parts.empty())
            parts.push_back(
                fmt::format("{} of {} tensor{} {}", tensors, coverage.tensors, coverage.tensors == 1 ? "" : "s", how));
        else
            parts.push_back(fmt::format("{} {}", tensors, how));
    };
    add(coverage.digest, "by digest");
    add(coverage.root, "by root");
    add(coverage.anchor, "by anchor");
    add(coverage.weak, "by weak digest (Adler-32)");
    add(coverage.base, fmt::format("only {}", AsInBase));
    add(coverage.firstSight, "as first read");
    add(coverage.none, "compared with nothing");
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string baseAloneText(const VerifyView& report)
{
    const auto onBase = std::find_if(report.steps.rbegin(), report.steps.rend(), [](const StepVerdictView& step) {
        return step.coverage && step.coverage->base > 0;
    });
    if (onBase == report.steps.rend())
        return {};
    const CoverageView& coverage = *onBase->coverage;
    return fmt::format("at step {}, {} of {} tensor{} {} only {}", onBase->step, coverage.base, coverage.tensors,
                       coverage.tensors == 1 ? "" : "s", coverage.base == 1 ? "is" : "are", AsInBase);
}

} // namespace deltascope::app
