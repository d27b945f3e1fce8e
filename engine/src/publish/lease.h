#pragma once

#include "deltascope/engine/object_store.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace deltascope {

/// The right to publish into a run, held by one process at a time: `.deltascope/v1/lease/publisher-<number>.json`. The
/// highest number counts. A new holder puts the next number with PutMode::IfAbsent, so of two that try one wins; only a
/// holder writes its own object again, to renew or to give it back. Needs no clock but for holders that died on another
/// machine.
class Lease {
public:
    /// Errors: Exists (somebody else holds it; the text says who), those of the store.
    static Result<Lease> acquire(std::shared_ptr<ObjectStore> store, std::string actor,
                                 std::function<std::int64_t()> nowUs, TaskContext& task);
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&&) = delete;
    ~Lease(); ///< gives it back

    /// Whether it is still ours; renews it when a third of its time is over. Errors: Exists (somebody took it over).
    Result<void> check(TaskContext& task);

private:
    Lease(std::shared_ptr<ObjectStore> store, std::string actor, std::function<std::int64_t()> nowUs,
          std::int64_t number);
    Result<void> write(bool released, bool first, TaskContext& task);

    std::shared_ptr<ObjectStore> m_store;
    std::string m_actor;
    std::function<std::int64_t()> m_nowUs;
    std::int64_t m_number = 0;
    std::int64_t m_renewedUs = 0;
};

} // namespace deltascope
