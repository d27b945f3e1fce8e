#pragma once

#include "deltascope/engine/forwarding_store.h"

#include <memory>
#include <utility>
#include <vector>

namespace deltascope::test {

/// A store in front of another one that passes everything on: for stores that do one thing differently.
class ForwardingStore : public deltascope::ForwardingStore {
public:
    explicit ForwardingStore(std::shared_ptr<ObjectStore> inner)
        : deltascope::ForwardingStore(std::move(inner))
    {
    }

    /// Reads cost nothing, so that none is merged with what lies nearby: each can be counted, stopped and spoiled.
    StoreTraits traits() const noexcept override
    {
        StoreTraits traits = deltascope::ForwardingStore::traits();
        traits.requestBytes = 0;
        return traits;
    }
    /// One by one, for the same reason.
    std::vector<Result<void>> readMany(const std::vector<RangeRead>& reads, TaskContext& task) const override
    {
        return ObjectStore::readMany(reads, task);
    }

protected:
    ObjectStore& inner() const noexcept { return below(); }
};

} // namespace deltascope::test
