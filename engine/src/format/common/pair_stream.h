#pragma once

#include "deltascope/engine/layout.h"
#include "format/common/buffered_extent.h"

#include <cstdint>
#include <vector>

namespace deltascope {

/// How the positions of one tensor are stored.
enum class PositionForm : std::uint8_t {
    None, ///< a full tensor
    I32, ///< positions
    I64,
    Gap16, ///< u16, positions left out since the one before
    Gap32,
    Nvcomp, ///< an nvCOMP Cascaded stream of i32 positions
    Unknown, ///< an encoding word of a later writer
};

/// What is done with the values.
enum class PairRule : std::uint8_t {
    Assign, ///< they have the type of the tensor
    AssignNarrowed, ///< F32 that fit the type of the tensor without a loss
    Add, ///< F32 differences
};

/// TensorEntry::encoding of layouts with pairs: how positions are stored and the element type of the values.
struct PairEncoding {
    PositionForm form = PositionForm::None;
    Dtype values = Dtype::BF16;

    std::uint8_t packed() const noexcept
    {
        return static_cast<std::uint8_t>((static_cast<unsigned>(form) << 5) | static_cast<unsigned>(values));
    }
    static PairEncoding unpack(std::uint8_t packed) noexcept
    {
        return { static_cast<PositionForm>(packed >> 5), static_cast<Dtype>(packed & 31) };
    }
};
static_assert(static_cast<unsigned>(Dtype::U64) < 32);
static_assert(static_cast<unsigned>(PositionForm::Unknown) < 8);

/// AssignElements or AddElements pieces from a list of positions and a list of values.
class PairStream final : public PatchStream {
public:
    /// `encoding.form`: a list of positions. Both inputs hold `count` items; `target` has whole-byte elements, `count`
    /// of them or more. AssignNarrowed and Add: values are F32, the target BF16, F16 or F32.
    PairStream(const PairEncoding& encoding, PairRule rule, BufferedExtent positions, BufferedExtent values,
               const TensorInfo& target);

    Result<PatchPiece> next(std::uint64_t begin, std::uint64_t end) override;
    Result<void> finish() override;

private:
    /// Positions in elements [begin, end) into m_positions; returns how many.
    Result<std::size_t> decode(std::uint64_t begin, std::uint64_t end);
    /// Passes over everything below element `begin`.
    Result<void> skipTo(std::uint64_t begin);
    /// The integer that decoding stopped at belongs to a later block, or is an error.
    Result<void> checkStop() const;
    /// F32 values in the type of the tensor.
    Result<ByteSpan> narrowed(ByteSpan values);
    Error hostile(std::string text) const;

    PositionForm m_form;
    PairRule m_rule;
    std::size_t m_itemBytes; ///< of one stored position
    std::size_t m_valueBytes; ///< of one stored value
    std::size_t m_elementBytes;
    Dtype m_target;
    bool m_narrow; ///< values are stored wider than the tensor has them
    BufferedExtent m_index;
    BufferedExtent m_values;
    std::string m_name;
    std::uint64_t m_elements;
    std::uint64_t m_at = 0; ///< element that the next block begins with
    std::uint64_t m_smallest = 0; ///< smallest position that may come next
    std::vector<std::uint32_t> m_positions;
    std::vector<std::byte> m_narrowed;
};

/// Opens a pair after checking that it fits. `positions`, `values`: the two extents of the entry.
/// Errors: BaseMismatch (the values do not fit the target), Unsupported (positions or values in a form that is not
/// readable).
Result<std::unique_ptr<PatchStream>> openPair(const TensorEntry& entry, const TensorInfo& target, PairRule rule,
                                              BufferedExtent positions, BufferedExtent values);

} // namespace deltascope
