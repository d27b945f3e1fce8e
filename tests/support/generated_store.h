#pragma once

#include "deltascope/engine/object_store.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

namespace deltascope::test {

/// Large objects that take no room: each byte is made from its place and the key. Read-only.
class GeneratedStore final : public ObjectStore {
public:
    /// Before the first read.
    ObjectInfo add(const std::string& key, std::uint64_t sizeBytes, std::string contentHash = {})
    {
        ObjectInfo object { key, sizeBytes, "id-" + key, 1, false, std::move(contentHash) };
        m_objects[key] = object;
        return object;
    }

    /// What stands in an object at `offset`.
    static void fill(std::string_view key, std::uint64_t offset, MutableByteSpan out) noexcept
    {
        std::uint64_t seed = 0xcbf2'9ce4'8422'2325;
        for (const char letter : key)
            seed = (seed ^ static_cast<unsigned char>(letter)) * 0x100'0000'01b3;
        for (std::size_t done = 0; done < out.size();) {
            const std::uint64_t at = offset + done;
            const std::uint64_t mixed = (seed ^ (at / 8)) * 0x9e37'79b9'7f4a'7c15;
            const std::uint64_t word = mixed ^ (mixed >> 31);
            const std::size_t count = std::min<std::size_t>(8 - at % 8, out.size() - done);
            std::memcpy(out.data() + done, reinterpret_cast<const std::byte*>(&word) + at % 8, count);
            done += count;
        }
    }

    std::string uri() const override { return "generated:///"; }
    StoreTraits traits() const noexcept override { return {}; }
    Result<ListPage> list(const ListRequest&, TaskContext&) const override
    {
        ListPage page;
        for (const auto& [key, object] : m_objects)
            page.objects.push_back(object);
        return page;
    }
    Result<ObjectInfo> stat(std::string_view key, TaskContext&) const override
    {
        const auto found = m_objects.find(key);
        return found == m_objects.end() ? Result<ObjectInfo>(fail(Code::NotFound, "no such object", std::string(key)))
                                        : found->second;
    }
    Result<void> read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                      TaskContext& task) const override
    {
        DS_CHECK(task.checkpoint());
        const auto found = m_objects.find(object.key);
        if (found == m_objects.end())
            return fail(Code::NotFound, "no such object", std::string(object.key));
        if (offset > found->second.sizeBytes || out.size() > found->second.sizeBytes - offset)
            return fail(Code::Truncated, "the object ends before", std::string(object.key));
        fill(object.key, offset, out);
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
    std::map<std::string, ObjectInfo, std::less<>> m_objects;
};

} // namespace deltascope::test
