#include "beside/lease/lease_watch.h"

#include <algorithm>
#include <fmt/chrono.h>
#include <fmt/format.h>

namespace deltascope {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr milliseconds LongestLook { 1000 };
constexpr int LooksPerLife = 20;

microseconds monotonic()
{
    return std::chrono::duration_cast<microseconds>(std::chrono::steady_clock::now().time_since_epoch());
}

std::string lifeText(milliseconds life)
{
    if (life >= std::chrono::minutes(1) && life % std::chrono::minutes(1) == milliseconds(0))
        return fmt::format("{} minutes", life / std::chrono::minutes(1));
    return fmt::format("{} seconds", static_cast<double>(life.count()) / 1000);
}

std::string sinceText(std::int64_t us)
{
    return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(us / 1'000'000)));
}

}

Result<bool> watchLease(const ObjectStore& store, std::int64_t number, const std::function<std::int64_t()>& nowUs,
                        const LeaseTerms& terms, TaskContext& task)
{
    const auto clock = [&] { return terms.clock ? terms.clock() : monotonic(); };
    const std::string key = leaseKey(number);
    const microseconds began = clock();
    const Result<ObjectInfo> first = store.stat(key, task);
    const Result<std::optional<LeaseHolder>> holder = readLease(store, number, task);
    if (!first && first.error().code != Code::NotFound)
        return fail(first.error());
    if (!holder && holder.error().code != Code::NotFound)
        return fail(holder.error());
    if (!first || !holder || !*holder || (*holder)->released)
        return false;
    const std::string since = sinceText(nowUs());
    const std::string wait = fmt::format("{} holds the lease of this run and may still be at work: watching since {}",
                                         (*holder)->text(), since);
    const std::string remedy =
        fmt::format("it counts as dead once its lease has not changed for {}; if you know that it has ended, remove {}",
                    lifeText(terms.life), key);
    task.beginPhase(fmt::format("waiting for {} since {:%H:%M:%S} UTC, at most {}", (*holder)->text(),
                                fmt::gmtime(static_cast<std::time_t>(nowUs() / 1'000'000)), lifeText(terms.life)),
                    0);
    if (terms.onWaiting)
        terms.onWaiting(wait + "; " + remedy);
    DS_TRY(const std::unique_ptr<StoreWatch> changes, store.watch());
    for (;;) {
        DS_TRY(const std::int64_t newest, newestLease(store, task));
        const Result<ObjectInfo> now = store.stat(key, task);
        if (!now && now.error().code != Code::NotFound)
            return fail(now.error());
        if (newest != number || !now)
            return false;
        if (now->identity != first->identity) {
            DS_TRY(const std::optional<LeaseHolder> later, readLease(store, number, task));
            if (!later || later->released)
                return false;
            return fail(Code::Exists,
                        fmt::format("{} publishes into this run: it has renewed its lease, which was watched since {}",
                                    later->text(), since),
                        store.uri(), "stop the other publisher or wait until it ends, then start again");
        }
        if (clock() - began >= terms.life)
            return true;
        Result<bool> changed = changes->wait(std::min(LongestLook, terms.life / LooksPerLife), task);
        if (!changed && changed.error().code == Code::Canceled)
            return fail(Code::Canceled, "stopped while waiting: " + wait, store.uri(), remedy);
        if (!changed)
            return fail(std::move(changed.error()));
    }
}

} // namespace deltascope
