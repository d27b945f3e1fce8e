#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/engine/backend.h"
#include "deltascope/engine/statistics.h"
#include "histogram_bins.h"

#include <memory>

namespace deltascope {

/// Collects the values of one state. It is shown all elements from front to back, as often as statisticsPasses() says.
class ValueCollector {
public:
    /// Null for types without numbers. `backend` outlives it.
    static std::unique_ptr<ValueCollector> of(Dtype dtype, const Backend& backend);
    virtual ~ValueCollector() = default;

    virtual void add(ByteSpan elements) = 0;
    virtual void endPass() = 0;
    /// Asks for a histogram. After the first pass and before the second.
    virtual void setEdges(const std::vector<double>& edges) = 0;

    /// Complete after the last pass; least and largest value after the first.
    virtual ValueStatistics statistics() const = 0;
    virtual std::vector<std::uint64_t> linear() const = 0; ///< after the last pass; in the bins that were asked for
    virtual const PowerCounts& powers() const = 0; ///< after the first pass
};

} // namespace deltascope
