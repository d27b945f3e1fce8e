#pragma once

#include "deltascope/engine/operations.h"

#include "state_fixture.h"

#include <string>
#include <vector>

// Two states and their difference, for tests of diffStates().

namespace deltascope::diff_test {

using namespace layout_test;

using EngineRun = deltascope::Run;

template <class Word> std::string packed(const std::vector<Word>& items)
{
    return std::string(asText(std::as_bytes(std::span(items))));
}

inline DiffReport diffOf(const std::vector<FileTensor>& a, const std::vector<FileTensor>& b)
{
    TaskContext task;
    const auto report = diffStates(bench(), stateOf(a), stateOf(b), {}, task);
    EXPECT_TRUE(report) << report.error().text;
    return report ? *report : DiffReport();
}

/// The difference between two versions of one tensor.
template <class Word> TensorDiff diffOfValues(Dtype dtype, const std::vector<Word>& a, const std::vector<Word>& b)
{
    const TensorInfo info = tensor("w", { a.size() * sizeof(Word) * 8 / bitsOf(dtype) }, dtype);
    const DiffReport report = diffOf({ { info, packed(a) } }, { { info, packed(b) } });
    return report.tensors.empty() ? TensorDiff() : report.tensors.front();
}

} // namespace deltascope::diff_test
