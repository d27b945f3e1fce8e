#pragma once

#include "beside/lease/lease_holder.h"
#include "deltascope/engine/lease_terms.h"

#include <cstdint>
#include <functional>

namespace deltascope {

/// Watches the newest lease until it is known whether its holder lives. True: it has not changed for its life, so the
/// holder counts as dead. False: something else has happened (given back, gone, a newer one), look again. Errors:
/// Exists (it was renewed), Canceled, those of the store.
Result<bool> watchLease(const ObjectStore& store, std::int64_t number, const std::function<std::int64_t()>& nowUs,
                        const LeaseTerms& terms, TaskContext& task);

} // namespace deltascope
