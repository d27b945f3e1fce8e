#include "from_device/proven_state.h"

#include "deltascope/engine/walk.h"
#include "format/common/quote_name.h"
#include "from_device/found_changes.h"

#include <fmt/format.h>

namespace deltascope {

Result<void> ProvenState::expectRecorded(const std::string& root, const WalkMeans& means, TaskContext& task) const
{
    const std::string proven = toHex(checkpointRoot(m_nodes, false).fast);
    if (root == proven) {
        m_isProven = true;
        return {};
    }
    std::string what = fmt::format("the state has root {}, and on the device {}", root, proven);
    DS_TRY(const std::unique_ptr<StateWalk> found, m_state.walk(allTensors(m_state), { means }));
    std::size_t different = 0;
    DS_CHECK(walkTensors(*found, InOrder, task, [&](std::size_t tensor, SliceReader& reader) -> Result<void> {
        LeafHasher leaves(LeafHasher::Strength::Fast);
        DS_CHECK(forEachBlock(reader, task, [&](ByteSpan block) { leaves.update(block); }));
        leaves.finish();
        const TensorInfo& info = found->tensor(tensor);
        const Digest128 here = tensorNode(info, leaves.fast(), {}).fast;
        if (here != m_nodes[tensor].fast && ++different == 1)
            what = fmt::format("tensor {} has digest {}, and on the device {}", quoteName(info.name), toHex(here),
                               toHex(m_nodes[tensor].fast));
        return {};
    }));
    if (different > 1)
        what += fmt::format("; {} tensors differ", different);
    return fail(notWhatTheDeviceHas(what, place().where));
}

} // namespace deltascope
