#include "show_links.h"

#include "deltascope/engine/walk.h"

namespace deltascope {

Result<void> showLinks(const State& state, const TensorInfo& tensor, ReplayObserver& observer, const WalkMeans& means,
                       TaskContext& task)
{
    const auto watch = [&](std::size_t) { return &observer; };
    DS_TRY(const std::unique_ptr<StateWalk> walk, state.walk({ { *state.indexOf(tensor.name) } }, { means, watch }));
    const auto pass = [&](std::size_t, SliceReader& reader) { return forEachBlock(reader, task, [](ByteSpan) {}); };
    DS_CHECK(walkTensors(*walk, InOrder, task, pass));
    return {};
}

} // namespace deltascope
