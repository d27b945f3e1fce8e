#pragma once

#include "deltascope/engine/file_state.h"
#include "deltascope/engine/operations.h"

#include "layout_fixture.h"
#include "support/any_task.h"
#include "support/times.h"

#include <memory>
#include <string>
#include <vector>

namespace deltascope::layout_test {

/// For operations on states, which use nothing of it but layouts and threads.
inline Workbench& bench()
{
    static Workbench bench = [] {
        Workbench made;
        made.layouts = builtinLayouts();
        made.nowUs = [] { return test::LongAfter; };
        return made;
    }();
    return bench;
}

/// One safetensors file as a state.
inline FileState stateOf(const std::vector<FileTensor>& tensors)
{
    const auto store = std::make_shared<MemoryStore>();
    EXPECT_TRUE(putText(*store, "model.safetensors", safetensorsFile(tensors)));
    auto state = FileState::open(store, "model.safetensors", test::anyTask());
    EXPECT_TRUE(state) << state.error().text;
    return std::move(*state);
}

inline FileState stateOf(const TensorInfo& info, const std::string& bytes)
{
    return stateOf(std::vector<FileTensor> { { info, bytes } });
}

} // namespace deltascope::layout_test
