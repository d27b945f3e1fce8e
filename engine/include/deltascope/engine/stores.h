#pragma once

#include "deltascope/base/address.h"
#include "deltascope/engine/http.h"
#include "deltascope/engine/object_store.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace deltascope {

/// What holds for all stores that one process opens.
struct StoresOptions {
    std::string cacheFolder; ///< keeps what was read of object stores; empty: memory alone does
    std::uint64_t cacheBytes = std::uint64_t { 8 } << 30; ///< most that the cache folder may hold
    std::string stateFolder; ///< journals of uploads under way; empty: what a killed upload leaves is not found again
    std::uint64_t bytesPerSecond = 0; ///< of each object store, both directions together; 0: as fast as it goes
    double requestsPerSecond = 0; ///< to each object store; 0: as many as it takes
};

/// How the opener of a store uses it.
struct StoreUse {
    /// Nobody else writes there: PutMode::IfAbsent looks first where the store cannot put under a condition.
    bool soleWriter = false;
};

/// What went between this process and one object store since it was opened.
struct StoreMeter {
    std::string uri;
    http::Counters wire;
    std::uint64_t bytesFromCache = 0; ///< read without a request
};

/// Opens stores, and keeps those that are remote with their connections, credentials, cached blocks and counters, so
/// that every look at one uses the same. Any thread; stores may outlive it.
class Stores {
public:
    explicit Stores(StoresOptions options = {});
    ~Stores();
    Stores(const Stores&) = delete;
    Stores& operator=(const Stores&) = delete;

    /// The store at an address; nothing is asked of a remote one. Errors: Usage (also for a file: the folder around it
    /// was not named, and may hold something else), NotFound, Auth, Unsupported (a scheme of another build).
    Result<std::shared_ptr<ObjectStore>> open(const Address& address, const StoreUse& use = {});
    /// Makes the folder or the bucket at an address if it is not there; returns whether it was made. Buckets of S3 are
    /// not made. Errors: those of open() and of the store.
    Result<bool> create(const Address& address, TaskContext& task);
    /// Of all remote stores that were opened, by address.
    std::vector<StoreMeter> meters() const;

private:
    class Kept;
    std::unique_ptr<Kept> m_kept;
};

/// Stores with no folders of their own and no limits.
std::shared_ptr<Stores> makeStores();

} // namespace deltascope
