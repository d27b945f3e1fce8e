#pragma once

#include "deltascope/engine/object_store.h"
#include "format/common/spool_file.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace deltascope {

/// A header, known in the end but for its length, and behind it a range of a spool file that fills up. Any thread.
class GrowingPayload final : public Payload {
public:
    GrowingPayload(const SpoolFile& spool, const SpoolRange& data, std::uint64_t headerBytes)
        : m_spool(spool)
        , m_data(data)
        , m_headerBytes(headerBytes)
    {
    }

    std::uint64_t headerBytes() const noexcept { return m_headerBytes; }
    /// Bytes that are in the spool file now. No byte is added twice, unless this was given up.
    void add(const SpoolRange& range);
    /// `header`: as long as it was said to be.
    void end(std::string header);
    /// It will never be whole.
    void giveUp();

    std::uint64_t sizeBytes() const noexcept override { return m_headerBytes + m_data.bytes; }
    Result<std::size_t> read(std::uint64_t offset, MutableByteSpan out) const override;
    Result<void> await(std::uint64_t offset, std::uint64_t bytes, TaskContext& task) const override;

private:
    bool isThere(std::uint64_t offset, std::uint64_t bytes) const;

    const SpoolFile& m_spool;
    const SpoolRange m_data;
    const std::uint64_t m_headerBytes;
    mutable std::mutex m_mutex; ///< guards what follows
    mutable std::condition_variable m_changed;
    std::map<std::uint64_t, std::uint64_t> m_added; ///< begin to end, in the spool file; none touch
    std::optional<std::string> m_header;
    bool m_isGivenUp = false;
};

/// Puts an object, if there is none of its key, while it is still being made. Belongs to a thread; added() may be
/// called from any.
class StreamedPut {
public:
    /// `store` and `spool` must outlive it. `data`: what stands behind the header.
    StreamedPut(ObjectStore& store, std::string key, const SpoolFile& spool, const SpoolRange& data,
                std::uint64_t headerBytes);
    /// Gives up a put that was not finished: nothing of it is seen in the store.
    ~StreamedPut();

    /// These bytes are in the spool file, for good. Errors: those that the put has ended with.
    Result<void> added(const SpoolRange& range);
    /// Bytes that were added are not what they will be.
    void giveUp();
    /// Whether it was not given up and can end with this header.
    bool fits(const std::string& header) const noexcept
    {
        return !m_isGivenUp && header.size() == m_payload.headerBytes();
    }
    /// All bytes were added; `header` is what stands before them and fits(). Waits for the put. Errors: its own,
    /// Canceled.
    Result<ObjectInfo> finish(std::string header, TaskContext& task);

private:
    GrowingPayload m_payload;
    TaskContext m_task; ///< of the put
    std::atomic<bool> m_isGivenUp = false;
    std::mutex m_mutex; ///< guards m_outcome
    std::condition_variable m_ended;
    std::optional<Result<ObjectInfo>> m_outcome;
    std::jthread m_thread; ///< last: it uses everything above
};

} // namespace deltascope
