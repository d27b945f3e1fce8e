#include "bucket_store.h"

#include "../../base/percent_code.h"
#include "deltascope/base/address.h"
#include "hub_environment.h"
#include "hub_names.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope::hub {

namespace {

/// A request takes about as long as 4 MiB over a good line.
constexpr std::uint64_t HubRequestBytes = std::uint64_t { 4 } << 20;
constexpr std::chrono::milliseconds HubHeartbeatPeriod {
    5'000
}; // each takes some five requests of the account's quota
constexpr std::size_t MostListedFiles = 2'000'000;
constexpr std::size_t MostKnownIdentities = 65'536;

tl::unexpected<Error> noSuchHubObject(std::string_view key)
{
    return fail(Code::NotFound, "there is no such object", std::string(key));
}

tl::unexpected<Error> isAnother(std::string_view key)
{
    return fail(Code::Rewritten, "the object is not the one that was listed any more", std::string(key));
}

Error withKey(Error error, std::string_view key)
{
    error.where = key;
    return error;
}

} // namespace

bool KnownIdentities::has(const std::string& path, std::string_view identity, Time since) const
{
    const std::lock_guard lock(m_mutex);
    const auto found = m_known.find(path);
    return found != m_known.end() && found->second.identity == identity && found->second.seen >= since;
}

void KnownIdentities::set(const std::string& path, std::string identity, Time now)
{
    const std::lock_guard lock(m_mutex);
    if (m_known.size() >= MostKnownIdentities)
        m_known.clear(); // they are asked for again
    m_known.insert_or_assign(path, Known { std::move(identity), now });
}

void KnownIdentities::forget(const std::string& path)
{
    const std::lock_guard lock(m_mutex);
    m_known.erase(path);
}

BucketStore::BucketStore(HubSettings settings, std::shared_ptr<const HubApi> hub)
    : m_settings(std::move(settings))
    , m_journal(m_settings.journalFolder)
    , m_hub(hub)
    , m_bucket(std::make_shared<const BucketApi>(hub, m_settings.ns, m_settings.name))
    , m_keys(m_settings.prefix)
    , m_access(std::make_shared<HubAccess>(hub, m_bucket->route(), "", m_bucket->subject()))
    , m_chunks(std::make_shared<xet::KnownChunks>())
    , m_reader(std::make_unique<HubReader>(hub, m_access, m_settings.mostParallel))
{
}

std::string BucketStore::uri() const
{
    return RemotePlace {
        RemotePlace::Kind::HubBucket,
        m_settings.ns + '/' + m_settings.name,
        m_settings.prefix,
        m_hub->unusualEndpoint(),
        {}
    }.text();
}

StoreTraits BucketStore::traits() const noexcept
{
    return { .pushesChanges = true,
             .requestBytes = HubRequestBytes,
             .listsFromKey = false,
             .removes = true,
             .copies = true,
             .freshListings = false,
             .heartbeatPeriod = HubHeartbeatPeriod };
}

Result<ListPage> BucketStore::list(const ListRequest& request, TaskContext& task) const
{
    if (request.maxKeys == 0)
        return fail(Code::Usage, "a page of a listing holds at least one key");
    DS_CHECK(task.checkpoint());
    if (std::optional<ListPage> page = m_listings.next(request, m_hub->clock()->now()))
        return std::move(*page);
    const std::uint64_t generation = m_listings.generation();
    DS_TRY(const std::vector<HubFile> files, m_bucket->tree(m_keys.pathOf(request.prefix), MostListedFiles, task));
    HubListings::Objects objects;
    objects.reserve(files.size());
    for (const HubFile& file : files) {
        if (!m_keys.holds(file.path))
            continue;
        std::string key = m_keys.keyOf(file.path);
        if (checkHubPath(key)) // no other key can be asked for
            objects.push_back(objectOf(file, std::move(key), 0));
    }
    return m_listings.first(request, std::move(objects), m_hub->clock()->now(), generation);
}

Result<ObjectInfo> BucketStore::stat(std::string_view key, TaskContext& task) const
{
    DS_CHECK(checkHubPath(key));
    const std::string path = m_keys.pathOf(key);
    Result<std::vector<HubFile>> files = m_bucket->pathsInfo({ path }, task);
    if (!files)
        return fail(withKey(files.error(), key));
    if (files->empty())
        return noSuchHubObject(key);
    ObjectInfo object = objectOf(files->front(), std::string(key), 0);
    m_known.set(path, object.identity, m_hub->clock()->now());
    return object;
}

Result<void> BucketStore::read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                               TaskContext& task) const
{
    return std::move(readMany({ { object, offset, out } }, task).front());
}

std::vector<Result<void>> BucketStore::readMany(const std::vector<RangeRead>& reads, TaskContext& task) const
{
    std::vector<Result<void>> outcomes(reads.size());
    const Meant meant = identitiesOf(reads, task);
    std::vector<HubRange> ranges;
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < reads.size(); ++i) {
        const RangeRead& wanted = reads[i];
        if (!meant[i]) {
            outcomes[i] = fail(meant[i].error());
            continue;
        }
        const std::uint64_t size = meant[i]->sizeBytes;
        if (wanted.offset > size || wanted.out.size() > size - wanted.offset) {
            outcomes[i] = fail(Code::Truncated,
                               fmt::format("the object ends after {} bytes; {} bytes from byte {} on were expected",
                                           size, wanted.out.size(), wanted.offset),
                               std::string(wanted.object.key));
            continue;
        }
        which.push_back(i);
        ranges.push_back(
            { plainFile(m_keys.pathOf(wanted.object.key), wanted.object.key, *meant[i]), wanted.offset, wanted.out });
    }
    std::vector<Result<void>> read = m_reader->readMany(ranges, task);
    for (std::size_t i = 0; i < which.size(); ++i)
        outcomes[which[i]] = std::move(read[i]);
    return outcomes;
}

