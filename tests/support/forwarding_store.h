#pragma once

#include "deltascope/engine/object_store.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace deltascope::test {

/// A store in front of another one that passes everything on: for stores that do one thing differently.
class ForwardingStore : public ObjectStore {
public:
    explicit ForwardingStore(std::shared_ptr<ObjectStore> inner)
        : m_inner(std::move(inner))
    {
    }

    std::string uri() const override { return m_inner->uri(); }
    /// Reads cost nothing, so that none is merged with what lies nearby: each can be counted, stopped and spoiled.
    StoreTraits traits() const noexcept override
    {
        StoreTraits traits = m_inner->traits();
        traits.requestBytes = 0;
        return traits;
    }
    Result<ListPage> list(const ListRequest& request, TaskContext& task) const override
    {
        return m_inner->list(request, task);
    }
    Result<ObjectInfo> stat(std::string_view key, TaskContext& task) const override { return m_inner->stat(key, task); }
    Result<void> read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                      TaskContext& task) const override
    {
        return m_inner->read(object, offset, out, task);
    }
    Result<bool> hasEmptyFolder(std::string_view key, TaskContext& task) const override
    {
        return m_inner->hasEmptyFolder(key, task);
    }
    Result<ObjectInfo> put(std::string_view key, const Payload& bytes, PutMode mode, TaskContext& task) override
    {
        return m_inner->put(key, bytes, mode, task);
    }
    Result<std::unique_ptr<StoreWatch>> watch() const override { return m_inner->watch(); }
    StoreCleanup* cleanup() noexcept override { return m_inner->cleanup(); }

protected:
    ObjectStore& inner() const noexcept { return *m_inner; }

private:
    std::shared_ptr<ObjectStore> m_inner;
};

} // namespace deltascope::test
