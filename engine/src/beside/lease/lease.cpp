#include "beside/lease/lease.h"

#include "deltascope/base/threads.h"
#include "deltascope/engine/beside_keys.h"

#include "base/grace.h"
#include "base/task_mutex.h"
#include "beside/lease/lease_holder.h"
#include "beside/lease/lease_watch.h"
#include "beside/trace/trace_json.h"

#include <condition_variable>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>

namespace deltascope {

namespace {

constexpr int RenewalsPerLife = 20;
constexpr int MostLooks = 100;

tl::unexpected<Error> heldBy(const std::string& who, const std::string& where)
{
    return fail(Code::Exists, who + " publishes into this run", where,
                "stop the other publisher or wait until it ends, then start again");
}

std::string newNonce()
{
    std::random_device random;
    return fmt::format("{:08x}{:08x}", random(), random());
}

/// Who holds the lease is the only one who writes versions, leases and the spans of this actor. Best effort: what stays
/// is cleaned by the next one.
void cleanBehind(ObjectStore& store, std::int64_t number, const std::string& actor, TaskContext& task)
{
    std::vector<std::string> leases;
    for (const std::int64_t older : leasesBelow(store, number, task).value_or(std::vector<std::int64_t>()))
        leases.push_back(leaseKey(older));
    static_cast<void>(store.remove({ leases.begin(), leases.end() }, task));
    const std::string ours[] = { leaseKey(number), fmt::format("{}{}/", beside::Spans, actor) };
    static_cast<void>(store.removeTemporaries(
        [&](std::string_view folder) {
            const std::string inside = fmt::format("{}/", folder);
            if (!inside.starts_with(beside::Root))
                return true;
            return ours[0].starts_with(inside) || ours[1].starts_with(inside);
        },
        task));
}

/// Whether the run is free, as far as its newest lease says. False: look again. Errors: as Lease::acquire.
Result<bool> isFree(const ObjectStore& store, std::int64_t number, const std::function<std::int64_t()>& nowUs,
                    const LeaseTerms& terms, TaskContext& task)
{
    const Result<std::optional<LeaseHolder>> holder = readLease(store, number, task);
    if (!holder && holder.error().code == Code::NotFound) // removed meanwhile
        return false;
    if (!holder)
        return fail(holder.error());
    if (!*holder || (*holder)->released)
        return true;
    switch (livenessOf(**holder)) {
    case Liveness::Lives:
        return heldBy((*holder)->text(), store.uri());
    case Liveness::Ended:
        return true;
    case Liveness::Unknown:
        break;
    }
    return watchLease(store, number, nowUs, terms, task);
}

}

/// The object that was put, and the thread that renews it. What that thread and the end wait for ends soon after the
/// publisher's task is stopped.
class Lease::Holding {
public:
    Holding(std::shared_ptr<ObjectStore> store, const std::string& actor, std::function<std::int64_t()> nowUs,
            std::chrono::milliseconds life, std::int64_t number, const TaskContext& publisher)
        : m_store(std::move(store))
        , m_publisher(publisher)
        , m_nowUs(std::move(nowUs))
        , m_life(life)
        , m_number(number)
        , m_nonce(newNonce())
        , m_holder(LeaseHolder::thisProcess(actor))
    {
    }
    Holding(const Holding&) = delete;
    Holding& operator=(const Holding&) = delete;
    ~Holding()
    {
        if (!m_renewal.joinable()) // it was never held
            return;
        m_renewal.request_stop();
        m_renewal.join();
        giveBack();
    }

    /// Errors: Exists, those of the store.
    Result<void> take(TaskContext& task)
    {
        DS_CHECK(write(PutMode::IfAbsent, task));
        Result<std::jthread> renewal = startThread([this](const std::stop_token& stop) { renew(stop); });
        if (!renewal) {
            giveBack();
            return fail(std::move(renewal.error()));
        }
        m_renewal = std::move(*renewal);
        return {};
    }

