#include "from_device/staged_reads.h"

#include <algorithm>

namespace deltascope {

namespace {

constexpr std::size_t PartBytes = std::size_t { 12 } << 20;

} // namespace

Result<void> StagedReads::open(DeviceQueue& queue)
{
    if (!m_places[0].empty())
        return {};
    void* pinned = nullptr;
    const Result<void> granted = queue.call(queue.module().allocateHost, std::uint64_t { 2 * PartBytes }, &pinned);
    if (!granted && granted.error().code != Code::NoSpace)
        return granted;
    if (!granted)
        m_pageable.resize(2 * PartBytes);
    const MutableByteSpan all(granted ? static_cast<std::byte*>(pinned) : m_pageable.data(), 2 * PartBytes);
    m_places = { all.first(PartBytes), all.subspan(PartBytes) };
    return {};
}

Result<void> StagedReads::read(DeviceQueue& queue, const std::vector<DeviceStretch>& stretches, const TakePart& take)
{
    struct Part {
        std::size_t stretch;
        std::uint64_t at, bytes;
    };
    std::vector<Part> parts;
    for (std::size_t i = 0; i < stretches.size(); ++i) {
        const std::uint64_t all = stretches[i].bytes;
        for (std::uint64_t at = 0; at < all; at += PartBytes)
            parts.push_back({ i, at, std::min<std::uint64_t>(PartBytes, all - at) });
    }
    DS_CHECK(open(queue));
    const auto fetch = [&](std::size_t n) {
        return queue.fetch(m_places[n % 2].first(parts[n].bytes), stretches[parts[n].stretch].address + parts[n].at);
    };
    if (!parts.empty())
        DS_CHECK(fetch(0));
    for (std::size_t n = 0; n < parts.size(); ++n) {
        DS_CHECK(queue.wait());
        if (n + 1 < parts.size())
            DS_CHECK(fetch(n + 1));
        DS_CHECK(take(parts[n].stretch, parts[n].at, m_places[n % 2].first(parts[n].bytes)));
    }
    return {};
}

} // namespace deltascope
