#pragma once

#include "deltascope/engine/object_store.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace deltascope {

/// Objects in memory that the caller keeps alive, for readers that need nothing but read() and stat(). No copies, no
/// locks.
class FewObjectsStore final : public ObjectStore {
public:
    void add(std::string key, ByteSpan bytes)
    {
        m_infos.push_back(ObjectInfo { std::move(key), bytes.size(), "1", 0, false, {} });
        m_bytes.push_back(bytes);
    }
    /// In the order of add(), which must be that of the keys.
    const std::vector<ObjectInfo>& infos() const noexcept { return m_infos; }

    std::string uri() const override { return "memory:"; }
    StoreTraits traits() const noexcept override { return {}; }
    Result<ListPage> list(const ListRequest& request, TaskContext&) const override
    {
        ListPage page;
        std::copy_if(m_infos.begin(), m_infos.end(), std::back_inserter(page.objects),
                     [&](const ObjectInfo& info) { return info.key.starts_with(request.prefix); });
        return page;
    }
    Result<ObjectInfo> stat(std::string_view key, TaskContext&) const override
    {
        for (const ObjectInfo& info : m_infos) {
            if (info.key == key)
                return info;
        }
        return fail(Code::NotFound, "no such object", std::string(key));
    }
    Result<void> read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out, TaskContext&) const override
    {
        const std::string_view key = object.key;
        for (std::size_t i = 0; i < m_infos.size(); ++i) {
            if (m_infos[i].key != key)
                continue;
            if (offset > m_bytes[i].size() || out.size() > m_bytes[i].size() - offset)
                return fail(Code::Truncated, "the object ends before the range that was asked for", std::string(key));
            std::copy_n(m_bytes[i].begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
            return {};
        }
        return fail(Code::NotFound, "no such object", std::string(key));
    }
    Result<ObjectInfo> put(std::string_view key, const Payload&, PutMode, TaskContext&) override
    {
        return fail(Code::Unsupported, "this store is read-only", std::string(key));
    }
    Result<std::unique_ptr<StoreWatch>> watch() const override
    {
        return fail(Code::Unsupported, "this store never changes");
    }

private:
    std::vector<ObjectInfo> m_infos;
    std::vector<ByteSpan> m_bytes;
};

} // namespace deltascope
