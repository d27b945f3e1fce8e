#include "deltascope/app/view/listing_page.h"

#include <algorithm>
#include <map>

namespace deltascope::app {

namespace {

void count(ListingTotals& totals, const ListingEntryView& entry)
{
    const bool anchor = entry.kind == "anchor" || entry.kind == "partial_anchor";
    std::uint64_t& objects = anchor ? totals.anchors : entry.kind == "delta" ? totals.deltas : totals.other;
    std::uint64_t& bytes = anchor ? totals.anchorBytes : entry.kind == "delta" ? totals.deltaBytes : totals.otherBytes;
    ++objects;
    bytes += entry.object.sizeBytes;
}

}

ListingPage makeListingPage(const ListingView& listing, const RunView& run, const std::string& prefix,
                            const std::string& after, std::size_t limit)
{
    ListingPage page;
    page.revision = run.revision;
    page.prefix = prefix;
    std::map<std::string, ListingRowView> rows; // by key
    for (const ListingEntryView& entry : listing.objects) {
        count(page.totals, entry);
        const std::string& key = entry.object.key;
        if (!key.starts_with(prefix) || key.size() == prefix.size())
            continue;
        const std::size_t slash = key.find('/', prefix.size());
        const bool folder = slash != std::string::npos;
        const std::string name = folder ? key.substr(0, slash + 1) : key;
        if (name <= after)
            continue;
        ListingRowView& row = rows[name];
        row.folder = folder;
        row.sizeBytes += entry.object.sizeBytes;
        row.modifiedUs = std::max(row.modifiedUs, entry.object.modifiedUs);
        if (!folder) {
            row.step = entry.step;
            row.kind = entry.kind;
            row.neededBy = entry.neededBy;
        }
    }
    std::map<std::string_view, std::string_view> states; // by key of an object
    for (const EpochView& epoch : run.epochs) {
        for (const StepView& step : epoch.steps) {
            for (const ObjectView& object : step.objects)
                states[object.key] = step.state;
        }
    }
    for (auto& [key, row] : rows) {
        if (page.rows.size() == limit) {
            page.nextCursor = page.rows.back().key;
            break;
        }
        row.key = key;
        if (const auto state = states.find(key); state != states.end())
            row.state = state->second;
        page.rows.push_back(std::move(row));
    }
    return page;
}

} // namespace deltascope::app
