#include "make_views.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace deltascope::app {

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
    add(coverage.base, "only as in the base you gave, whose bytes nothing vouches for");
    add(coverage.firstSight, "as first read");
    add(coverage.none, "compared with nothing");
    return fmt::format("{}", fmt::join(parts, ", "));
}

} // namespace deltascope::app
