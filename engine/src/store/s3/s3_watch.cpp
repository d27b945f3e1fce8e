#include "s3_watch.h"

#include "../../hash/hashers.h"
#include "s3_listing.h"

#include <algorithm>
#include <fmt/format.h>
#include <thread>

namespace deltascope::s3 {

namespace {

using WatchClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds ListingPeriod { 2000 };
constexpr std::chrono::milliseconds WatchSlice { 50 }; // a stop request is seen after at most this

} // namespace

Result<void> ListingWatch::start(TaskContext& task)
{
    DS_TRY(const Digest128 seen, digestOfListing(task));
    m_seen = seen;
    return {};
}

Result<bool> ListingWatch::wait(std::chrono::milliseconds timeout, TaskContext& task)
{
    const auto start = WatchClock::now();
    const auto passed = [&] {
        return std::chrono::duration_cast<std::chrono::milliseconds>(WatchClock::now() - start);
    };
    for (;;) {
        DS_TRY(const bool changed, hasChanged(task));
        if (changed)
            return true;
        const auto listed = WatchClock::now();
        while (WatchClock::now() - listed < ListingPeriod) {
            DS_CHECK(task.checkpoint());
            const auto gone = passed();
            if (gone >= timeout)
                return false;
            std::this_thread::sleep_for(std::min(WatchSlice, timeout - gone));
        }
    }
}

Result<bool> ListingWatch::hasChanged(TaskContext& task)
{
    const Result<Digest128> now = digestOfListing(task);
    if (!now && now.error().code == Code::Transient)
        return false;
    DS_CHECK(now);
    return *now != std::exchange(m_seen, *now);
}

Result<Digest128> ListingWatch::digestOfListing(TaskContext& task) const
{
    Xxh3Hasher hasher;
    for (ListRequest request;;) {
        DS_CHECK(task.checkpoint());
        DS_TRY(const ListPage page, listBucket(*m_client, request, task));
        for (const ObjectInfo& object : page.objects)
            hasher.update(asBytes(
                fmt::format("{}\n{}\n{}\n{}\n", object.key, object.identity, object.sizeBytes, object.modifiedUs)));
        if (!page.more)
            return hasher.digest();
        request.startAfter = page.objects.back().key;
    }
}

} // namespace deltascope::s3
