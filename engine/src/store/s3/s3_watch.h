#pragma once

#include "deltascope/engine/hash_tree.h"
#include "deltascope/engine/object_store.h"
#include "s3_client.h"

#include <memory>

namespace deltascope::s3 {

/// S3 tells nobody of changes but by services of its own, so whole listings are compared. One that fails with
/// Code::Transient is made again later.
class ListingWatch final : public StoreWatch {
public:
    explicit ListingWatch(std::shared_ptr<S3Client> client)
        : m_client(std::move(client))
    {
    }

    /// Makes the listing that the next ones are compared with. Errors: those of listBucket.
    Result<void> start(TaskContext& task);
    Result<bool> wait(std::chrono::milliseconds timeout, TaskContext& task) override;

private:
    Result<bool> hasChanged(TaskContext& task);
    Result<Digest128> digestOfListing(TaskContext& task) const;

    const std::shared_ptr<S3Client> m_client;
    Digest128 m_seen {};
};

} // namespace deltascope::s3
