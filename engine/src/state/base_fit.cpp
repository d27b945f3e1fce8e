#include "state/base_fit.h"

#include "format/common/full_tensor_stream.h"
#include "format/common/quote_name.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

namespace {

constexpr std::uint64_t PieceBytes = 128U << 10;

/// Tensors of a delta that misfit a state in one way.
struct Misfits {
    std::size_t count = 0;
    const TensorEntry* first = nullptr;

    void add(const TensorEntry& entry)
    {
        if (count++ == 0)
            first = &entry;
    }
};

bool speaksOfFit(Code code)
{
    return code == Code::BaseMismatch || code == Code::Hostile || code == Code::Malformed || code == Code::Truncated;
}

/// Reads the patch of a tensor as if it were applied to `target`.
Result<void> readPatch(const OpenVersion& delta, const TensorEntry& entry, const TensorInfo& target, TaskContext& task)
{
    StreamOptions options;
    options.task = &task;
    DS_TRY(const std::unique_ptr<PatchStream> stream,
           delta.layout->open(*delta.store, delta.objects, delta.index, entry, target, options));
    for (std::uint64_t at = 0; at < target.bytes();) {
        DS_CHECK(task.checkpoint());
        const std::uint64_t end = std::min(at + PieceBytes, target.bytes());
        if (const Result<PatchPiece> piece = stream->next(at, end); !piece)
            return fail(piece.error());
        at = end;
    }
    return stream->finish();
}

/// Nothing if reading was interrupted, so that it shows nothing.
std::optional<bool> fits(const OpenVersion& delta, const TensorEntry& entry, const TensorInfo& target,
                         TaskContext& task)
{
    if (entry.info() && (entry.info()->dtype != target.dtype || entry.info()->shape != target.shape))
        return false;
    const Result<void> outcome = readPatch(delta, entry, target, task);
    if (outcome)
        return true;
    return speaksOfFit(outcome.error().code) ? std::optional(false) : std::nullopt;
}

}

Error blameBase(const std::vector<std::shared_ptr<const OpenVersion>>& links, Error error, TaskContext& task)
{
    const OpenVersion& base = *links.front();
    const OpenVersion& delta = *links[1];
    if (delta.index.full || error.step != delta.objects.step || !speaksOfFit(error.code))
        return error;
    Misfits absent;
    Misfits otherForm;
    for (const TensorEntry& entry : delta.index.tensors) {
        const TensorEntry* const before = base.index.find(entry.name());
        if (!before) {
            absent.add(entry);
            continue;
        }
        const std::optional<bool> fit = fits(delta, entry, *before->info(), task);
        if (!fit)
            return error;
        if (!*fit)
            otherForm.add(entry);
    }
    const Misfits& most = absent.count > otherForm.count ? absent : otherForm;
    const std::size_t all = delta.index.tensors.size();
    if (most.count < 2 || most.count * 2 <= all)
        return error;
    const std::string name = quoteName(most.first->name());
    std::string text =
        fmt::format("the base checkpoint is not the one that this chain was written against: {} of the {} "
                    "tensors that step {} changes ",
                    most.count, all, delta.objects.step);
    if (&most == &absent)
        text += fmt::format("are not in it, {} first", name);
    else
        text += fmt::format("have another dtype or size in it, {} first, which is {} there", name,
                            describe(*base.index.find(most.first->name())->info()));
    return Error { Code::BaseMismatch, std::move(text), delta.objects.name, delta.objects.step, {} };
}

} // namespace deltascope
