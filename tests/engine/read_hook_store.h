#pragma once

#include "support/forwarding_store.h"

#include <functional>

namespace deltascope::layout_test {

/// Calls `onRead` before each read.
class ReadHookStore final : public test::ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;
    std::function<void(std::string_view key, std::uint64_t offset)> onRead;

    Result<void> read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                      TaskContext& task) const override
    {
        if (onRead)
            onRead(object.key, offset);
        return ForwardingStore::read(object, offset, out, task);
    }
};

} // namespace deltascope::layout_test
