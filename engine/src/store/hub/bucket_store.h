#pragma once

#include "bucket_api.h"
#include "deltascope/engine/hub_store.h"
#include "hub_access.h"
#include "hub_listings.h"
#include "hub_reader.h"
#include "hub_watch.h"
#include "sent_xorbs.h"
#include "store/xet/known_chunks.h"
#include "store/xet/upload.h"

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace deltascope::hub {

/// Which identities keys had when the Hub was asked last. Any thread.
class KnownIdentities {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// Whether the path had this identity at `since` or later.
    bool has(const std::string& path, std::string_view identity, Time since) const;
    void set(const std::string& path, std::string identity, Time now);
    void forget(const std::string& path);

private:
    struct Known {
        std::string identity;
        Time seen;
    };

    mutable std::mutex m_mutex; ///< guards what follows
    std::unordered_map<std::string, Known> m_known;
};

/// The store of a bucket (hub_store.h).
class BucketStore final : public ObjectStore, public HubBucket {
public:
    BucketStore(HubSettings settings, std::shared_ptr<const HubApi> hub);

    std::string uri() const override;
    StoreTraits traits() const noexcept override;
    Result<ListPage> list(const ListRequest& request, TaskContext& task) const override;
    Result<ObjectInfo> stat(std::string_view key, TaskContext& task) const override;
    Result<void> read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                      TaskContext& task) const override;
    std::vector<Result<void>> readMany(const std::vector<RangeRead>& reads, TaskContext& task) const override;
    ReadProof proofOf(const ObjectRef& object) const override;
    Result<ObjectInfo> put(std::string_view key, const Payload& bytes, PutMode mode, TaskContext& task) override;
    Result<std::unique_ptr<StoreWatch>> watch() const override;

    /// In few requests; identities are compared right before.
    std::vector<Result<void>> remove(const std::vector<ObjectRef>& objects, TaskContext& task) override;
    /// A second key for the bytes of an identity; they do not travel. Errors: also Unsupported (PutMode::IfAbsent).
    Result<ObjectInfo> copy(const ObjectRef& from, std::string_view to, PutMode mode, TaskContext& task) override;
    /// An upload that was killed leaves nothing that can be removed: always 0.
    Result<std::size_t> removeTemporaries(const std::function<bool(std::string_view folder)>& enters,
                                          TaskContext& task) override;
    Result<std::vector<StrandedUpload>> stranded(bool forget, TaskContext& task) override;

    HubReads reads() const override { return m_reader->reads(); }
    Result<bool> createBucket(bool isPrivate, TaskContext& task) override;

private:
    /// What one of several reads means; the outcome is an error where it means nothing.
    using Meant = std::vector<Result<HubIdentity>>;

    Meant identitiesOf(const std::vector<RangeRead>& reads, TaskContext& task) const;
    void lookAgain(const std::vector<RangeRead>& reads, const std::vector<std::size_t>& which, Meant& meant,
                   TaskContext& task) const;
    Result<HubIdentity> identityNow(const ObjectRef& object, const std::vector<HubFile>& files) const;
    PlainFile plainFile(const std::string& path, std::string_view key, HubIdentity identity) const;

    Result<xet::FileEntry> upload(const Payload& bytes, SentXorbs& sent, TaskContext& task);
    Result<ObjectInfo> placeUnder(PutMode mode, const BatchOperation& operation, std::uint64_t sizeBytes,
                                  std::string_view key, TaskContext& task);
    Result<ObjectInfo> place(BatchOperation operation, std::uint64_t sizeBytes, std::string_view key,
                             TaskContext& task);
    Result<void> checkMayPutIfAbsent(std::string_view key, TaskContext& task) const;
    Result<void> checkAbsent(std::string_view key, TaskContext& task) const;
    Result<ObjectInfo> confirm(const std::string& path, const std::string& xetHash, std::uint64_t sizeBytes,
                               std::string_view key, TaskContext& task) const;
    Result<void> removeFiles(const std::vector<HubFile>& files, std::unordered_map<std::string, Result<void>>& outcomes,
                             TaskContext& task);
    Result<void> confirmRemoved(const std::vector<HubFile>& before,
                                std::unordered_map<std::string, Result<void>>& outcomes, TaskContext& task) const;
    void changed(const std::string& path);
    std::int64_t nowMs() const;

    const HubSettings m_settings;
    const UploadJournal m_journal;
    const std::shared_ptr<const HubApi> m_hub;
    const std::shared_ptr<const BucketApi> m_bucket;
    const KeyMap m_keys;
    const std::shared_ptr<HubAccess> m_access;
    const std::shared_ptr<xet::KnownChunks> m_chunks;
    const std::unique_ptr<HubReader> m_reader;
    mutable HubListings m_listings;
    mutable KnownIdentities m_known;
    std::mutex m_absentMutex; ///< held from the look whether a key is free to its put
    mutable std::mutex m_watchMutex; ///< guards what follows
    mutable std::vector<std::weak_ptr<HubSignal>> m_watches;
};

} // namespace deltascope::hub
