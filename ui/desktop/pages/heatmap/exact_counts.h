#pragma once

#include "bridge/calculation.h"
#include "heat/heat_plan.h"

#include <QObject>
#include <QTimer>

#include <unordered_map>

namespace deltascope::desktop {

/// How many elements of each tensor changed in one column, exactly: the codes of cells are rounded. Read off the GUI
/// thread once somebody rests on a column. GUI thread.
class ExactCounts final : public QObject {
    Q_OBJECT

public:
    explicit ExactCounts(app::Service& service, QObject* parent = nullptr);

    /// What is known now; asks for the rest. Nothing: not known (yet).
    std::optional<std::uint64_t> changed(const HeatPlanPointer& plan, int row, int column);

signals:
    void arrived();

private:
    using Counts = std::optional<std::unordered_map<std::string, std::uint64_t>>;
    struct Key {
        std::string catalog;
        std::string chain; ///< of the column

        bool operator==(const Key&) const = default;
    };
    void ask();

    app::Service& m_service;
    Calculation<Counts> m_reading;
    QTimer m_rest;
    HeatPlanPointer m_plan; ///< has the column that is wanted
    int m_column = -1;
    Key m_wanted;
    Key m_key; ///< of m_counts
    Counts m_counts;
};

} // namespace deltascope::desktop
