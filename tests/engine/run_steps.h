#pragma once

#include "deltascope/engine/operations.h"

#include "layout_fixture.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <string>
#include <vector>

// The versions of a run by the numbers of their steps.

namespace deltascope::layout_test {

using Steps = std::vector<std::int64_t>;

inline const Version& step(const Run& run, std::int64_t number, std::optional<int> epoch = {})
{
    static const Version None;
    const Version* version = run.find(number, epoch);
    EXPECT_NE(version, nullptr) << "step " << number;
    return version ? *version : None;
}

inline Steps obstructed(const Run& run)
{
    Steps steps;
    for (const Version& version : run.versions) {
        if (version.obstacle)
            steps.push_back(version.step());
    }
    return steps;
}

inline Steps withFacts(const Run& run)
{
    Steps steps;
    for (const Version& version : run.versions) {
        if (version.facts)
            steps.push_back(version.step());
    }
    return steps;
}

/// Steps whose values a check of values suspects; it expects that their notes say so, too.
inline Steps suspectSteps(const Run& run)
{
    Steps steps;
    for (const Version& version : run.versions) {
        EXPECT_EQ(version.suspect, countNotes(version.problems, Code::SuspectValues) > 0);
        if (version.suspect)
            steps.push_back(version.step());
    }
    return steps;
}

/// What each step is called by a verification; of two epochs, the newer one tells.
using Words = std::map<std::int64_t, std::string>;

inline Words wordsOf(const Run& run, const VerifyReport& report)
{
    Words words;
    for (const StepVerdict& step : report.steps)
        words[run.versions[step.version].step()] = word(step.verdict);
    return words;
}

} // namespace deltascope::layout_test
