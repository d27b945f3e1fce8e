#include "app_files.h"

#include "view/snapshot_changes.h"

#include <fmt/format.h>
#include <iterator>
#include <map>
#include <string_view>
#include <vector>

namespace deltascope::bundle {

namespace {

constexpr std::size_t MostColumns = 1'000; ///< with exact counts

}

std::string snapshotOf(std::shared_ptr<const app::RunSnapshot> snapshot)
{
    app::SnapshotChanges whole;
    whole.advance(std::move(snapshot));
    return whole.toJson(0, "bundle") + "\n";
}

std::string countsOf(const app::Service& service, const app::HeatView& heat, std::vector<std::string>& leftOut)
{
    const std::size_t first = heat.columns.size() > MostColumns ? heat.columns.size() - MostColumns : 0;
    if (first > 0)
        leftOut.push_back(fmt::format("exact counts of tensors before the newest {} steps", MostColumns));
    std::string lines;
    for (std::size_t at = first; at < heat.columns.size(); ++at) {
        const auto known = service.countsOf(heat, at);
        if (!known)
            continue;
        const std::map<std::string_view, std::uint64_t> changed(known->begin(), known->end());
        std::vector<std::uint64_t> counts;
        for (const app::TensorRowView& row : heat.rows) {
            const auto found = changed.find(row.name);
            counts.push_back(found == changed.end() ? 0 : found->second);
        }
        const app::HeatColumnView& column = heat.columns[at];
        fmt::format_to(std::back_inserter(lines), "{{\"epoch\":{},\"step\":{},\"changed_elems\":[{}]}}\n", column.epoch,
                       column.step, fmt::join(counts, ","));
    }
    return lines;
}

} // namespace deltascope::bundle
