#pragma once

#include "deltascope/app/view/heat_view.h"
#include "state/step_cursor.h"

#include <QString>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace deltascope::desktop {

/// How much of each layer changes at each step: the element-weighted mean of its tensors. Immutable; any thread.
struct LayerHeat {
    struct Layer {
        QString label; ///< safe to show
        std::size_t first = 0; ///< row of the matrix
        std::size_t count = 0;
        double mean = 0; ///< share over all known steps
    };
    struct Column {
        std::int64_t step = 0;
        bool anchor = false;
        bool damaged = false;
        std::shared_ptr<const std::vector<std::uint8_t>> tensors; ///< what codes were made from
        std::shared_ptr<const std::vector<std::uint8_t>> codes; ///< one per layer; null: not known
    };

    int epoch = 0;
    std::vector<Layer> layers; ///< in model order
    std::vector<Column> columns; ///< by step, within the range asked for

    /// Column of the step nearest to `step`; nothing without columns.
    std::optional<std::size_t> columnOf(std::int64_t step) const;
};

/// `before`: of the same run, may be null; what did not change is taken over from it. Slow for many tensors.
std::shared_ptr<const LayerHeat> makeLayerHeat(const app::HeatView& heat, int epoch, StepRange range,
                                               const std::shared_ptr<const LayerHeat>& before);

/// One color code per pixel column and layer: columns that share a pixel are averaged.
struct LayerPicture {
    std::size_t width = 0;
    std::vector<std::uint8_t> codes; ///< layer by layer
    std::vector<bool> known;
};
/// `most`: pixels that there are; the picture is as wide as there are columns, or less.
LayerPicture makeLayerPicture(const LayerHeat& heat, std::size_t most);

} // namespace deltascope::desktop
