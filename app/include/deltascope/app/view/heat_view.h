#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope::app {

// Which tensors change at which step: rows are tensors in model order, columns are versions. Big, so it travels as
// tiles of one byte per cell.

/// One row.
struct TensorRowView {
    std::string name;
    std::string dtype;
    std::vector<std::uint64_t> shape;
    std::uint64_t elements = 0;
    std::uint64_t bytes = 0;
    std::string group; ///< "layers.0"; empty for tensors outside of layers
    std::uint64_t changedElements = 0; ///< over all versions that were seen
    std::optional<std::int64_t> lastChanged; ///< step
};

/// One column.
struct HeatColumnView {
    int epoch = 0;
    std::int64_t step = 0;
    std::string name; ///< of the version, as in StepView
    std::string chainKey; ///< under which the catalog knows its counts
    std::string kind;
    std::string state;
    bool damaged = false;
    std::shared_ptr<const std::vector<std::uint8_t>> codes; ///< one per row; null: not known (yet)
};

/// Immutable; columns are shared between revisions.
struct HeatView {
    std::uint64_t revision = 0;
    std::string catalogKey;
    std::vector<TensorRowView> rows;
    std::vector<HeatColumnView> columns; ///< by epoch, then step

    /// First and one-past-last column of an epoch.
    std::pair<std::size_t, std::size_t> columnsOf(int epoch) const noexcept;
    std::optional<std::size_t> columnOf(int epoch, std::int64_t step) const noexcept;
};

/// Columns whose counts are known, of all epochs: what TensorRowView::changedElements adds up.
std::uint64_t knownColumns(const HeatView& heat) noexcept;

/// The code of a share: 0 = exactly nothing, else 1 + 254 (log10 v + 6) / 6, rounded, for v in [1e-6, 1].
std::uint8_t heatCode(std::uint64_t changed, std::uint64_t elements) noexcept;
double heatShare(std::uint8_t code) noexcept; ///< the middle of what the code stands for

/// How cells are merged when zoomed out.
enum class HeatPool : std::uint8_t {
    Max,
    Mean, ///< weighted by elements; from codes, so within one code (5.6 %) of the exact mean
};

struct HeatTile {
    static constexpr std::size_t Side = 256;

    std::vector<std::uint8_t> codes; ///< Side x Side, row by row
    /// One bit per cell in the same order, low bit first: 1 = unknown, also outside of the matrix. Empty: all is known.
    std::vector<std::uint8_t> unknown;
};

/// Levels that are needed until one tile holds `count` rows or columns.
unsigned heatLevels(std::size_t count) noexcept;
/// Tile (tileY, tileX) where 2^levelY rows and 2^levelX columns are merged. A merged cell is unknown if all of it is.
HeatTile makeHeatTile(const HeatView& heat, int epoch, HeatPool pool, unsigned levelY, unsigned levelX,
                      std::size_t tileY, std::size_t tileX);

/// Model order: embeddings, layers by number, what follows them, the head.
bool modelBefore(std::string_view a, std::string_view b);
/// "layers.0" of "model.layers.0.mlp.up_proj.weight"; empty without a numbered part.
std::string tensorGroup(std::string_view name);

} // namespace deltascope::app
