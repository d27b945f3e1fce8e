#include "deltascope/app/view/problem.h"

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

} // namespace deltascope::app
