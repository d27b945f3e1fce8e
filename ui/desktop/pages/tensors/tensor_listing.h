#pragma once

#include "deltascope/app/view/heat_view.h"

#include <QByteArray>
#include <QString>

#include <memory>
#include <vector>

namespace deltascope::desktop {

/// How the list of tensors is cut and ordered.
struct TensorOrder {
    enum Column { Name, Shape, Dtype, Elements, LastChanged, TotalChanged, ColumnCount };

    QString filter;
    int column = Name; ///< Name, ascending: model order
    bool descending = false;

    bool operator==(const TensorOrder&) const = default;
};

/// The tensors of a run by layer, filtered and sorted. Immutable; made off the GUI thread.
struct TensorListing {
    struct Item {
        QString label; ///< safe to show
        int tensor = -1; ///< row of the heatmap; -1: a group
        std::vector<Item> children;
        std::uint64_t elements = 0;
        std::uint64_t changed = 0; ///< over all versions that were seen
        std::int64_t lastChanged = -1; ///< -1: never
    };

    std::shared_ptr<const app::HeatView> heat;
    TensorOrder order;
    std::vector<Item> items;
    std::uint64_t shown = 0; ///< tensors that pass the filter
    std::uint64_t knownColumns = 0; ///< versions that the totals count

    const app::TensorRowView& tensor(int row) const { return heat->rows[static_cast<std::size_t>(row)]; }
};
using TensorListingPointer = std::shared_ptr<const TensorListing>;

TensorListingPointer makeTensorListing(std::shared_ptr<const app::HeatView> heat, const TensorOrder& order);
/// Whether the same items stand at the same places, so that only numbers differ.
bool sameItems(const TensorListing& a, const TensorListing& b);
/// A line per tensor, in the order of the list.
QByteArray asCsv(const TensorListing& listing);

} // namespace deltascope::desktop
