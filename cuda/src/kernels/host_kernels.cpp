#include "kernels/host_kernels.h"

#include "kernels/compare.h"
#include "kernels/hash.h"
#include "kernels/list.h"
#include "kernels/moments.h"
#include "kernels/replay.h"

#include <map>
#include <memory>

namespace deltascope::cuda {

namespace {

/// Calls `work` for one tile after the other, as the warps of a grid share them out.
template <class Work> void eachTile(std::uint64_t tiles, std::uint32_t blocks, std::uint32_t threads, Work work)
{
    const std::uint64_t warps = std::uint64_t { blocks } * (threads / Lanes);
    for (std::uint64_t warp = 0; warp < warps; ++warp) {
        for (std::uint64_t tile = warp; tile < tiles; tile += warps)
            work(HostWarp {}, tile);
    }
}

template <class Word> void sum(std::uint32_t blocks, std::uint32_t threads, const void* from)
{
    const auto& arguments = *static_cast<const SumArguments*>(from);
    eachTile(arguments.blocks, blocks, threads,
             [&](const HostWarp& warp, std::uint64_t block) { sumBlock<HostWarp, Word>(warp, arguments, block); });
}

template <class Word> void extract(std::uint32_t blocks, std::uint32_t threads, const void* from)
{
    const auto& arguments = *static_cast<const ExtractArguments*>(from);
    const auto shared = std::make_unique<ExtractShared>();
    // From back to front, for nothing may depend on the order.
    for (std::uint32_t first = blocks; first-- > 0;) {
        for (std::uint64_t block = first; block < arguments.blocks; block += blocks)
            extractBlock<HostBlock, Word>(HostBlock { threads / Lanes }, *shared, arguments, block);
    }
}

template <class Word> void replay(std::uint32_t blocks, std::uint32_t threads, const void* from)
{
    const auto& arguments = *static_cast<const ReplayArguments*>(from);
    for (std::uint32_t first = blocks; first-- > 0;) {
        for (std::uint64_t job = first; job < arguments.jobCount; job += blocks)
            replayBlock<HostBlock, Word>(HostBlock { threads / Lanes }, arguments, job);
    }
}

template <class Format> void moments(std::uint32_t blocks, std::uint32_t threads, const void* from)
{
    const auto& arguments = *static_cast<const MomentArguments*>(from);
    eachTile(arguments.blocks, blocks, threads,
             [&](const HostWarp& warp, std::uint64_t block) { measureBlock(warp, arguments, block, Format {}); });
}

void hash(std::uint32_t blocks, std::uint32_t threads, const void* from)
{
    const auto& arguments = *static_cast<const HashArguments*>(from);
    eachTile((arguments.leafCount + LeavesPerWarp - 1) / LeavesPerWarp, blocks, threads,
             [&](const HostWarp& warp, std::uint64_t tile) { hashLeaves(warp, arguments, tile * LeavesPerWarp); });
}

} // namespace

const HostKernel* hostKernel(std::string_view name)
{
    static const std::map<std::string_view, HostKernel> kernels {
#define KERNEL(bytes, Word)                                                                                            \
    { "sum_" #bytes, { sum<Word>, sizeof(SumArguments) } },                                                            \
        { "extract_" #bytes, { extract<Word>, sizeof(ExtractArguments) } },                                            \
        { "replay_" #bytes, { replay<Word>, sizeof(ReplayArguments) } },
        DELTASCOPE_KERNELS_OF_WORDS(KERNEL)
#undef KERNEL
#define KERNEL(type) { "moments_" #type, { moments<NumberFormatOf<Dtype::type>>, sizeof(MomentArguments) } },
            DELTASCOPE_KERNELS_OF_NUMBERS(KERNEL)
#undef KERNEL
                { "hash_leaves", { hash, sizeof(HashArguments) } },
    };
    const auto found = kernels.find(name);
    return found == kernels.end() ? nullptr : &found->second;
}

} // namespace deltascope::cuda
