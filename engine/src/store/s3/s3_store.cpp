#include "s3_store.h"

#include "s3_listing.h"
#include "s3_removal.h"
#include "s3_watch.h"

namespace deltascope::s3 {

namespace {

/// A request takes some 30 ms, in which 4 MiB could be read.
constexpr std::uint64_t S3RequestBytes = std::uint64_t { 4 } << 20;
constexpr std::chrono::milliseconds S3HeartbeatPeriod { 5'000 }; // each is a put, which costs money
constexpr std::uint64_t MostCopiedBytes = std::uint64_t { 5 } << 30; // of CopyObject

} // namespace

S3Store::S3Store(const S3Settings& settings, std::shared_ptr<http::Sender> sender,
                 std::shared_ptr<CredentialSource> credentials)
    : m_client(std::make_shared<S3Client>(settings, std::move(sender), std::move(credentials)))
    , m_reader(std::make_unique<ObjectReader>(*m_client))
    , m_writer(std::make_unique<ObjectWriter>(*m_client, *m_reader, settings.journalFolder))
{
}

std::string S3Store::uri() const { return canonicalUri(m_client->settings()); }

StoreTraits S3Store::traits() const noexcept
{
    return { .conditionalPut = m_client->settings().hasConditionalPut,
             .requestBytes = S3RequestBytes,
             .putsWhatComes = true,
             .removes = true,
             .conditionalRemove = m_client->settings().hasConditionalRemove,
             .copies = true,
             .heartbeatPeriod = S3HeartbeatPeriod };
}

Result<ListPage> S3Store::list(const ListRequest& request, TaskContext& task) const
{
    return listBucket(*m_client, request, task);
}

Result<ObjectInfo> S3Store::stat(std::string_view key, TaskContext& task) const { return m_reader->stat(key, task); }

Result<void> S3Store::read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out, TaskContext& task) const
{
    return m_reader->read(object, offset, out, task);
}

std::vector<Result<void>> S3Store::readMany(const std::vector<RangeRead>& reads, TaskContext& task) const
{
    return m_reader->readMany(reads, task);
}

Result<ObjectInfo> S3Store::put(std::string_view key, const Payload& bytes, PutMode mode, TaskContext& task)
{
    return m_writer->put(key, bytes, mode, task);
}

Result<std::unique_ptr<StoreWatch>> S3Store::watch() const
{
    auto watch = std::make_unique<ListingWatch>(m_client);
    TaskContext task;
    DS_CHECK(watch->start(task));
    return watch;
}

std::vector<Result<void>> S3Store::remove(const std::vector<ObjectRef>& objects, TaskContext& task)
{
    return removeObjects(*m_client, objects, task);
}

Result<std::size_t> S3Store::removeTemporaries(const std::function<bool(std::string_view folder)>& enters,
                                               TaskContext& task)
{
    return m_writer->abortOrphans(enters, task);
}

Result<ObjectInfo> S3Store::copy(const ObjectRef& from, std::string_view to, PutMode mode, TaskContext& task)
{
    if (mode != PutMode::Replace || from.sizeBytes.value_or(0) > MostCopiedBytes)
        return ObjectStore::copy(from, to, mode, task);
    return m_writer->copy(from, to, task);
}

ReadProof S3Store::proofOf(const ObjectRef& object) const { return m_reader->proofOf(object); }

Result<std::shared_ptr<ObjectStore>> openS3Store(const S3Settings& settings, std::shared_ptr<http::Sender> sender,
                                                 std::shared_ptr<CredentialSource> credentials)
{
    DS_CHECK(checkSettings(settings));
    if (settings.addressing == Addressing::Unset)
        return fail(Code::Usage, "the settings of the S3 store are not complete");
    if (!settings.isAnonymous && !credentials)
        return fail(Code::Usage, "the S3 store needs credentials, or must be anonymous");
    return std::make_shared<S3Store>(settings, std::move(sender), std::move(credentials));
}

} // namespace deltascope::s3
