#include "deltascope/engine/forwarding_store.h"

namespace deltascope {

std::string ReadOnlyStore::uri() const { return m_below->uri(); }

StoreTraits ReadOnlyStore::traits() const noexcept
{
    StoreTraits traits = m_below->traits();
    traits.removes = false;
    traits.copies = false;
    return traits;
}

Result<std::string> ReadOnlyStore::revision(TaskContext& task) const { return m_below->revision(task); }

Result<ListPage> ReadOnlyStore::list(const ListRequest& request, TaskContext& task) const
{
    return m_below->list(request, task);
}

Result<ObjectInfo> ReadOnlyStore::stat(std::string_view key, TaskContext& task) const
{
    return m_below->stat(key, task);
}

Result<void> ReadOnlyStore::read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                                 TaskContext& task) const
{
    return m_below->read(object, offset, out, task);
}

std::vector<Result<void>> ReadOnlyStore::readMany(const std::vector<RangeRead>& reads, TaskContext& task) const
{
    return m_below->readMany(reads, task);
}

ReadsAhead ReadOnlyStore::readAhead(ComingReads reads, TaskContext& task) const
{
    return m_below->readAhead(std::move(reads), task);
}

ReadProof ReadOnlyStore::proofOf(const ObjectRef& object) const { return m_below->proofOf(object); }

void ReadOnlyStore::forget(const ObjectRef& object) const { m_below->forget(object); }

Result<bool> ReadOnlyStore::hasEmptyFolder(std::string_view key, TaskContext& task) const
{
    return m_below->hasEmptyFolder(key, task);
}

Result<bool> ReadOnlyStore::leadsOutside(std::string_view key, TaskContext& task) const
{
    return m_below->leadsOutside(key, task);
}

Result<std::unique_ptr<StoreWatch>> ReadOnlyStore::watch() const { return m_below->watch(); }

Result<ObjectInfo> ReadOnlyStore::put(std::string_view key, const Payload&, PutMode, TaskContext&)
{
    return fail(Code::Internal, "this store is for reading", std::string(key));
}

StoreTraits ForwardingStore::traits() const noexcept { return m_below->traits(); }

Result<ObjectInfo> ForwardingStore::put(std::string_view key, const Payload& bytes, PutMode mode, TaskContext& task)
{
    return m_below->put(key, bytes, mode, task);
}

std::vector<Result<void>> ForwardingStore::remove(const std::vector<ObjectRef>& objects, TaskContext& task)
{
    return m_below->remove(objects, task);
}

Result<ObjectInfo> ForwardingStore::copy(const ObjectRef& from, std::string_view to, PutMode mode, TaskContext& task)
{
    return m_below->copy(from, to, mode, task);
}

Result<std::size_t> ForwardingStore::removeTemporaries(const std::function<bool(std::string_view folder)>& enters,
                                                       TaskContext& task)
{
    return m_below->removeTemporaries(enters, task);
}

Result<std::vector<StrandedUpload>> ForwardingStore::stranded(bool forget, TaskContext& task)
{
    return m_below->stranded(forget, task);
}

} // namespace deltascope