/// A key that is known to have had its identity a moment ago is not asked for again: whatever it has by now, the bytes
/// are read by their hash.
BucketStore::Meant BucketStore::identitiesOf(const std::vector<RangeRead>& reads, TaskContext& task) const
{
    Meant meant(reads.size());
    std::vector<std::size_t> which;
    const auto since = m_hub->clock()->now() - m_settings.lookAgainAfter;
    for (std::size_t i = 0; i < reads.size(); ++i) {
        const ObjectRef& object = reads[i].object;
        const Result<void> isKey = checkHubPath(object.key);
        const std::optional<HubIdentity> identity = HubIdentity::parse(object.identity);
        if (!isKey)
            meant[i] = fail(isKey.error());
        else if (identity && m_known.has(m_keys.pathOf(object.key), object.identity, since))
            meant[i] = *identity;
        else
            which.push_back(i);
    }
    if (!which.empty())
        lookAgain(reads, which, meant, task);
    return meant;
}

void BucketStore::lookAgain(const std::vector<RangeRead>& reads, const std::vector<std::size_t>& which, Meant& meant,
                            TaskContext& task) const
{
    std::vector<std::string> paths;
    for (const std::size_t i : which)
        paths.push_back(m_keys.pathOf(reads[i].object.key));
    std::sort(paths.begin(), paths.end());
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
    Result<std::vector<HubFile>> files = m_bucket->pathsInfo(paths, task);
    if (files)
        std::sort(files->begin(), files->end(), [](const HubFile& a, const HubFile& b) { return a.path < b.path; });
    for (const std::size_t i : which) {
        const ObjectRef& object = reads[i].object;
        const std::optional<HubIdentity> identity = HubIdentity::parse(object.identity);
        if (files)
            meant[i] = identityNow(object, *files);
        else if (files.error().code == Code::Transient && identity && identity->xet())
            meant[i] = *identity; // the look is for those who want to know; its hash is what is read
        else
            meant[i] = fail(withKey(files.error(), object.key));
    }
}

/// `files` in the order of their paths.
Result<HubIdentity> BucketStore::identityNow(const ObjectRef& object, const std::vector<HubFile>& files) const
{
    const std::string path = m_keys.pathOf(object.key);
    const auto found = std::lower_bound(files.begin(), files.end(), path,
                                        [](const HubFile& file, const std::string& key) { return file.path < key; });
    if (found == files.end() || found->path != path)
        return noSuchHubObject(object.key);
    HubIdentity identity = HubIdentity::of(*found);
    m_known.set(path, identity.text(), m_hub->clock()->now());
    if (!object.identity.empty() && object.identity != identity.text())
        return isAnother(object.key);
    return identity;
}

PlainFile BucketStore::plainFile(const std::string& path, std::string_view key, HubIdentity identity) const
{
    return { "/buckets/" + m_bucket->id() + "/resolve/" + percentEncode(path, "/"), m_bucket->subject(std::string(key)),
             std::move(identity), "" };
}

Result<std::unique_ptr<StoreWatch>> BucketStore::watch() const
{
    auto signal = std::make_shared<HubSignal>();
    {
        const std::lock_guard lock(m_watchMutex);
        std::erase_if(m_watches, [](const std::weak_ptr<HubSignal>& one) { return one.expired(); });
        m_watches.push_back(signal);
    }
    return watchBucket(m_bucket, m_settings.prefix.empty() ? "" : m_settings.prefix + "/", std::move(signal));
}

ReadProof BucketStore::proofOf(const ObjectRef& object) const
{
    const std::optional<HubIdentity> identity = HubIdentity::parse(object.identity);
    return identity ? m_reader->proofOf(*identity) : ReadProof::Partial;
}

/// Something below `path` was changed by this store.
void BucketStore::changed(const std::string& path)
{
    m_known.forget(path);
    m_listings.drop();
    const std::lock_guard lock(m_watchMutex);
    for (const std::weak_ptr<HubSignal>& one : m_watches) {
        if (const std::shared_ptr<HubSignal> signal = one.lock())
            signal->raise();
    }
}

Result<std::unique_ptr<ObjectStore>> openHubStore(const HubSettings& settings, std::shared_ptr<http::Sender> sender)
{
    if (!isHubName(settings.ns) || !isHubName(settings.name))
        return fail(Code::Usage, "a bucket is named by its owner and its name", settings.ns + "/" + settings.name,
                    "write hf://buckets/OWNER/BUCKET[/FOLDER]");
    if (!settings.prefix.empty())
        DS_CHECK(checkHubPath(settings.prefix));
    DS_TRY(std::shared_ptr<const HubApi> hub, HubApi::make(settings.account, std::move(sender)));
    return std::make_unique<BucketStore>(settings, std::move(hub));
}

} // namespace deltascope::hub
