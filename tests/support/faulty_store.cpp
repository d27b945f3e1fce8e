#include "support/faulty_store.h"

namespace deltascope::test {

FaultyStore::FaultyStore(std::shared_ptr<ObjectStore> inner)
    : ForwardingStore(std::move(inner))
{
}

FaultyStore::FaultyStore(ObjectStore& inner)
    : ForwardingStore(std::shared_ptr<ObjectStore>(std::shared_ptr<ObjectStore>(), &inner))
{
}

void FaultyStore::failNth(StoreOperation operation, std::uint64_t nth, Error error, Repeat repeat)
{
    m_plan.failNth(operation, nth, std::move(error), repeat);
}

void FaultyStore::flipBit(std::string_view key, std::uint64_t offset, unsigned bit)
{
    const std::lock_guard lock(m_mutex);
    m_flips.push_back(Flip { std::string(key), offset, bit });
}

void FaultyStore::dropTailAfter(std::size_t keys)
{
    const std::lock_guard lock(m_mutex);
    m_keptKeys = keys;
}

void FaultyStore::clearFaults()
{
    m_plan.clearFaults();
    const std::lock_guard lock(m_mutex);
    m_flips.clear();
    m_keptKeys.reset();
}

std::uint64_t FaultyStore::bytesRead() const
{
    const std::lock_guard lock(m_mutex);
    return m_bytesRead;
}

Result<ListPage> FaultyStore::list(const ListRequest& request, TaskContext& task) const
{
    DS_CHECK(m_plan.enter(StoreOperation::List));
    DS_TRY(ListPage page, inner().list(request, task));
    const std::lock_guard lock(m_mutex);
    if (m_keptKeys && page.objects.size() > *m_keptKeys) {
        page.objects.resize(*m_keptKeys);
        page.more = false;
    }
    return page;
}

Result<ObjectInfo> FaultyStore::stat(std::string_view key, TaskContext& task) const
{
    DS_CHECK(m_plan.enter(StoreOperation::Stat));
    return inner().stat(key, task);
}

Result<void> FaultyStore::read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                               TaskContext& task) const
{
    DS_CHECK(m_plan.enter(StoreOperation::Read));
    DS_CHECK(inner().read(object, offset, out, task));
    const std::lock_guard lock(m_mutex);
    m_bytesRead += out.size();
    for (const Flip& flip : m_flips) {
        if (flip.key == object.key && flip.offset >= offset && flip.offset - offset < out.size())
            out[flip.offset - offset] ^= std::byte { 1 } << (flip.bit & 7U);
    }
    return {};
}

Result<ObjectInfo> FaultyStore::put(std::string_view key, const Payload& bytes, PutMode mode, TaskContext& task)
{
    DS_CHECK(m_plan.enter(StoreOperation::Put));
    return inner().put(key, bytes, mode, task);
}

Result<std::unique_ptr<StoreWatch>> FaultyStore::watch() const
{
    DS_CHECK(m_plan.enter(StoreOperation::Watch));
    return inner().watch();
}

std::vector<Result<void>> FaultyStore::remove(const std::vector<ObjectRef>& objects, TaskContext& task)
{
    if (const Result<void> going = m_plan.enter(StoreOperation::Remove); !going)
        return std::vector<Result<void>>(objects.size(), going);
    return inner().remove(objects, task);
}

} // namespace deltascope::test
