#include "pages/tensors/tensor_listing.h"

#include "heat/heat_rows.h"
#include "heat/tensor_filter.h"

#include <algorithm>
#include <compare>

namespace deltascope::desktop {

namespace {

using Item = TensorListing::Item;

Item makeItem(const app::HeatView& heat, const RowNode& node)
{
    Item item;
    item.label = node.label;
    if (node.children.empty()) {
        const app::TensorRowView& tensor = heat.rows[static_cast<std::size_t>(node.first)];
        item.tensor = node.first;
        item.elements = tensor.elements;
        item.changed = tensor.changedElements;
        item.lastChanged = tensor.lastChanged.value_or(-1);
    }
    return item;
}

void add(Item& group, Item child)
{
    group.elements += child.elements;
    group.changed += child.changed;
    group.lastChanged = std::max(group.lastChanged, child.lastChanged);
    group.children.push_back(std::move(child));
}

/// The tensors of a node that pass, without groups inside of it: a list of two levels is easy to read.
void collect(const app::HeatView& heat, const RowNode& node, const TensorFilter& passes, Item& group)
{
    if (node.children.empty()) {
        if (passes(heat.rows[static_cast<std::size_t>(node.first)]))
            add(group, makeItem(heat, node));
        return;
    }
    for (const RowNode& child : node.children)
        collect(heat, child, passes, group);
}

std::partial_ordering compare(const app::HeatView& heat, const Item& a, const Item& b, int column)
{
    const auto tensor = [&](const Item& item) -> const app::TensorRowView* {
        return item.tensor < 0 ? nullptr : &heat.rows[static_cast<std::size_t>(item.tensor)];
    };
    switch (column) {
    case TensorOrder::Shape: {
        static const std::vector<std::uint64_t> None;
        return (tensor(a) ? tensor(a)->shape : None) <=> (tensor(b) ? tensor(b)->shape : None);
    }
    case TensorOrder::Dtype: {
        static const std::string None;
        return (tensor(a) ? tensor(a)->dtype : None) <=> (tensor(b) ? tensor(b)->dtype : None);
    }
    case TensorOrder::Elements:
        return a.elements <=> b.elements;
    case TensorOrder::LastChanged:
        return a.lastChanged <=> b.lastChanged;
    case TensorOrder::TotalChanged:
        return a.changed <=> b.changed;
    default:
        return std::partial_ordering::equivalent;
    }
}

void sortItems(const app::HeatView& heat, std::vector<Item>& items, const TensorOrder& order)
{
    if (order.column == TensorOrder::Name) {
        if (order.descending)
            std::reverse(items.begin(), items.end());
    } else {
        std::stable_sort(items.begin(), items.end(), [&](const Item& a, const Item& b) {
            const std::partial_ordering place = compare(heat, a, b, order.column);
            return order.descending ? place > 0 : place < 0;
        });
    }
    for (Item& item : items)
        sortItems(heat, item.children, order);
}

bool same(const std::vector<Item>& a, const std::vector<Item>& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Item& x, const Item& y) {
        return x.tensor == y.tensor && x.label == y.label && same(x.children, y.children);
    });
}

}

TensorListingPointer makeTensorListing(std::shared_ptr<const app::HeatView> heat, const TensorOrder& order)
{
    auto listing = std::make_shared<TensorListing>();
    listing->heat = std::move(heat);
    listing->order = order;
    listing->knownColumns = knownColumns(*listing->heat);
    const TensorFilter passes(order.filter, listing->knownColumns);
    for (const RowNode& node : makeRowTree(listing->heat->rows).nodes) {
        Item item = makeItem(*listing->heat, node);
        if (node.children.empty()) {
            if (!passes(listing->tensor(item.tensor)))
                continue;
            ++listing->shown;
        } else {
            collect(*listing->heat, node, passes, item);
            if (item.children.empty())
                continue;
            listing->shown += item.children.size();
        }
        listing->items.push_back(std::move(item));
    }
    sortItems(*listing->heat, listing->items, order);
    return listing;
}

bool sameItems(const TensorListing& a, const TensorListing& b) { return same(a.items, b.items); }

QByteArray asCsv(const TensorListing& listing)
{
    QByteArray text = "tensor,dtype,shape,elements,bytes,last_changed,changed_elems\n";
    const auto word = [](const std::string& raw) {
        QByteArray quoted = QByteArray::fromStdString(raw);
        return '"' + quoted.replace('"', "\"\"") + '"';
    };
    const auto add = [&](const Item& item) {
        const app::TensorRowView& tensor = listing.tensor(item.tensor);
        QByteArray shape;
        for (const std::uint64_t size : tensor.shape)
            shape += (shape.isEmpty() ? "" : "x") + QByteArray::number(static_cast<qulonglong>(size));
        text += word(tensor.name) + ',' + word(tensor.dtype) + ',' + shape + ','
            + QByteArray::number(static_cast<qulonglong>(tensor.elements)) + ','
            + QByteArray::number(static_cast<qulonglong>(tensor.bytes)) + ','
            + (tensor.lastChanged ? QByteArray::number(static_cast<qlonglong>(*tensor.lastChanged)) : QByteArray())
            + ','
            + (listing.knownColumns == 0 ? QByteArray()
                                         : QByteArray::number(static_cast<qulonglong>(tensor.changedElements)))
            + '\n';
    };
    for (const Item& item : listing.items) {
        if (item.tensor >= 0)
            add(item);
        for (const Item& child : item.children)
            add(child);
    }
    return text;
}

} // namespace deltascope::desktop
