#include "app_files.h"

#include "view/json_parts.h"
#include "view/snapshot_changes.h"

#include <fmt/format.h>
#include <map>

namespace deltascope::bundle {

using nlohmann::ordered_json;

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
        const std::map<std::string, std::uint64_t> changed(known->begin(), known->end());
        ordered_json counts = ordered_json::array();
        for (const app::TensorRowView& row : heat.rows) {
            const auto found = changed.find(row.name);
            counts.push_back(found == changed.end() ? 0 : found->second);
        }
        const app::HeatColumnView& column = heat.columns[at];
        lines += app::dump({ { "epoch", column.epoch }, { "step", column.step }, { "changed_elems", counts } }) + "\n";
    }
    return lines;
}

} // namespace deltascope::bundle
