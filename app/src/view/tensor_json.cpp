#include "deltascope/app/view/dashboard_json.h"

#include "json_parts.h"

namespace deltascope::app {

namespace {

template <class T> ordered_json listOrNull(const std::vector<std::optional<T>>& values)
{
    ordered_json list = ordered_json::array();
    for (const std::optional<T>& value : values)
        list.push_back(orNull(value));
    return list;
}

}

std::string blocksToJson(const BlocksView& view)
{
    ordered_json top = ordered_json::array();
    for (const auto& [row, changed] : view.topRows)
        top.push_back({ { "row", row }, { "changed", changed } });
    return dump({ { "tensor", view.tensor },
                  { "dtype", view.dtype },
                  { "shape", view.shape },
                  { "rows", view.rows },
                  { "cols", view.cols },
                  { "block_rows", view.blockRows },
                  { "block_cols", view.blockCols },
                  { "rows_per_block", view.rowsPerBlock },
                  { "cols_per_block", view.colsPerBlock },
                  { "changed", view.changed },
                  { "total", view.total },
                  { "dead_rows", view.deadRows },
                  { "dead_cols", view.deadCols },
                  { "gini_rows", orNull(view.giniOfRows) },
                  { "top_rows", std::move(top) },
                  { "a", orNull(view.a) } });
}

std::string toJson(const ElementsView& view)
{
    ordered_json none = ordered_json::array();
    for (std::size_t i = 0; !view.a && i < view.newBits.size(); ++i)
        none.push_back(nullptr);
    return dump({ { "tensor", view.tensor },
                  { "dtype", view.dtype },
                  { "row", view.row },
                  { "col", view.col },
                  { "rows", view.rows },
                  { "cols", view.cols },
                  { "a", orNull(view.a) },
                  { "step", view.step },
                  { "old_bits", view.a ? ordered_json(view.oldBits) : none },
                  { "new_bits", view.newBits },
                  { "old_values", view.a ? listOrNull(view.oldValues) : none },
                  { "new_values", listOrNull(view.newValues) } });
}

std::string toJson(const HeaderView& view)
{
    ordered_json tensors = ordered_json::array();
    for (const HeaderView::Tensor& tensor : view.tensors)
        tensors.push_back({ { "name", tensor.name },
                            { "dtype", tensor.dtype },
                            { "shape", tensor.shape },
                            { "bytes", tensor.bytes } });
    return dump({ { "key", view.key },
                  { "header_bytes", view.headerBytes },
                  { "metadata", view.metadata },
                  { "tensors", std::move(tensors) },
                  { "tensors_total", view.tensorsTotal },
                  { "claims_note", "What a header says about its content is a claim; verify compares it." } });
}

std::string toJson(const ListingPage& page)
{
    ordered_json rows = ordered_json::array();
    for (const ListingRowView& row : page.rows)
        rows.push_back({ { "key", row.key },
                         { "size", row.sizeBytes },
                         { "modified_at", row.modifiedUs },
                         { "step", orNull(row.step) },
                         { "kind", row.kind.empty() ? ordered_json(nullptr) : ordered_json(row.kind) },
                         { "state", row.state.empty() ? ordered_json(nullptr) : ordered_json(row.state) },
                         { "needed_by", orNull(row.neededBy) },
                         { "folder", row.folder } });
    const ListingTotals& totals = page.totals;
    return dump({ { "rev", page.revision },
                  { "prefix", page.prefix },
                  { "objects", std::move(rows) },
                  { "next_cursor", page.nextCursor.empty() ? ordered_json(nullptr) : ordered_json(page.nextCursor) },
                  { "totals",
                    { { "anchors", totals.anchors },
                      { "anchor_bytes", totals.anchorBytes },
                      { "deltas", totals.deltas },
                      { "delta_bytes", totals.deltaBytes },
                      { "other", totals.other },
                      { "other_bytes", totals.otherBytes } } } });
}

} // namespace deltascope::app
