#include "store/listed_store.h"

namespace deltascope {

void ListedStore::add(const std::vector<ObjectInfo>& objects)
{
    for (const ObjectInfo& object : objects)
        m_objects.insert_or_assign(object.key, object);
}

const ObjectInfo* ListedStore::meant(const ObjectRef& object) const
{
    const auto listed = m_objects.find(object.key);
    if (listed == m_objects.end() || (!object.identity.empty() && object.identity != listed->second.identity))
        return nullptr;
    const std::lock_guard lock(m_mutex);
    return m_replaced.contains(object.key) ? nullptr : &listed->second;
}

void ListedStore::noteReplaced(std::string_view key) const
{
    const std::lock_guard lock(m_mutex);
    m_replaced.emplace(key);
}

Result<ObjectInfo> ListedStore::stat(std::string_view key, TaskContext& task) const
{
    const ObjectInfo* const listed = meant(key);
    return listed ? *listed : below().stat(key, task);
}

Result<void> ListedStore::read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                               TaskContext& task) const
{
    const ObjectInfo* const listed = meant(object);
    if (!listed)
        return below().read(object, offset, out, task);
    Result<void> outcome = below().read(*listed, offset, out, task);
    if (outcome || outcome.error().code != Code::Rewritten)
        return outcome;
    noteReplaced(object.key);
    return object.identity.empty() ? below().read(object, offset, out, task) : std::move(outcome);
}

std::vector<Result<void>> ListedStore::readMany(const std::vector<RangeRead>& reads, TaskContext& task) const
{
    std::vector<RangeRead> bound = reads;
    for (RangeRead& wanted : bound) {
        if (const ObjectInfo* const listed = meant(wanted.object))
            wanted.object = *listed;
    }
    std::vector<Result<void>> outcomes = below().readMany(bound, task);
    for (std::size_t i = 0; i < reads.size(); ++i) {
        const bool isReplaced = !outcomes[i] && outcomes[i].error().code == Code::Rewritten && meant(reads[i].object);
        if (!isReplaced)
            continue;
        noteReplaced(reads[i].object.key);
        if (reads[i].object.identity.empty())
            outcomes[i] = below().read(reads[i].object, reads[i].offset, reads[i].out, task);
    }
    return outcomes;
}

} // namespace deltascope
