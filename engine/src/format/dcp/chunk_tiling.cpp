#include "format/dcp/chunk_tiling.h"

#include "deltascope/base/bytes.h"
#include "format/common/quote_name.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace deltascope {

namespace {

/// Pairs of boxes that are compared at most for one tensor.
constexpr std::uint64_t MaxComparisons = 1U << 26;

std::string described(const ChunkBox& box)
{
    return fmt::format("[{}] at [{}]", fmt::join(box.sizes, ", "), fmt::join(box.offsets, ", "));
}

bool overlap(const ChunkBox& a, const ChunkBox& b) noexcept
{
    for (std::size_t i = 0; i < a.sizes.size(); ++i) {
        if (a.offsets[i] + a.sizes[i] <= b.offsets[i] || b.offsets[i] + b.sizes[i] <= a.offsets[i])
            return false;
    }
    return true;
}

/// The dimension along which the boxes begin at the most places: few of them share a place there.
std::size_t mostCutDimension(std::size_t rank, const std::vector<const ChunkBox*>& boxes)
{
    std::size_t best = 0;
    std::size_t bestCuts = 0;
    for (std::size_t i = 0; i < rank; ++i) {
        std::set<std::uint64_t> cuts;
        for (const ChunkBox* box : boxes)
            cuts.insert(box->offsets[i]);
        if (cuts.size() > bestCuts) {
            best = i;
            bestCuts = cuts.size();
        }
    }
    return best;
}

/// Walks along one dimension and compares each box with those that reach as far.
Result<void> checkDisjoint(const TensorInfo& tensor, const std::vector<ChunkBox>& boxes)
{
    std::vector<const ChunkBox*> sorted;
    for (const ChunkBox& box : boxes)
        sorted.push_back(&box);
    const std::size_t along = mostCutDimension(tensor.shape.size(), sorted);
    std::sort(sorted.begin(), sorted.end(), [&](const ChunkBox* a, const ChunkBox* b) {
        return a->offsets[along] != b->offsets[along] ? a->offsets[along] < b->offsets[along] : a->offsets < b->offsets;
    });
    std::uint64_t comparisons = 0;
    std::vector<const ChunkBox*> reaching;
    for (const ChunkBox* box : sorted) {
        std::erase_if(reaching, [&](const ChunkBox* earlier) {
            return earlier->offsets[along] + earlier->sizes[along] <= box->offsets[along];
        });
        comparisons += reaching.size() + 1;
        if (comparisons > MaxComparisons)
            return fail(Code::Unsupported,
                        fmt::format("tensor {} is cut into chunks too irregular to check", quoteName(tensor.name)));
        for (const ChunkBox* earlier : reaching) {
            if (overlap(*earlier, *box))
                return fail(Code::Malformed,
                            fmt::format("the chunks {} and {} of tensor {} overlap", described(*earlier),
                                        described(*box), quoteName(tensor.name)));
        }
        reaching.push_back(box);
    }
    return {};
}

} // namespace

bool ChunkBox::isEmpty() const noexcept { return std::find(sizes.begin(), sizes.end(), 0U) != sizes.end(); }

Result<void> checkTiling(const TensorInfo& tensor, const std::vector<ChunkBox>& boxes)
{
    // Inside the tensor no sum and no product of its numbers overflows.
    std::uint64_t covered = 0;
    for (const ChunkBox& box : boxes) {
        bool inside = box.offsets.size() == tensor.shape.size() && box.sizes.size() == tensor.shape.size();
        std::uint64_t elements = 1;
        for (std::size_t i = 0; inside && i < tensor.shape.size(); ++i) {
            inside = box.sizes[i] <= tensor.shape[i] && box.offsets[i] <= tensor.shape[i] - box.sizes[i];
            elements *= inside ? box.sizes[i] : 1;
        }
        if (!inside)
            return fail(Code::Malformed,
                        fmt::format("the chunk {} of tensor {} lies outside of its shape [{}]", described(box),
                                    quoteName(tensor.name), fmt::join(tensor.shape, ", ")));
        const std::optional<std::uint64_t> sum = checkedAdd(covered, elements);
        if (!sum)
            return fail(Code::Malformed, fmt::format("the chunks of tensor {} overlap", quoteName(tensor.name)));
        covered = *sum;
    }
    if (covered != tensor.elements())
        return fail(Code::Malformed,
                    fmt::format("the chunks of tensor {} hold {} elements together, the tensor has {}",
                                quoteName(tensor.name), covered, tensor.elements()));
    return checkDisjoint(tensor, boxes);
}

} // namespace deltascope
