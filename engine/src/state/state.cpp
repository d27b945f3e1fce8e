#include "deltascope/engine/state.h"

#include <algorithm>

namespace deltascope {

SliceBytes bytesOf(const TensorSlice& slice, const TensorInfo& tensor) noexcept
{
    const std::uint64_t bits = bitsOf(tensor.dtype);
    const bool toItsEnd = slice.end >= tensor.elements();
    return { slice.begin * bits / 8, toItsEnd ? tensor.bytes() : slice.end * bits / 8, slice.begin == 0 && toItsEnd };
}

std::optional<std::size_t> State::indexOf(std::string_view name) const noexcept
{
    const TensorRange all = tensors();
    const auto at =
        std::lower_bound(all.begin(), all.end(), name,
                         [](const TensorInfo& tensor, std::string_view wanted) { return tensor.name < wanted; });
    return at != all.end() && at->name == name ? std::optional(static_cast<std::size_t>(at - all.begin()))
                                               : std::nullopt;
}

const TensorInfo* State::find(std::string_view name) const noexcept
{
    const std::optional<std::size_t> at = indexOf(name);
    return at ? &tensors()[*at] : nullptr;
}

std::uint64_t State::stateBytes() const noexcept
{
    std::uint64_t bytes = 0;
    for (const TensorInfo& tensor : tensors())
        bytes += tensor.bytes();
    return bytes;
}

std::vector<TensorInfo> State::copyOfTensors() const { return { tensors().begin(), tensors().end() }; }

std::optional<std::string_view> State::fileOf(std::size_t) const { return std::nullopt; }
Result<void> State::checkWhole(TaskContext&) const { return {}; }
Result<std::optional<AdapterConfig>> State::adapterConfig(TaskContext&) const { return std::nullopt; }
Result<void> State::expectRecorded(const std::string&, const WalkMeans&, TaskContext&) const { return {}; }
Result<void> State::expectSoundReads(TaskContext&) const { return {}; }
Result<void> State::expectUnchanged(TaskContext& task) const { return expectSoundReads(task); }
Error State::reasonOf(Error error, TaskContext&) const { return error; }

std::vector<TensorSlice> allTensors(const State& state)
{
    std::vector<TensorSlice> slices(state.tensors().size());
    for (std::size_t i = 0; i < slices.size(); ++i)
        slices[i].tensor = i;
    return slices;
}

std::vector<TensorSlice> largestFirst(const State& state)
{
    const TensorRange tensors = state.tensors();
    std::vector<TensorSlice> slices = allTensors(state);
    std::stable_sort(slices.begin(), slices.end(), [&](const TensorSlice& a, const TensorSlice& b) {
        return tensors[a.tensor].bytes() > tensors[b.tensor].bytes();
    });
    return slices;
}

} // namespace deltascope
