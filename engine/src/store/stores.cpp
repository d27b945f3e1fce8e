#include "deltascope/engine/stores.h"

#include "deltascope/engine/hub_store.h"
#include "store/cache/caching_store.h"
#include "store/hub_cache.h"
#include "store/s3/s3_store.h"
#include "store/sender_stack.h"

#include <filesystem>
#include <map>
#include <mutex>

namespace deltascope {

namespace {

hub::HubSettings bucketSettings(const RemotePlace& place, const StoreUse& use, const StoresOptions& options)
{
    const std::size_t slash = place.bucket.find('/');
    hub::HubSettings settings;
    settings.ns = place.bucket.substr(0, slash);
    settings.name = place.bucket.substr(slash + 1);
    settings.prefix = place.prefix;
    settings.account.endpoint = place.endpoint;
    settings.journalFolder = options.stateFolder;
    settings.soleWriter = use.soleWriter;
    return settings;
}

hub::ModelSettings modelSettings(const RemotePlace& place)
{
    hub::ModelSettings settings;
    settings.id = place.bucket;
    settings.revision = place.revision;
    settings.prefix = place.prefix;
    settings.account.endpoint = place.endpoint;
    return settings;
}

Result<bool> makeFolder(const std::string& path)
{
    std::error_code error;
    const bool made = std::filesystem::create_directories(path, error);
    if (error)
        return fail(Code::Io, "the folder cannot be made: " + error.message(), path);
    return made;
}

}

class Stores::Kept {
public:
    explicit Kept(StoresOptions options)
        : m_options(std::move(options))
    {
        if (!m_options.cacheFolder.empty())
            m_disk = std::make_shared<DiskCache>(m_options.cacheFolder, m_options.cacheBytes);
    }

    Result<std::shared_ptr<ObjectStore>> open(const RemotePlace& place, const StoreUse& use)
    {
        const std::string name = place.text() + (use.soleWriter ? " alone" : "");
        const std::lock_guard lock(m_mutex);
        if (const auto known = m_open.find(name); known != m_open.end())
            return known->second.store;
        DS_TRY(Opened opened, openNew(place, use));
        opened.store = std::make_shared<CachingStore>(opened.direct, m_memory, m_disk);
        return m_open.emplace(name, std::move(opened)).first->second.store;
    }

    /// Makes the bucket; false where it was there, or where the store makes none.
    Result<bool> create(const RemotePlace& place, TaskContext& task)
    {
        if (place.kind != RemotePlace::Kind::HubBucket)
            return false;
        DS_TRY(const Opened opened, openNew(place, {}));
        return dynamic_cast<hub::HubBucket&>(*opened.direct).createBucket(true, task);
    }

    std::vector<StoreMeter> meters() const
    {
        std::map<std::string, StoreMeter> meters; // one place may be open for several uses
        const std::lock_guard lock(m_mutex);
        for (const auto& [name, opened] : m_open) {
            StoreMeter& meter = meters[opened.store->uri()];
            const http::Counters wire = opened.sender->counters();
            meter.uri = opened.store->uri();
            meter.wire.requests += wire.requests;
            meter.wire.retries += wire.retries;
            meter.wire.bytesIn += wire.bytesIn;
            meter.wire.bytesOut += wire.bytesOut;
            const CacheCounters cache = opened.store->counters();
            meter.bytesFromCache += cache.bytesFromMemory + cache.bytesFromDisk;
        }
        std::vector<StoreMeter> out;
        for (auto& [uri, meter] : meters)
            out.push_back(std::move(meter));
        return out;
    }

private:
    struct Opened {
        std::shared_ptr<SenderStack> sender;
        std::shared_ptr<ObjectStore> direct;
        std::shared_ptr<CachingStore> store; ///< in front of it
    };

    /// One client for each set of certificates that is trusted.
    std::shared_ptr<http::Client> clientFor(const std::string& caFile)
    {
        std::shared_ptr<http::Client>& client = m_clients[caFile];
        if (!client)
            client = std::make_shared<http::Client>(http::ClientOptions { 16, caFile });
        return client;
    }

    std::shared_ptr<SenderStack> senderFor(const std::string& caFile, bool repeats)
    {
        const http::ThrottlePolicy limits { m_options.bytesPerSecond, m_options.requestsPerSecond };
        return std::make_shared<SenderStack>(clientFor(caFile), limits, repeats);
    }

    Result<Opened> openNew(const RemotePlace& place, const StoreUse& use)
    {
        if (place.kind == RemotePlace::Kind::S3)
            return openS3(place);
        const std::shared_ptr<SenderStack> sender =
            senderFor({}, false); // the Hub's stores repeat by rules of their own
        if (place.kind == RemotePlace::Kind::HubBucket) {
            DS_TRY(std::shared_ptr<ObjectStore> store,
                   hub::openHubStore(bucketSettings(place, use, m_options), sender));
            return Opened { sender, std::move(store), nullptr };
        }
        DS_TRY(std::shared_ptr<ObjectStore> store, hub::openModelStore(modelSettings(place), sender));
        return Opened { sender, std::move(store), nullptr };
    }

    Result<Opened> openS3(const RemotePlace& place)
    {
        s3::S3Settings given;
        given.bucket = place.bucket;
        given.prefix = place.prefix;
        given.endpoint = place.endpoint;
        given.journalFolder = m_options.stateFolder;
        const s3::Variables variables = s3::processVariables();
        DS_TRY(s3::S3Settings settings, s3::completeSettings(std::move(given), variables));
        const std::shared_ptr<SenderStack> sender = senderFor(settings.caFile, true);
        DS_TRY(std::shared_ptr<s3::CredentialSource> keys, s3::findCredentials(settings, variables, sender));
        settings.isAnonymous = !keys;
        DS_TRY(std::shared_ptr<ObjectStore> store, s3::openS3Store(settings, sender, std::move(keys)));
        return Opened { sender, std::move(store), nullptr };
    }

    const StoresOptions m_options;
    const std::shared_ptr<BlockMemory> m_memory = std::make_shared<BlockMemory>();
    std::shared_ptr<DiskCache> m_disk; ///< null: none
    mutable std::mutex m_mutex; ///< guards what follows
    std::map<std::string, std::shared_ptr<http::Client>> m_clients; ///< by file of certificates
    std::map<std::string, Opened> m_open;
};

Stores::Stores(StoresOptions options)
    : m_kept(std::make_unique<Kept>(std::move(options)))
{
}

Stores::~Stores() = default;

Result<std::shared_ptr<ObjectStore>> Stores::open(const Address& address, const StoreUse& use)
{
    if (address.remote())
        return m_kept->open(*address.remote(), use);
    DS_TRY(const std::string path, address.path());
    DS_TRY(const std::string folder, folderMeantBy(path));
    DS_TRY(std::shared_ptr<ObjectStore> store, openLocalStore(folder));
    return store;
}

Result<bool> Stores::create(const Address& address, TaskContext& task)
{
    const std::optional<RemotePlace>& place = address.remote();
    if (place)
        return m_kept->create(*place, task);
    DS_TRY(const std::string path, address.path());
    return makeFolder(path);
}

std::vector<StoreMeter> Stores::meters() const { return m_kept->meters(); }

std::shared_ptr<Stores> makeStores() { return std::make_shared<Stores>(); }

} // namespace deltascope
