#pragma once

#include "deltascope/engine/layout.h"
#include "format/common/buffered_extent.h"

#include <cstdint>
#include <vector>

namespace deltascope {

/// How the positions of one tensor are stored.
enum class TrlIndexForm : std::uint8_t {
    None, ///< a full tensor
    Raw, ///< i32 positions
    Gap16, ///< u16 gaps
    Gap32, ///< u32 gaps
    Nvcomp, ///< an nvCOMP Cascaded stream of i32 positions
    Unknown, ///< an encoding word of a later writer
};

/// TensorEntry::encoding of this layout: how positions are stored and the element type of the values.
struct TrlEncoding {
    TrlIndexForm form = TrlIndexForm::None;
    Dtype values = Dtype::BF16;

    std::uint8_t packed() const noexcept
    {
        return static_cast<std::uint8_t>((static_cast<unsigned>(form) << 5) | static_cast<unsigned>(values));
    }
    static TrlEncoding unpack(std::uint8_t packed) noexcept
    {
        return { static_cast<TrlIndexForm>(packed >> 5), static_cast<Dtype>(packed & 31) };
    }
};
static_assert(static_cast<unsigned>(Dtype::U64) < 32);

/// AssignElements pieces from a list of positions and a list of values.
class TrlPairStream final : public PatchStream {
public:
    /// `form`: Raw, Gap16 or Gap32. Both inputs hold `count` items; `target` has whole-byte elements, `count` of them
    /// or more.
    TrlPairStream(TrlIndexForm form, BufferedExtent positions, BufferedExtent values, const TensorInfo& target);

    Result<PatchPiece> next(std::uint64_t begin, std::uint64_t end) override;
    Result<void> finish() override;

private:
    /// Positions in elements [begin, end) into m_positions; returns how many.
    Result<std::size_t> decode(std::uint64_t begin, std::uint64_t end);
    /// Passes over everything below element `begin`.
    Result<void> skipTo(std::uint64_t begin);
    /// The integer that decoding stopped at belongs to a later block, or is an error.
    Result<void> checkStop() const;
    Error hostile(std::string text) const;

    TrlIndexForm m_form;
    std::size_t m_itemBytes; ///< of one stored position
    std::size_t m_valueBytes;
    BufferedExtent m_index;
    BufferedExtent m_values;
    std::string m_name;
    std::uint64_t m_elements; ///< of the tensor
    std::uint64_t m_at = 0; ///< element where the next block begins
    std::uint64_t m_smallest = 0; ///< smallest position that may come next
    std::vector<std::uint32_t> m_positions;
};

} // namespace deltascope
