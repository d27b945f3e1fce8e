#include "deltascope/app/view/problem.h"

namespace deltascope::app {

ProblemView problemView(const Error& error)
{
    return ProblemView { std::string(word(error.code)), error.step, error.where, error.text,
                         std::string(error.remedyText()) };
}

} // namespace deltascope::app
