#pragma once

#include "deltascope/engine/object_store.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace deltascope {

/// A store of one object in memory, for readers that need nothing but read(). Remembers how far it was read.
class SingleObjectStore final : public ObjectStore {
public:
    SingleObjectStore(std::string key, ByteSpan bytes)
        : m_info { std::move(key), bytes.size(), "1", 0, false, {} }
        , m_bytes(bytes.begin(), bytes.end())
    {
    }

    const ObjectInfo& info() const noexcept { return m_info; }
    /// The end of the last byte that anybody asked for.
    std::uint64_t readUpTo() const noexcept { return m_readUpTo; }

    std::string uri() const override { return "memory:"; }
    StoreTraits traits() const noexcept override { return {}; }
    Result<ListPage> list(const ListRequest&, TaskContext&) const override { return ListPage { { m_info }, false }; }
    Result<ObjectInfo> stat(std::string_view key, TaskContext&) const override
    {
        if (key != m_info.key)
            return fail(Code::NotFound, "no such object", std::string(key));
        return m_info;
    }
    Result<void> read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out, TaskContext&) const override
    {
        const std::string_view key = object.key;
        if (key != m_info.key)
            return fail(Code::NotFound, "no such object", std::string(key));
        m_readUpTo = std::max<std::uint64_t>(m_readUpTo, offset + out.size());
        if (offset > m_bytes.size() || out.size() > m_bytes.size() - offset)
            return fail(Code::Truncated, "the object ends before the range that was asked for", std::string(key));
        std::copy_n(m_bytes.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
        return {};
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
    ObjectInfo m_info;
    std::vector<std::byte> m_bytes;
    mutable std::uint64_t m_readUpTo = 0;
};

} // namespace deltascope
