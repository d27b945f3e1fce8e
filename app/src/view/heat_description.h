#pragma once

#include "deltascope/app/view/heat_view.h"
#include "deltascope/app/view/summary_view.h"

#include "step_description.h"

#include <string>
#include <utility>
#include <vector>

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

/// An event: a column is there, or has other codes.
struct HeatChange {
    std::string run;
    std::uint64_t revision = 0; ///< of the heatmap
    int epoch = 0;
    std::size_t column = 0; ///< within its epoch
    std::int64_t step = 0;
    std::string codes; ///< one byte for each row, as base64; empty where they are not known
    bool unknown = false;
};

template <class Io> void describe(Io& io, const HeatChange& change)
{
    io.type("HeatChange", "A column of the heatmap is there, or has other codes.");
    io("run", change.run);
    io("rev", change.revision, "of the heatmap");
    io("epoch", change.epoch);
    io("column", change.column, "within the epoch");
    io("step", change.step);
    io("codes_b64", change.codes, "one byte for each row");
    io("unknown", change.unknown, "it is not replayed");
}

/// A row of the heatmap with its number.
struct TensorTableRow {
    static inline const TensorRowView None;

    std::size_t id = 0;
    const TensorRowView& tensor = None;
    std::optional<std::uint64_t> changed; ///< nothing: no column is known
};

template <class Io> void describe(Io& io, const TensorTableRow& row)
{
    const TensorRowView& tensor = row.tensor;
    io.type("TensorRow", "A tensor, which is a row of the heatmap.");
    io("id", row.id, "of the row");
    io("name", tensor.name);
    io("dtype", tensor.dtype);
    io("shape", tensor.shape);
    io("elements", tensor.elements);
    io("group", tensor.group, "\"layers.0\"; \"\" for tensors outside of layers");
    io("changed_elems", row.changed, "over the versions that known_columns counts; null: of none it is known");
    io("last_changed", tensor.lastChanged, "step of the last of these versions that changed it");
}

struct TensorTableView {
    std::uint64_t revision = 0;
    int epoch = 0;
    std::uint64_t knownColumns = 0;
    std::vector<TensorTableRow> rows;
};

template <class Io> void describe(Io& io, const TensorTableView& table)
{
    io.type("TensorTable", "The rows of the heatmap.");
    io("rev", table.revision);
    io("epoch", table.epoch);
    io("known_columns", table.knownColumns, "of all epochs: versions that were compared with the one before");
    io("tensors", table.rows, "in the order of the model: embeddings, layers by number, head");
}

/// What the code of one cell is made of.
struct HeatCellView {
    std::string tensor;
    std::int64_t step = 0;
    std::optional<std::uint64_t> changed; ///< nothing: not known (yet)
    std::uint64_t total = 0;
};

template <class Io> void describe(Io& io, const HeatCellView& cell)
{
    io.type("HeatCell", "Exact counts of one cell of the heatmap.");
    io("tensor", cell.tensor);
    io("step", cell.step);
    io("changed", cell.changed, "elements; null: not replayed (yet)");
    io("total", cell.total, "elements");
}

/// Exact counts of a column.
struct ColumnCountsView {
    std::int64_t step = 0;
    std::string chainKey; ///< as in HeatColumnView
    std::optional<std::vector<std::pair<std::string, std::uint64_t>>> changed; ///< of tensors that changed
};

template <class Io> void describe(Io& io, Of<Io, ColumnCountsView>& column)
{
    io.type("ColumnCounts", "Exact counts of a column of the heatmap.");
    io("step", column.step);
    io("chain", column.chainKey, "same text: same counts");
    io("changed", byName(column.changed), "elements by tensor, of tensors that changed; null: not replayed (yet)");
}

struct HeatCountsView {
    std::uint64_t revision = 0;
    int epoch = 0;
    std::vector<ColumnCountsView> columns;
};

template <class Io> void describe(Io& io, Of<Io, HeatCountsView>& counts)
{
    io.type("HeatCounts", "Exact counts of whole columns, at most 256.");
    io("rev", counts.revision);
    io("epoch", counts.epoch);
    io("columns", counts.columns);
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
