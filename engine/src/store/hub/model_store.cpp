#include "deltascope/engine/hub_store.h"

#include "../../base/percent_code.h"
#include "../../base/task_mutex.h"
#include "deltascope/base/address.h"
#include "hub_access.h"
#include "hub_environment.h"
#include "hub_names.h"
#include "hub_reader.h"

#include <algorithm>
#include <fmt/format.h>
#include <mutex>
#include <thread>

// Routes of model repositories, each as huggingface_hub 2.4.0 uses it:
//   GET /api/models/{id}/revision/{revision}            hf_api.py, model_info: "sha", "lastModified"
//   GET /api/models/{id}/tree/{commit}[/{folder}]       hf_api.py, _iter_repo_tree_pages: recursive, expand, Link
//       entries: type, path, size, oid, lfs {oid, size, pointerSize}, xetHash        hf_api.py, RepoFile
//   GET /api/models/{id}/xet-read-token/{commit}        utils/_xet.py, xet_connection_info_refresh_url
//   GET /{id}/resolve/{commit}/{path}                   file_download.py, hf_hub_url, get_hf_file_metadata

namespace deltascope::hub {

namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t ModelRequestBytes = std::uint64_t { 4 } << 20;
constexpr std::size_t MostModelFiles = 200'000;

/// All that is known of a commit; nothing of it ever changes.
struct ModelCommit {
    std::string id;
    std::vector<ObjectInfo> objects; ///< in byte order
    std::unique_ptr<HubReader> reader;
};

/// Nothing changes in a commit.
class CommitWatch final : public StoreWatch {
public:
    Result<bool> wait(milliseconds timeout, TaskContext& task) override
    {
        constexpr milliseconds Slice { 20 };
        const auto start = std::chrono::steady_clock::now();
        for (;;) {
            DS_CHECK(task.going());
            const auto elapsed = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - start);
            if (elapsed >= timeout)
                return false;
            std::this_thread::sleep_for(std::min(Slice, timeout - elapsed));
        }
    }
};

bool isModelId(const std::string& id)
{
    const std::size_t slash = id.find('/');
    if (slash == std::string::npos)
        return isHubName(id);
    return isHubName(id.substr(0, slash)) && isHubName(id.substr(slash + 1));
}

class ModelStore final : public ObjectStore, public ModelRepository {
public:
    ModelStore(ModelSettings settings, std::shared_ptr<const HubApi> hub)
        : m_settings(std::move(settings))
        , m_hub(std::move(hub))
        , m_keys(m_settings.prefix)
    {
    }

    std::string uri() const override
    {
        return RemotePlace { RemotePlace::Kind::HubModel, m_settings.id, m_settings.prefix, m_hub->unusualEndpoint(),
                             m_settings.revision }
            .text();
    }
    StoreTraits traits() const noexcept override
    {
        return { .pushesChanges = true, .requestBytes = ModelRequestBytes, .listsFromKey = false };
    }

    Result<ListPage> list(const ListRequest& request, TaskContext& task) const override
    {
        if (request.maxKeys == 0)
            return fail(Code::Usage, "a page of a listing holds at least one key");
        DS_CHECK(task.checkpoint());
        DS_TRY(const ModelCommit* const known, commitOnce(task));
        ListPage page;
        const auto isBehind = [](const std::string& key, const ObjectInfo& one) { return key < one.key; };
        auto at = std::upper_bound(known->objects.begin(), known->objects.end(), request.startAfter, isBehind);
        for (; at != known->objects.end(); ++at) {
            if (!at->key.starts_with(request.prefix)) {
                if (at->key > request.prefix)
                    break;
                continue;
            }
            page.more = page.objects.size() == request.maxKeys;
            if (page.more)
                break;
            page.objects.push_back(*at);
        }
        return page;
    }

    Result<ObjectInfo> stat(std::string_view key, TaskContext& task) const override
    {
        DS_CHECK(checkKey(key));
        DS_TRY(const ModelCommit* const known, commitOnce(task));
        return find(*known, key);
    }

    Result<void> read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                      TaskContext& task) const override
    {
        return std::move(readMany({ { object, offset, out } }, task).front());
    }

    std::vector<Result<void>> readMany(const std::vector<RangeRead>& reads, TaskContext& task) const override
    {
        std::vector<Result<void>> outcomes(reads.size());
        const Result<const ModelCommit*> known = commitOnce(task);
        std::vector<HubRange> ranges;
        std::vector<std::size_t> which;
        for (std::size_t i = 0; i < reads.size(); ++i) {
            Result<HubRange> range = known ? rangeOf(**known, reads[i]) : Result<HubRange>(fail(known.error()));
            if (!range) {
                outcomes[i] = fail(std::move(range.error()));
                continue;
            }
            which.push_back(i);
            ranges.push_back(std::move(*range));
        }
        if (!known)
            return outcomes;
        std::vector<Result<void>> read = (*known)->reader->readMany(ranges, task);
        for (std::size_t i = 0; i < which.size(); ++i)
            outcomes[which[i]] = std::move(read[i]);
        return outcomes;
    }

    ReadProof proofOf(const ObjectRef& object) const override
    {
        const std::lock_guard lock(m_mutex);
        const std::optional<HubIdentity> identity = HubIdentity::parse(object.identity);
        return m_commit && identity ? m_commit->reader->proofOf(*identity) : ReadProof::Partial;
    }

    Result<ObjectInfo> put(std::string_view key, const Payload&, PutMode, TaskContext&) override
    {
        return fail(Code::Unsupported, "model repositories are only read here", std::string(key),
                    "publish to a bucket, hf://buckets/OWNER/BUCKET");
    }

    Result<std::unique_ptr<StoreWatch>> watch() const override { return std::make_unique<CommitWatch>(); }

    Result<std::string> revision(TaskContext& task) const override
    {
        DS_TRY(const ModelCommit* const known, commitOnce(task));
        return known->id;
    }

    HubReads reads() const override
    {
        const std::lock_guard lock(m_mutex);
        return m_commit ? m_commit->reader->reads() : HubReads {};
    }

