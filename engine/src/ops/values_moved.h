#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/engine/backend.h"
#include "deltascope/engine/statistics.h"

#include <memory>

namespace deltascope {

/// Collects how two states differ, in one pass.
class MovedCollector {
public:
    /// Null for types without numbers.
    static std::unique_ptr<MovedCollector> of(Dtype dtype, const Backend& backend);
    virtual ~MovedCollector() = default;
    /// Equally long stretches at the same place.
    virtual void add(ByteSpan a, ByteSpan b) = 0;
    virtual ValuesMoved moved() const = 0;
};

} // namespace deltascope
