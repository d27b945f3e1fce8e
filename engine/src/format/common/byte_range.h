#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/engine/object_store.h"

#include <cstdint>
#include <string>

namespace deltascope {

/// Bytes that can be read from anywhere: an object, or what was unpacked from one. Any thread.
class ByteRange {
public:
    virtual ~ByteRange() = default;
    /// The object that errors name.
    virtual const std::string& key() const noexcept = 0;
    /// Fills all of `out` from `offset`. Errors: those of ObjectStore::read and of the disk.
    virtual Result<void> read(std::uint64_t offset, MutableByteSpan out) const = 0;
};

/// An object as it is. The store, and the task that its reads belong to, must outlive this.
class ObjectRange final : public ByteRange {
public:
    ObjectRange(const ObjectStore& store, std::string key, TaskContext& task)
        : m_store(&store)
        , m_task(&task)
        , m_key(std::move(key))
    {
    }
    const std::string& key() const noexcept override { return m_key; }
    Result<void> read(std::uint64_t offset, MutableByteSpan out) const override
    {
        return m_store->read(m_key, offset, out, *m_task);
    }

private:
    const ObjectStore* m_store;
    TaskContext* m_task;
    std::string m_key;
};

} // namespace deltascope
