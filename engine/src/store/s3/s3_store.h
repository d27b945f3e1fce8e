#pragma once

#include "credentials.h"
#include "deltascope/engine/http.h"
#include "deltascope/engine/object_store.h"
#include "s3_reading.h"
#include "s3_settings.h"
#include "s3_writing.h"

#include <functional>
#include <memory>
#include <string>

namespace deltascope::s3 {

/// A bucket of S3 or of a server that speaks as it does, or what lies below a prefix of one. The identity of an object
/// is its ETag, and times are those of the store in whole seconds. docs/stores/s3.md says what differs between servers.
class S3Store final : public ObjectStore {
public:
    S3Store(const S3Settings& settings, std::shared_ptr<http::Sender> sender,
            std::shared_ptr<CredentialSource> credentials);

    std::string uri() const override;
    StoreTraits traits() const noexcept override;
    Result<ListPage> list(const ListRequest& request, TaskContext& task) const override;
    Result<ObjectInfo> stat(std::string_view key, TaskContext& task) const override;
    Result<void> read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                      TaskContext& task) const override;
    std::vector<Result<void>> readMany(const std::vector<RangeRead>& reads, TaskContext& task) const override;
    Result<ObjectInfo> put(std::string_view key, const Payload& bytes, PutMode mode, TaskContext& task) override;
    /// Compares listings, the first of which is made here: at the start of each wait, then every two seconds.
    Result<std::unique_ptr<StoreWatch>> watch() const override;

    std::vector<Result<void>> remove(const std::vector<ObjectRef>& objects, TaskContext& task) override;
    /// Inside the bucket, by the server, up to 5 GiB and where `mode` is Replace; else as any store.
    Result<ObjectInfo> copy(const ObjectRef& from, std::string_view to, PutMode mode, TaskContext& task) override;
    /// Aborts the uploads that journalFolder names and whose process has ended, and touches nothing else.
    Result<std::size_t> removeTemporaries(const std::function<bool(std::string_view folder)>& enters,
                                          TaskContext& task) override;
    /// What reads of this store have shown of the bytes of an identity.
    ReadProof proofOf(const ObjectRef& object) const override;

private:
    const std::shared_ptr<S3Client> m_client; ///< shared with watches
    const std::unique_ptr<ObjectReader> m_reader;
    const std::unique_ptr<ObjectWriter> m_writer;
};

/// `settings`: completed by completeSettings. `credentials`: null where requests are anonymous. Nothing is asked of the
/// server yet. Errors: Usage.
Result<std::shared_ptr<ObjectStore>> openS3Store(const S3Settings& settings, std::shared_ptr<http::Sender> sender,
                                                 std::shared_ptr<CredentialSource> credentials);

} // namespace deltascope::s3
