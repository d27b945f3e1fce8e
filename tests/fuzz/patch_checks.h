#pragma once

#include "deltascope/engine/backend.h"
#include "deltascope/engine/layout.h"
#include "support/any_task.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace deltascope {

inline void require(bool condition)
{
    if (!condition)
        std::abort();
}

/// What applies pieces.
inline const Backend& scalar()
{
    static const Backends backends = Backends::builtin();
    return *backends.all().front();
}

/// Readers of foreign bytes refuse with these and nothing else.
inline void checkRefusal(const Error& error)
{
    require(error.code == Code::Malformed || error.code == Code::Hostile || error.code == Code::Truncated
            || error.code == Code::Unfinished || error.code == Code::Unsupported || error.code == Code::DuplicateName
            || error.code == Code::BaseMismatch || error.code == Code::Digest);
    require(!error.text.empty() && error.text.size() < 2048);
    for (const char c : error.text)
        require(static_cast<unsigned char>(c) >= 0x20);
}

/// A piece stays inside its block and keeps its promises.
inline void checkPiece(const PatchPiece& piece, std::uint64_t blockBytes, unsigned elementBytes)
{
    const auto checkPositions = [](std::span<const std::uint32_t> positions, std::uint64_t limit) {
        for (std::size_t i = 0; i < positions.size(); ++i)
            require(positions[i] < limit && (i == 0 || positions[i - 1] < positions[i]));
    };
    if (const auto* assign = std::get_if<AssignElements>(&piece)) {
        checkPositions(assign->elements, blockBytes / elementBytes);
        require(assign->bits.size() == assign->elements.size() * elementBytes);
    } else if (const auto* bytes = std::get_if<AssignBytes>(&piece)) {
        checkPositions(bytes->positions, blockBytes);
        require(bytes->values.size() == bytes->positions.size());
    } else if (const auto* mask = std::get_if<XorBlock>(&piece)) {
        require(mask->bytes.size() == blockBytes);
    } else if (const auto* full = std::get_if<FullBlock>(&piece)) {
        require(full->bytes.size() == blockBytes);
    } else if (const auto* add = std::get_if<AddElements>(&piece)) {
        checkPositions(add->elements, blockBytes / elementBytes);
        require(add->values.size() == add->elements.size() * 4);
    } else {
        require(std::holds_alternative<std::monostate>(piece));
    }
}

struct PatchOutcome {
    bool accepted = false;
    std::vector<std::byte> state;
    PatchCounts counts;
};

/// Applies one entry to zeros.
inline PatchOutcome applyPatch(const Layout& layout, const ObjectStore& store, const VersionObjects& version,
                               const VersionIndex& index, const TensorEntry& entry, const TensorInfo& target,
                               std::uint64_t blockBytes, std::uint64_t bufferBytes)
{
    PatchOutcome out;
    out.state.resize(target.bytes());
    const auto stream = layout.open(store, version, index, entry, target, { &test::anyTask(), bufferBytes, {} });
    if (!stream) {
        checkRefusal(stream.error());
        return out;
    }
    for (std::uint64_t begin = 0; begin < out.state.size(); begin += blockBytes) {
        const std::uint64_t end = std::min<std::uint64_t>(out.state.size(), begin + blockBytes);
        const auto piece = (*stream)->next(begin, end);
        if (!piece) {
            checkRefusal(piece.error());
            return out;
        }
        checkPiece(*piece, end - begin, std::max(1U, bitsOf(target.dtype) / 8));
        out.counts += scalar().apply(*piece, MutableByteSpan(out.state).subspan(begin, end - begin), target.dtype);
    }
    const auto finished = (*stream)->finish();
    if (!finished)
        checkRefusal(finished.error());
    out.accepted = finished.has_value();
    return out;
}

/// Sizes of blocks and buffers change neither the verdict nor the result.
inline void checkPatch(const Layout& layout, const ObjectStore& store, const VersionObjects& version,
                       const VersionIndex& index, const TensorEntry& entry, const TensorInfo& target)
{
    const PatchOutcome large = applyPatch(layout, store, version, index, entry, target, 1U << 20, 1U << 16);
    const PatchOutcome small = applyPatch(layout, store, version, index, entry, target, 48, 1);
    require(large.accepted == small.accepted);
    if (large.accepted)
        require(large.state == small.state && large.counts.assigned == small.counts.assigned
                && large.counts.noops == small.counts.noops);
}

} // namespace deltascope
