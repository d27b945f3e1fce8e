#include "pages/heatmap/exact_counts.h"

namespace deltascope::desktop {

namespace {

constexpr int RestMs = 80;

}

ExactCounts::ExactCounts(app::Service& service, QObject* parent)
    : QObject(parent)
    , m_service(service)
{
    m_rest.setSingleShot(true);
    m_rest.setInterval(RestMs);
    connect(&m_rest, &QTimer::timeout, this, &ExactCounts::ask);
}

std::optional<std::uint64_t> ExactCounts::changed(const HeatPlanPointer& plan, int row, int column)
{
    const app::HeatColumnView& wanted = plan->column(column);
    if (!wanted.codes)
        return std::nullopt;
    const Key key { plan->heat->catalogKey, wanted.chainKey };
    if (m_key != key) {
        if (m_wanted != key) { // who asks again and again does not put it off
            m_wanted = key;
            m_plan = plan;
            m_column = column;
            m_rest.start();
        }
        return std::nullopt;
    }
    if (!m_counts)
        return std::nullopt;
    const auto found = m_counts->find(plan->tensor(row).name);
    return found == m_counts->end() ? 0 : found->second;
}

void ExactCounts::ask()
{
    const auto at = static_cast<std::size_t>(m_plan->firstColumn + m_column);
    m_reading.start(
        [&service = m_service, heat = m_plan->heat, at]() -> Counts {
            const auto read = service.countsOf(*heat, at);
            if (!read)
                return std::nullopt;
            return Counts(std::in_place, read->begin(), read->end());
        },
        [this, key = m_wanted](Counts counts) {
            m_key = key;
            m_counts = std::move(counts);
            emit arrived();
        });
}

} // namespace deltascope::desktop
