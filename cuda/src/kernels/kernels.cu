#include "kernels/compare.h"
#include "kernels/hash.h"
#include "kernels/list.h"
#include "kernels/moments.h"
#include "kernels/replay.h"

// The tile functions as kernels of a device. Launched by name (kernels/list.h); each takes its arguments by value.

using namespace deltascope;
using namespace deltascope::cuda;

namespace {

/// Calls `work` for one tile after another: warps share them out.
template <class Work> __device__ void eachTile(std::uint64_t tiles, Work work)
{
    const std::uint64_t warps = std::uint64_t { gridDim.x } * (blockDim.x / Lanes);
    std::uint64_t tile = std::uint64_t { blockIdx.x } * (blockDim.x / Lanes) + threadIdx.x / Lanes;
    for (; tile < tiles; tile += warps)
        work(DeviceWarp {}, tile);
}

} // namespace

#define KERNEL(bytes, Word)                                                                                            \
    extern "C" __global__ void __launch_bounds__(256) sum_##bytes(const __grid_constant__ SumArguments arguments)      \
    {                                                                                                                  \
        eachTile(arguments.blocks, [&](const DeviceWarp& warp, std::uint64_t block) {                                  \
            sumBlock<DeviceWarp, Word>(warp, arguments, block);                                                        \
        });                                                                                                            \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(extractWarps<Word>() * Lanes)                                         \
        extract_##bytes(const __grid_constant__ ExtractArguments arguments)                                            \
    {                                                                                                                  \
        __shared__ ExtractShared shared;                                                                               \
        for (std::uint64_t block = blockIdx.x; block < arguments.blocks; block += gridDim.x) {                         \
            extractBlock<DeviceBlock, Word>(DeviceBlock {}, shared, arguments, block);                                 \
            __syncthreads();                                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(256)                                                                  \
        replay_##bytes(const __grid_constant__ ReplayArguments arguments)                                              \
    {                                                                                                                  \
        for (std::uint64_t job = blockIdx.x; job < arguments.jobCount; job += gridDim.x)                               \
            replayBlock<DeviceBlock, Word>(DeviceBlock {}, arguments, job);                                            \
    }
DELTASCOPE_KERNELS_OF_WORDS(KERNEL)
#undef KERNEL

#define KERNEL(type)                                                                                                   \
    extern "C" __global__ void __launch_bounds__(256)                                                                  \
        moments_##type(const __grid_constant__ MomentArguments arguments)                                              \
    {                                                                                                                  \
        eachTile(arguments.blocks, [&](const DeviceWarp& warp, std::uint64_t block) {                                  \
            measureBlock(warp, arguments, block, NumberFormatOf<Dtype::type> {});                                      \
        });                                                                                                            \
    }
DELTASCOPE_KERNELS_OF_NUMBERS(KERNEL)
#undef KERNEL

extern "C" __global__ void __launch_bounds__(256) hash_leaves(const __grid_constant__ HashArguments arguments)
{
    eachTile((arguments.leafCount + LeavesPerWarp - 1) / LeavesPerWarp,
             [&](const DeviceWarp& warp, std::uint64_t tile) { hashLeaves(warp, arguments, tile * LeavesPerWarp); });
}
