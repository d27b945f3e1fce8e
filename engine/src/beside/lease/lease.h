#pragma once

#include "deltascope/engine/lease_terms.h"
#include "deltascope/engine/object_store.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace deltascope {

/// The right to publish into a run, held by one process at a time: `.deltascope/v1/lease/publisher-<number>.json`. The
/// highest number counts. A new holder puts the next number with PutMode::IfAbsent, so of two that try one wins; only a
/// holder writes its own object again, to renew it (from a thread of its own) or to give it back. Nobody's clock is
/// compared with another one's: a holder on another machine is watched.
class Lease {
public:
    /// Waits and watches a holder of which this machine cannot say whether it runs. Then removes older leases and
    /// what dead publishers left half-written. `task` outlives the lease: once it is stopped, a request that renews the
    /// lease or gives it back ends soon, whatever it waits for. Errors: Exists (somebody else holds it; the text says
    /// who), Canceled, Io (no thread), those of the store.
    static Result<Lease> acquire(std::shared_ptr<ObjectStore> store, const std::string& actor,
                                 std::function<std::int64_t()> nowUs, const LeaseTerms& terms, TaskContext& task);
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&&) = delete;
    ~Lease(); ///< gives it back

    /// Whether it is still ours. Errors: Exists (somebody took it over, then and ever after).
    Result<void> check(TaskContext& task);

private:
    class Holding;
    explicit Lease(std::unique_ptr<Holding> holding);
    std::unique_ptr<Holding> m_holding;
};

} // namespace deltascope
