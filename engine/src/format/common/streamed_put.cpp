#include "format/common/streamed_put.h"

#include "deltascope/base/threads.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace deltascope {

namespace {

constexpr auto LookForStop = std::chrono::milliseconds(50); // a task tells nobody that it is to stop

}

void GrowingPayload::add(const SpoolRange& range)
{
    const std::lock_guard lock(m_mutex);
    std::uint64_t begin = range.offset;
    std::uint64_t end = range.offset + range.bytes;
    auto next = m_added.lower_bound(begin);
    if (next != m_added.end() && next->first == end) {
        end = next->second;
        next = m_added.erase(next);
    }
    if (next != m_added.begin() && std::prev(next)->second == begin)
        begin = std::prev(next)->first;
    m_added.insert_or_assign(begin, end);
    m_changed.notify_all();
}

void GrowingPayload::end(std::string header)
{
    const std::lock_guard lock(m_mutex);
    m_header = std::move(header);
    m_changed.notify_all();
}

void GrowingPayload::giveUp()
{
    const std::lock_guard lock(m_mutex);
    m_isGivenUp = true;
    m_changed.notify_all();
}

bool GrowingPayload::isThere(std::uint64_t offset, std::uint64_t bytes) const
{
    if (offset < m_headerBytes && !m_header)
        return false;
    const std::uint64_t begin = m_data.offset + (std::max(offset, m_headerBytes) - m_headerBytes);
    const std::uint64_t end = m_data.offset + (std::max(offset + bytes, m_headerBytes) - m_headerBytes);
    if (begin == end)
        return true;
    const auto behind = m_added.upper_bound(begin);
    return behind != m_added.begin() && std::prev(behind)->second >= end;
}

Result<void> GrowingPayload::await(std::uint64_t offset, std::uint64_t bytes, TaskContext& task) const
{
    std::unique_lock lock(m_mutex);
    while (!isThere(offset, bytes)) {
        if (m_isGivenUp)
            return fail(Code::Canceled, "stopped on request");
        DS_CHECK(task.going());
        m_changed.wait_for(lock, LookForStop);
    }
    return {};
}

Result<std::size_t> GrowingPayload::read(std::uint64_t offset, MutableByteSpan out) const
{
    if (offset >= sizeBytes())
        return std::size_t { 0 };
    const std::size_t count = std::min<std::uint64_t>(out.size(), sizeBytes() - offset);
    std::size_t done = 0;
    if (offset < m_headerBytes) {
        const std::lock_guard lock(m_mutex);
        done = std::min<std::uint64_t>(count, m_headerBytes - offset);
        std::memcpy(out.data(), m_header.value().data() + offset, done);
    }
    if (done < count)
        DS_CHECK(m_spool.read(m_data.offset + (offset + done - m_headerBytes), out.subspan(done, count - done)));
    return count;
}

StreamedPut::StreamedPut(ObjectStore& store, std::string key, const SpoolFile& spool, const SpoolRange& data,
                         std::uint64_t headerBytes)
    : m_payload(spool, data, headerBytes)
{
    Result<std::jthread> thread = startThread([this, &store, key = std::move(key)] {
        Result<ObjectInfo> outcome = caught([&] { return store.put(key, m_payload, PutMode::IfAbsent, m_task); });
        const std::lock_guard lock(m_mutex);
        m_outcome = std::move(outcome);
        m_ended.notify_all();
    });
    if (thread) {
        m_thread = std::move(*thread);
        return;
    }
    const std::lock_guard lock(m_mutex);
    m_outcome = fail(std::move(thread.error()));
}

StreamedPut::~StreamedPut() { giveUp(); }

void StreamedPut::giveUp()
{
    m_isGivenUp = true;
    m_payload.giveUp();
    m_task.requestStop();
}

Result<void> StreamedPut::added(const SpoolRange& range)
{
    m_payload.add(range);
    const std::lock_guard lock(m_mutex);
    const bool hasFailed = m_outcome && !*m_outcome && !m_isGivenUp; // one that was given up has not failed
    return hasFailed ? Result<void>(fail(m_outcome->error())) : Result<void>();
}

Result<ObjectInfo> StreamedPut::finish(std::string header, TaskContext& task)
{
    m_payload.end(std::move(header));
    std::unique_lock lock(m_mutex);
    while (!m_outcome) {
        if (!task.going())
            m_task.requestStop();
        m_ended.wait_for(lock, LookForStop);
    }
    return *m_outcome;
}

} // namespace deltascope
