#include "store/nearby_store.h"

#include <algorithm>

namespace deltascope {

NearbyStore::NearbyStore(std::shared_ptr<const ObjectStore> inner)
    : ReadOnlyStore(std::move(inner))
    , m_stretchBytes(below().traits().keepsReads ? 0 : below().traits().requestBytes) // else it does so itself
{
}

void NearbyStore::add(const std::vector<ObjectInfo>& objects)
{
    for (const ObjectInfo& object : objects) {
        if ((m_kept.size() + 1) * Stretches * m_stretchBytes > MostBytes)
            return;
        auto kept = std::make_unique<Kept>();
        kept->sizeBytes = object.sizeBytes;
        m_kept.insert_or_assign(object.key, std::move(kept));
    }
}

Result<void> NearbyStore::read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                               TaskContext& task) const
{
    const auto found = m_kept.find(object.key);
    if (found == m_kept.end() || !object.identity.empty() || out.size() >= m_stretchBytes)
        return below().read(object, offset, out, task);
    Kept& kept = *found->second;
    if (kept.give(offset, out))
        return {};
    const std::uint64_t end = std::min(offset + m_stretchBytes, kept.sizeBytes);
    if (offset >= end || end - offset <= out.size())
        return below().read(object, offset, out, task);
    std::vector<std::byte> bytes(end - offset);
    if (!below().read(object, offset, bytes, task)) // what lies behind may be at fault
        return below().read(object, offset, out, task);
    std::copy_n(bytes.begin(), out.size(), out.begin());
    kept.take(offset, std::move(bytes));
    return {};
}

bool NearbyStore::Kept::give(std::uint64_t offset, MutableByteSpan out)
{
    const std::lock_guard lock(mutex);
    for (Stretch& stretch : stretches) {
        if (!stretch.holds(offset, out.size()))
            continue;
        std::copy_n(stretch.bytes.begin() + static_cast<std::ptrdiff_t>(offset - stretch.begin), out.size(),
                    out.begin());
        stretch.usedAt = ++uses;
        return true;
    }
    return false;
}

void NearbyStore::Kept::take(std::uint64_t begin, std::vector<std::byte> bytes)
{
    const std::lock_guard lock(mutex);
    Stretch& oldest = *std::min_element(stretches.begin(), stretches.end(),
                                        [](const Stretch& a, const Stretch& b) { return a.usedAt < b.usedAt; });
    oldest = Stretch { begin, std::move(bytes), ++uses };
}

} // namespace deltascope
