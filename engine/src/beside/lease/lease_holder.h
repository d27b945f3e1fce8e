#pragma once

#include "deltascope/engine/object_store.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// The objects that leases are: `.deltascope/v1/lease/publisher-<number>.json` (docs/formats/ds-facts.md).

namespace deltascope {

/// Who holds a lease. `started` tells a process from a later one with the same number.
struct LeaseHolder {
    std::string actor;
    std::string host;
    std::int64_t pid = 0;
    std::string started;
    std::int64_t renewedUs = 0; ///< by its own clock; for people
    bool released = false;

    static LeaseHolder thisProcess(std::string actor);
    /// "nightly (process 4711 on trainer-3)"
    std::string text() const;
};

enum class Liveness : std::uint8_t {
    Lives,
    Ended,
    Unknown, ///< of another machine or container
};
Liveness livenessOf(const LeaseHolder& holder);

std::string leaseKey(std::int64_t number);

/// The highest number that an object in the folder has, 0 without one. What has no such name is passed over.
Result<std::int64_t> newestLease(const ObjectStore& store, TaskContext& task);
/// Numbers below `number` that are there.
Result<std::vector<std::int64_t>> leasesBelow(const ObjectStore& store, std::int64_t number, TaskContext& task);

/// `nonce`: makes the text of one holding differ from all others.
std::string leaseText(const LeaseHolder& holder, const std::string& nonce);
/// Nothing if the object holds no lease of this form. Errors: those of readWhole.
Result<std::optional<LeaseHolder>> readLease(const ObjectStore& store, std::int64_t number, TaskContext& task);
constexpr std::uint64_t MostLeaseBytes = 64U << 10;

} // namespace deltascope
