#pragma once

#include "deltascope/app/view/heat_view.h"
#include "deltascope/app/view/summary_view.h"

#include "step_description.h"

#include <map>

namespace deltascope::app {

// Written alone: clients follow the heatmap by the snapshot of its run.

/// A column with what the run knows of its step.
struct HeatIndexColumn {
    HeatColumnView column;
    std::optional<double> pauseMs;
    std::optional<int> verifiedLevel;
};

template <class Io> void describe(Io& io, const HeatIndexColumn& index)
{
    const HeatColumnView& column = index.column;
    io.type("HeatColumn", "A version of the heatmap.");
    io("step", column.step);
    io("kind", word(column.kind, StepKinds));
    io("state", word(column.state, StepStates));
    io("known", column.codes != nullptr, "false: not replayed (yet); the column is unknown");
    io("pause_ms", index.pauseMs);
    io("verified", index.verifiedLevel, "level");
    io("damaged", column.damaged);
}

/// What the tiles of the heatmap of one epoch stand for.
struct HeatIndexView {
    std::uint64_t revision = 0;
    int epoch = 0;
    std::size_t rows = 0;
    std::vector<HeatIndexColumn> columns;
};

template <class Io> void describe(Io& io, const HeatIndexView& index)
{
    io.type("HeatIndex",
            "The heatmap of one epoch: rows as in TensorTable, columns as here. Tiles hold 256 x 256 codes, one byte "
            "each, row by row: 0 = nothing changed, else round(1 + 254 (log10 v + 6) / 6) for v in [1e-6, 1]. "
            "GET …/heat/{max|mean}/{ly}/{lx}/{ty}/{tx}?epoch=&rev=: level l merges 2^l rows or columns. Body: 65,536 "
            "codes, then, if the header X-Unknown is \"mask\", 8,192 bytes of bits in the same order, 1 = unknown "
            "(bit 0 first). Cells outside of the matrix are unknown. Levels that have one tile hold the whole matrix.");
    io("rev", index.revision);
    io("epoch", index.epoch);
    io("rows", index.rows);
    io("tile", HeatTile::Side, "rows and columns of a tile: 256");
    io("levels_y", heatLevels(index.rows));
    io("levels_x", heatLevels(index.columns.size()));
    io("columns", index.columns);
}

} // namespace deltascope::app
