#include "deltascope/app/view/problem.h"

#include <algorithm>

namespace deltascope::app {

ProblemView problemView(const Error& error)
{
    return ProblemView { std::string(word(error.code)), error.step, error.where, error.text,
                         std::string(error.remedyText()) };
}

bool isNotice(const ProblemView& problem) noexcept
{
    const std::optional<Code> code = parseCode(problem.code);
    return code && isNotice(*code);
}

const ProblemView* gravest(const std::vector<ProblemView>& problems) noexcept
{
    const auto serious = std::find_if_not(problems.begin(), problems.end(),
                                          [](const ProblemView& problem) { return isNotice(problem); });
    if (serious != problems.end())
        return &*serious;
    return problems.empty() ? nullptr : &problems.front();
}

} // namespace deltascope::app