    Result<void> check(TaskContext& task)
    {
        DS_TRY(const TaskMutex::Hold hold, m_mutex.hold(task));
        DS_CHECK(findOut(task));
        if (!m_lost)
            return {};
        return fail(Code::Exists, "somebody else has taken over this run; nothing more is published", m_store->uri(),
                    "find out who publishes; start again to go on behind them");
    }

private:
    void renew(const std::stop_token& stop)
    {
        std::unique_lock lock(m_mutex);
        while (!m_lost) {
            m_wake.wait_for(lock, stop, m_life / RenewalsPerLife, [] { return false; });
            if (stop.stop_requested())
                return;
            withGrace(&m_publisher, [this](TaskContext& task) {
                static_cast<void>(caught([&]() -> Result<void> { // the next one may succeed
                    DS_CHECK(findOut(task));
                    return m_lost ? Result<void>() : write(PutMode::Replace, task);
                }));
            });
        }
    }

    /// What is not given back is found dead.
    void giveBack()
    {
        m_holder.released = true;
        if (!m_lost)
            withGrace(&m_publisher, [this](TaskContext& task) { static_cast<void>(write(PutMode::Replace, task)); });
    }

    /// Whether the newest lease is the object as it was last put.
    Result<void> findOut(TaskContext& task)
    {
        if (m_lost)
            return {};
        DS_TRY(const std::int64_t newest, newestLease(*m_store, task));
        if (newest != m_number) {
            m_lost = true;
            return {};
        }
        DS_TRY(const ObjectInfo now, m_store->stat(leaseKey(m_number), task));
        if (now.identity == m_identity)
            return {};
        DS_TRY(const std::vector<std::byte> bytes, readWhole(*m_store, now.key, MostLeaseBytes, task));
        m_lost = asText(bytes) != m_text;
        m_identity = now.identity;
        return {};
    }

    Result<void> write(PutMode mode, TaskContext& task)
    {
        m_holder.renewedUs = m_nowUs();
        std::string text = leaseText(m_holder, m_nonce);
        const MemoryPayload source(asBytes(text));
        DS_TRY(const ObjectInfo put, m_store->put(leaseKey(m_number), source, mode, task));
        m_text = std::move(text);
        m_identity = put.identity;
        return {};
    }

    std::shared_ptr<ObjectStore> m_store;
    const TaskContext& m_publisher;
    std::function<std::int64_t()> m_nowUs;
    std::chrono::milliseconds m_life;
    std::int64_t m_number;
    std::string m_nonce;
    TaskMutex m_mutex; ///< guards what follows; held while the lease is read and written
    std::condition_variable_any m_wake;
    LeaseHolder m_holder;
    std::string m_text; ///< as last put
    std::string m_identity;
    bool m_lost = false;
    std::jthread m_renewal; ///< last: it uses everything above
};

Lease::Lease(std::unique_ptr<Holding> holding)
    : m_holding(std::move(holding))
{
}
Lease::Lease(Lease&&) noexcept = default;
Lease::~Lease() = default;

Result<Lease> Lease::acquire(std::shared_ptr<ObjectStore> store, const std::string& actor,
                             std::function<std::int64_t()> nowUs, const LeaseTerms& terms, TaskContext& task)
{
    for (int look = 0; look < MostLooks; ++look) {
        DS_CHECK(task.checkpoint());
        DS_TRY(const std::int64_t last, newestLease(*store, task));
        bool free = last == 0;
        if (!free) {
            DS_TRY(free, isFree(*store, last, nowUs, terms, task));
        }
        if (!free)
            continue;
        auto holding = std::make_unique<Holding>(store, actor, nowUs, terms.life, last + 1, task);
        const Result<void> taken = holding->take(task);
        if (taken) {
            cleanBehind(*store, last + 1, actor, task);
            return Lease(std::move(holding));
        }
        if (taken.error().code == Code::Exists)
            return heldBy("somebody else", store->uri());
        return fail(taken.error());
    }
    return fail(Code::Transient, "the leases of this run change all the time", store->uri(),
                "find out who publishes; try again");
}

Result<void> Lease::check(TaskContext& task) { return m_holding->check(task); }

} // namespace deltascope
