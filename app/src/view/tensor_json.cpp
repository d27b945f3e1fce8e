#include "deltascope/app/view/dashboard_json.h"

#include "json_parts.h"
#include "tensor_description.h"

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

std::string blocksToJson(const BlocksView& view) { return dump(written(view)); }

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

std::string toJson(const HeaderView& view) { return dump(written(view)); }

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
