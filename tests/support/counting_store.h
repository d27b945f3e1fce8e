#pragma once

#include "support/forwarding_store.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace deltascope::test {

/// A store in front of another one that takes down what is asked of it. Any thread.
class CountingStore final : public ForwardingStore {
public:
    struct Read {
        std::string key;
        std::uint64_t offset = 0;
        std::uint64_t bytes = 0;
        bool isBound = false; ///< to an identity
    };

    explicit CountingStore(std::shared_ptr<ObjectStore> inner)
        : ForwardingStore(std::move(inner))
    {
    }

    Result<ListPage> list(const ListRequest& request, TaskContext& task) const override
    {
        ++m_lists;
        return inner().list(request, task);
    }
    Result<ObjectInfo> stat(std::string_view key, TaskContext& task) const override
    {
        ++m_stats;
        return inner().stat(key, task);
    }
    Result<void> read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                      TaskContext& task) const override
    {
        note({ object, offset, out });
        return inner().read(object, offset, out, task);
    }
    std::vector<Result<void>> readMany(const std::vector<RangeRead>& reads, TaskContext& task) const override
    {
        ++m_batches;
        for (const RangeRead& wanted : reads)
            note(wanted);
        return inner().readMany(reads, task);
    }

    std::vector<Result<void>> remove(const std::vector<ObjectRef>& objects, TaskContext& task) override
    {
        ++m_removals;
        return inner().remove(objects, task);
    }

    std::uint64_t removals() const { return m_removals; } ///< requests, of one object or many
    std::uint64_t lists() const { return m_lists; }
    std::uint64_t stats() const { return m_stats; }
    std::uint64_t batches() const { return m_batches; }
    std::vector<Read> reads() const
    {
        const std::lock_guard lock(m_mutex);
        return m_reads;
    }
    std::map<std::string, std::uint64_t> bytesOfKeys() const
    {
        std::map<std::string, std::uint64_t> bytes;
        for (const Read& read : reads())
            bytes[read.key] += read.bytes;
        return bytes;
    }
    void clear()
    {
        const std::lock_guard lock(m_mutex);
        m_reads.clear();
        m_lists = m_stats = m_batches = m_removals = 0;
    }

private:
    void note(const RangeRead& wanted) const
    {
        const std::lock_guard lock(m_mutex);
        m_reads.push_back(
            { std::string(wanted.object.key), wanted.offset, wanted.out.size(), !wanted.object.identity.empty() });
    }

    mutable std::atomic<std::uint64_t> m_lists = 0, m_stats = 0, m_batches = 0, m_removals = 0;
    mutable std::mutex m_mutex;
    mutable std::vector<Read> m_reads;
};

} // namespace deltascope::test
