#pragma once

#include "deltascope/engine/object_store.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace deltascope {

/// A store in front of another one, for reading. Every question and every read goes on; nothing is written through it.
/// Decorators derive from it and override what they change: a call that ObjectStore gets is forwarded here, once.
class ReadOnlyStore : public ObjectStore {
public:
    explicit ReadOnlyStore(std::shared_ptr<const ObjectStore> below)
        : m_below(std::move(below))
    {
    }

    std::string uri() const override;
    StoreTraits traits() const noexcept override;
    Result<std::string> revision(TaskContext& task) const override;
    Result<ListPage> list(const ListRequest& request, TaskContext& task) const override;
    Result<ObjectInfo> stat(std::string_view key, TaskContext& task) const override;
    Result<void> read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                      TaskContext& task) const override;
    std::vector<Result<void>> readMany(const std::vector<RangeRead>& reads, TaskContext& task) const override;
    ReadsAhead readAhead(ComingReads reads, TaskContext& task) const override;
    ReadProof proofOf(const ObjectRef& object) const override;
    void forget(const ObjectRef& object) const override;
    Result<bool> hasEmptyFolder(std::string_view key, TaskContext& task) const override;
    Result<bool> leadsOutside(std::string_view key, TaskContext& task) const override;
    Result<std::unique_ptr<StoreWatch>> watch() const override;
    /// Errors: Internal.
    Result<ObjectInfo> put(std::string_view key, const Payload& bytes, PutMode mode, TaskContext& task) override;

protected:
    const ObjectStore& below() const noexcept { return *m_below; }

private:
    const std::shared_ptr<const ObjectStore> m_below;
};

/// A store in front of another one; everything goes on.
class ForwardingStore : public ReadOnlyStore {
public:
    explicit ForwardingStore(std::shared_ptr<ObjectStore> below)
        : ReadOnlyStore(below)
        , m_below(std::move(below))
    {
    }

    StoreTraits traits() const noexcept override;
    Result<ObjectInfo> put(std::string_view key, const Payload& bytes, PutMode mode, TaskContext& task) override;
    std::vector<Result<void>> remove(const std::vector<ObjectRef>& objects, TaskContext& task) override;
    Result<ObjectInfo> copy(const ObjectRef& from, std::string_view to, PutMode mode, TaskContext& task) override;
    Result<std::size_t> removeTemporaries(const std::function<bool(std::string_view folder)>& enters,
                                          TaskContext& task) override;
    Result<std::vector<StrandedUpload>> stranded(bool forget, TaskContext& task) override;

protected:
    ObjectStore& below() const noexcept { return *m_below; }

private:
    const std::shared_ptr<ObjectStore> m_below;
};

} // namespace deltascope
