#pragma once

#include "deltascope/engine/patch.h"
#include "format/common/buffered_extent.h"
#include "format/grail/grail_payload.h"

#include <optional>
#include <vector>

namespace deltascope {

/// AssignElements pieces from differences of positions, or of rows and columns. A row is the first index, a column the
/// position within it.
class GrailStream final : public PatchStream {
public:
    GrailStream(GrailEncoding encoding, std::uint64_t count, BufferedExtent rows, std::optional<BufferedExtent> columns,
                BufferedExtent values, const TensorInfo& target);

    Result<PatchPiece> next(std::uint64_t begin, std::uint64_t end) override;
    Result<void> finish() override;

private:
    /// Decodes the next position into m_pending, if there is one and none is pending.
    Result<void> decode();
    Result<std::uint64_t> takeNumber(BufferedExtent& input, std::size_t bytes, bool isSigned, const char* what);
    Error hostile(const std::string& text) const;

    GrailEncoding m_encoding;
    std::uint64_t m_left; ///< positions that were not decoded yet
    BufferedExtent m_rows;
    std::optional<BufferedExtent> m_columns;
    BufferedExtent m_values;
    std::string m_name;
    std::uint64_t m_elements;
    std::uint64_t m_rowElements; ///< in one row
    std::size_t m_valueBytes;
    std::uint64_t m_at = 0; ///< element that the next block begins with
    std::uint64_t m_row = 0;
    std::uint64_t m_column = 0;
    bool m_first = true;
    std::optional<std::uint64_t> m_last; ///< position before the pending one
    std::optional<std::uint64_t> m_pending;
    std::vector<std::uint32_t> m_positions;
};

} // namespace deltascope