private:
    Subject subject(std::string where = {}) const { return { "model " + m_settings.id, std::move(where) }; }
    std::string route() const { return "/api/models/" + m_settings.id; }

    /// Asked for once; others wait. A failure is asked for again by the next call.
    Result<const ModelCommit*> commitOnce(TaskContext& task) const
    {
        DS_TRY(const TaskMutex::Hold held, m_mutex.hold(task));
        if (!m_commit) {
            DS_TRY(m_commit, fetch(task));
        }
        return m_commit.get(); // never changes again
    }

    Result<std::unique_ptr<ModelCommit>> fetch(TaskContext& task) const
    {
        const std::string revision = m_settings.revision.empty() ? "main" : m_settings.revision;
        const http::Request request = m_hub->request("GET", route() + "/revision/" + percentEncode(revision));
        DS_TRY(const http::Response answer, m_hub->ask(request, subject(), task));
        DS_TRY(const RevisionInfo info, parseRevisionInfo(answer.body));
        auto commit = std::make_unique<ModelCommit>();
        commit->id = info.commit;
        const std::string folder = m_settings.prefix.empty() ? "" : "/" + percentEncode(m_settings.prefix);
        DS_TRY(const std::vector<HubFile> files,
               fetchTree(*m_hub, route() + "/tree/" + info.commit + folder + "?recursive=true&expand=false", subject(),
                         m_keys.pathOf(""), MostModelFiles, task));
        const std::int64_t modifiedUs = isoTimeUs(info.modifiedAt).value_or(0);
        for (const HubFile& file : files) {
            if (m_keys.holds(file.path) && checkKey(m_keys.keyOf(file.path)))
                commit->objects.push_back(objectOf(file, m_keys.keyOf(file.path), modifiedUs));
        }
        auto access = std::make_shared<HubAccess>(m_hub, route(), "/" + info.commit, subject());
        commit->reader = std::make_unique<HubReader>(m_hub, std::move(access), m_settings.mostParallel);
        return commit;
    }

    static Result<ObjectInfo> find(const ModelCommit& commit, std::string_view key)
    {
        const auto found =
            std::lower_bound(commit.objects.begin(), commit.objects.end(), key,
                             [](const ObjectInfo& one, std::string_view wanted) { return one.key < wanted; });
        if (found == commit.objects.end() || found->key != key)
            return fail(Code::NotFound, "there is no such object", std::string(key));
        return *found;
    }

    Result<HubRange> rangeOf(const ModelCommit& commit, const RangeRead& wanted) const
    {
        const std::string key(wanted.object.key);
        DS_CHECK(checkKey(key));
        DS_TRY(const ObjectInfo object, find(commit, key));
        const std::optional<HubIdentity> identity = HubIdentity::parse(object.identity);
        if (!identity || (!wanted.object.identity.empty() && wanted.object.identity != object.identity))
            return fail(Code::Rewritten, "the object is not the one that was listed any more", key);
        if (wanted.offset > object.sizeBytes || wanted.out.size() > object.sizeBytes - wanted.offset)
            return fail(Code::Truncated,
                        fmt::format("the object ends after {} bytes; {} bytes from byte {} on were expected",
                                    object.sizeBytes, wanted.out.size(), wanted.offset),
                        key);
        PlainFile file { "/" + m_settings.id + "/resolve/" + commit.id + "/" + percentEncode(m_keys.pathOf(key), "/"),
                         subject(key), *identity, commit.id };
        return HubRange { std::move(file), wanted.offset, wanted.out };
    }

    const ModelSettings m_settings;
    const std::shared_ptr<const HubApi> m_hub;
    const KeyMap m_keys;
    mutable TaskMutex m_mutex; ///< guards what follows, until it is set
    mutable std::unique_ptr<ModelCommit> m_commit;
};

} // namespace

Result<std::unique_ptr<ObjectStore>> openModelStore(const ModelSettings& settings, std::shared_ptr<http::Sender> sender)
{
    if (!isModelId(settings.id))
        return fail(Code::Usage, "a model is named by its owner and its name", settings.id,
                    "write hf://OWNER/MODEL[?revision=BRANCH]");
    if (settings.revision.size() > 255)
        return fail(Code::Usage, "no branch, tag or commit has so long a name", settings.id);
    if (!settings.prefix.empty())
        DS_CHECK(checkKey(settings.prefix));
    DS_TRY(std::shared_ptr<const HubApi> hub, HubApi::make(settings.account, std::move(sender)));
    return std::make_unique<ModelStore>(settings, std::move(hub));
}

} // namespace deltascope::hub
