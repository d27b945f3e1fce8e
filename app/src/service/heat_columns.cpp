#include "heat_columns.h"

#include "view/make_views.h"

#include <algorithm>

namespace deltascope::app {

namespace {

bool sameColumn(const HeatColumnView& a, const HeatColumnView& b)
{
    return a.epoch == b.epoch && a.step == b.step && a.codes == b.codes && a.chainKey == b.chainKey && a.kind == b.kind
        && a.state == b.state && a.damaged == b.damaged;
}

}

Result<std::shared_ptr<const HeatView>> HeatColumns::view(const Workbench& bench, const Run& run,
                                                          const std::set<std::size_t>& miscounted,
                                                          std::uint64_t revision, TaskContext& task)
{
    DS_CHECK(updateRows(bench, run, task));
    auto heat = std::make_shared<HeatView>();
    heat->catalogKey = catalogKey(run);
    const std::vector<std::string> keys = chainKeys(run);
    std::set<std::string_view> shown;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (!miscounted.contains(i))
            shown.insert(keys[i]);
    }
    const bool anyGone = std::any_of(m_columns.begin(), m_columns.end(),
                                     [&](const auto& column) { return !shown.contains(column.first); });
    if (anyGone) // the sums hold them
        forgetColumns();
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        const Version& version = run.versions[i];
        HeatColumnView column;
        column.epoch = version.epoch;
        column.step = version.step();
        column.name = version.objects.name;
        column.chainKey = keys[i];
        column.kind = word(version.kind);
        column.state = word(version.state);
        column.damaged = version.state == VersionState::Broken;
        const auto known = m_columns.find(keys[i]);
        if (known != m_columns.end() && run.countsOnItsBase(version)) {
            column.codes = known->second;
        } else if (version.facts && shown.contains(keys[i])) {
            std::vector<TensorCount> counts;
            if (const auto fresh = m_fresh.find(keys[i]); fresh != m_fresh.end())
                counts = std::move(fresh->second);
            else if (bench.catalog) {
                if (auto stored = bench.catalog->counts(heat->catalogKey, version.objects.name, keys[i]))
                    counts = std::move(*stored);
            }
            if (explains(run, version, counts))
                column.codes = codesOf(version.step(), counts);
        }
        if (column.codes)
            m_columns[keys[i]] = column.codes;
        heat->columns.push_back(std::move(column));
    }
    m_fresh.clear();
    if (m_last && m_last->rows.size() == m_rows.size()
        && std::equal(heat->columns.begin(), heat->columns.end(), m_last->columns.begin(), m_last->columns.end(),
                      sameColumn))
        return m_last;
    heat->rows = m_rows;
    heat->revision = revision;
    m_last = std::move(heat);
    return m_last;
}

Result<void> HeatColumns::updateRows(const Workbench& bench, const Run& run, TaskContext& task)
{
    const Version* latest = run.latest();
    if (!latest || latest->obstacle)
        return {};
    DS_TRY(Plan plan, planFor(run, *latest));
    const std::string anchor =
        plan.links.empty() ? std::string() : run.versions[plan.links.front().version].objects.identity();
    if (anchor == m_rowsOf && !m_rows.empty())
        return {};
    DS_TRY(const TensorList tensors, m_tensors.of(bench, run, *latest, std::move(plan), task));
    std::vector<TensorRowView> rows;
    for (const TensorInfo& tensor : *tensors) {
        TensorRowView row;
        row.name = tensor.name;
        row.dtype = word(tensor.dtype);
        row.shape = tensor.shape;
        row.elements = tensor.elements();
        row.bytes = tensor.bytes();
        row.group = tensorGroup(tensor.name);
        rows.push_back(std::move(row));
    }
    std::sort(rows.begin(), rows.end(),
              [](const TensorRowView& a, const TensorRowView& b) { return modelBefore(a.name, b.name); });
    m_rowsOf = anchor;
    const auto sameTensor = [](const TensorRowView& a, const TensorRowView& b) {
        return a.name == b.name && a.dtype == b.dtype && a.shape == b.shape;
    };
    if (std::equal(rows.begin(), rows.end(), m_rows.begin(), m_rows.end(), sameTensor))
        return {};
    m_rows = std::move(rows);
    m_columns.clear(); // another model: filled again from the catalog
    m_rowByName.clear();
    for (std::size_t i = 0; i < m_rows.size(); ++i)
        m_rowByName.emplace(m_rows[i].name, i);
    return {};
}

void HeatColumns::forgetColumns()
{
    m_columns.clear();
    for (TensorRowView& row : m_rows) {
        row.changedElements = 0;
        row.lastChanged.reset();
    }
}

HeatColumns::Codes HeatColumns::codesOf(std::int64_t step, const std::vector<TensorCount>& counts)
{
    auto codes = std::make_shared<std::vector<std::uint8_t>>(m_rows.size(), std::uint8_t { 0 });
    for (const TensorCount& count : counts) {
        const auto row = m_rowByName.find(count.name);
        if (row == m_rowByName.end())
            continue;
        TensorRowView& tensor = m_rows[row->second];
        (*codes)[row->second] = heatCode(count.changed, tensor.elements);
        tensor.changedElements += count.changed;
        if (count.changed > 0)
            tensor.lastChanged = std::max(step, tensor.lastChanged.value_or(step));
    }
    return codes;
}

} // namespace deltascope::app
