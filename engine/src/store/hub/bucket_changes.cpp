#include "bucket_store.h"

#include <algorithm>
#include <fmt/format.h>

// What changes a bucket: puts, copies, removals. The Hub's answer to a batch is not believed: each is looked at after.

namespace deltascope::hub {

namespace {

using std::chrono::milliseconds;

/// How long a change may take until it shows; the Hub does not say. The pauses double.
constexpr int MostLooks = 5;
constexpr milliseconds FirstLookPause { 250 };

} // namespace

Result<ObjectInfo> BucketStore::put(std::string_view key, const Payload& bytes, PutMode mode, TaskContext& task)
{
    DS_CHECK(checkHubPath(key));
    DS_CHECK(task.checkpoint());
    if (mode == PutMode::IfAbsent)
        DS_CHECK(checkMayPutIfAbsent(key, task));
    SentXorbs sent(m_journal, uri(), std::string(key));
    Result<xet::FileEntry> entry = upload(bytes, sent, task);
    if (!entry) {
        if (entry.error().where.empty())
            entry.error().where = key;
        return fail(std::move(entry.error()));
    }
    const BatchOperation operation { BatchOperation::Kind::Add, m_keys.pathOf(key), entry->hash.text(), nowMs() };
    Result<ObjectInfo> object = placeUnder(mode, operation, entry->bytes, key, task);
    if (object)
        sent.done();
    return object;
}

Result<ObjectInfo> BucketStore::placeUnder(PutMode mode, const BatchOperation& operation, std::uint64_t sizeBytes,
                                           std::string_view key, TaskContext& task)
{
    if (mode == PutMode::Replace)
        return place(operation, sizeBytes, key, task);
    const std::lock_guard lock(m_absentMutex); // among the writers of this store it is one step
    DS_CHECK(checkAbsent(key, task));
    Result<ObjectInfo> object = place(operation, sizeBytes, key, task);
    if (!object && object.error().code == Code::Rewritten) // the Hub keeps the later of two adds
        return fail(Code::Exists, "another program put an object of this key at the same time", std::string(key));
    return object;
}

/// Once more with a new session where the servers have lost what an earlier one left there.
Result<xet::FileEntry> BucketStore::upload(const Payload& bytes, SentXorbs& sent, TaskContext& task)
{
    constexpr int MostSessions = 2;
    for (int number = 1;; ++number) {
        xet::UploadOptions options;
        options.clock = m_hub->clock();
        options.onXorb = [&sent](const xet::Hash& xorb, std::uint64_t size) { return sent.add(xorb, size); };
        xet::Upload session(m_hub->retrying(), m_access, m_chunks, options);
        DS_TRY(const xet::FileEntry entry, session.add(bytes, task));
        if (entry.bytes != bytes.sizeBytes())
            return fail(Code::Truncated,
                        fmt::format("the source gave {} bytes instead of {}", entry.bytes, bytes.sizeBytes()));
        const Result<void> outcome = session.commit(task);
        if (outcome)
            return entry;
        if (outcome.error().code != Code::Transient || number == MostSessions)
            return fail(outcome.error());
    }
}

Result<void> BucketStore::checkMayPutIfAbsent(std::string_view key, TaskContext& task) const
{
    if (!m_settings.soleWriter)
        return fail(Code::Unsupported, "the Hub cannot put an object only if there is none", std::string(key),
                    "say --sole-writer if nobody else writes there, or publish to a local folder or an S3 bucket");
    return checkAbsent(key, task);
}

Result<void> BucketStore::checkAbsent(std::string_view key, TaskContext& task) const
{
    const Result<std::vector<HubFile>> there = m_bucket->pathsInfo({ m_keys.pathOf(key) }, task);
    if (!there)
        return fail(there.error());
    if (!there->empty())
        return fail(Code::Exists, "there is an object of this key already", std::string(key));
    return {};
}

/// Lets the key stand for what was uploaded or is there already, and sees that it does.
Result<ObjectInfo> BucketStore::place(BatchOperation operation, std::uint64_t sizeBytes, std::string_view key,
                                      TaskContext& task)
{
    const std::string path = operation.path;
    const std::string xetHash = operation.xetHash;
    Result<void> outcome = std::move(m_bucket->apply({ std::move(operation) }, task).front());
    changed(path);
    if (!outcome) {
        outcome.error().where = key;
        return fail(std::move(outcome.error()));
    }
    Result<ObjectInfo> object = confirm(path, xetHash, sizeBytes, key, task);
    if (object)
        m_known.set(path, object->identity, m_hub->clock()->now());
    return object;
}

Result<ObjectInfo> BucketStore::confirm(const std::string& path, const std::string& xetHash, std::uint64_t sizeBytes,
                                        std::string_view key, TaskContext& task) const
{
    milliseconds pause = FirstLookPause;
    for (int look = 1;; ++look, pause *= 2) {
        Result<std::vector<HubFile>> files = m_bucket->pathsInfo({ path }, task);
        if (!files) {
            files.error().where = key;
            return fail(std::move(files.error()));
        }
        const HubFile* const file = files->empty() ? nullptr : &files->front();
        if (file && file->xetHash == xetHash && file->sizeBytes == sizeBytes)
            return objectOf(*file, std::string(key), nowMs() * 1000);
        if (look == MostLooks && file)
            return fail(Code::Rewritten, "the key stands for something else than what was just put there",
                        std::string(key), "see whether another program writes there, and put it once more");
        if (look == MostLooks)
            return fail(Code::Transient, "the Hub does not show the object that it took", std::string(key));
        DS_CHECK(m_hub->clock()->pause(pause, task));
    }
}

std::vector<Result<void>> BucketStore::remove(const std::vector<ObjectRef>& objects, TaskContext& task)
{
    std::vector<Result<void>> outcomes(objects.size());
    std::vector<std::string> paths(objects.size());
    std::vector<std::string> good;
    for (std::size_t i = 0; i < objects.size(); ++i) {
        outcomes[i] = checkHubPath(objects[i].key);
        if (!outcomes[i])
            continue;
        paths[i] = m_keys.pathOf(objects[i].key);
        good.push_back(paths[i]);
    }
    const Result<std::vector<HubFile>> before = m_bucket->pathsInfo(good, task);
    Result<void> all = before ? Result<void>() : Result<void>(fail(before.error()));
    std::unordered_map<std::string, const HubFile*> there;
    for (std::size_t i = 0; before && i < before->size(); ++i)
        there.emplace((*before)[i].path, &(*before)[i]);
    std::unordered_map<std::string, Result<void>> removed; // outcomes of what is to go, by path
    std::vector<HubFile> files; // of the same
    for (std::size_t i = 0; before && i < objects.size(); ++i) {
        if (!outcomes[i])
            continue;
        const auto file = there.find(paths[i]);
        if (file == there.end())
            outcomes[i] = fail(Code::NotFound, "there is no such object");
        else if (!objects[i].identity.empty() && HubIdentity::of(*file->second).text() != objects[i].identity)
            outcomes[i] = fail(Code::Rewritten, "the object is not the one that was listed any more");
        else if (removed.emplace(paths[i], Result<void>()).second)
            files.push_back(*file->second);
    }
    if (!files.empty())
        all = removeFiles(files, removed, task);
    for (std::size_t i = 0; i < objects.size(); ++i) {
        if (outcomes[i])
            outcomes[i] = all ? removed.at(paths[i]) : all;
        if (!outcomes[i])
            outcomes[i].error().where = objects[i].key;
    }
    return outcomes;
}

/// Gives each path its outcome. Errors: those of seeing whether it was done.
Result<void> BucketStore::removeFiles(const std::vector<HubFile>& files,
                                      std::unordered_map<std::string, Result<void>>& outcomes, TaskContext& task)
{
    std::vector<BatchOperation> operations;
    for (const HubFile& file : files)
        operations.push_back({ BatchOperation::Kind::Delete, file.path, "", 0 });
    std::vector<Result<void>> applied = m_bucket->apply(operations, task);
    for (std::size_t i = 0; i < operations.size(); ++i) {
        changed(operations[i].path);
        outcomes[operations[i].path] = std::move(applied[i]);
    }
    return confirmRemoved(files, outcomes, task);
}

/// Gone is gone, whatever was answered: a batch whose answer was lost is sent again, and then finds nothing. What is
/// still the object that was to go is not gone.
Result<void> BucketStore::confirmRemoved(const std::vector<HubFile>& before,
                                         std::unordered_map<std::string, Result<void>>& outcomes,
                                         TaskContext& task) const
{
    std::unordered_map<std::string, HubIdentity> old;
    for (const HubFile& file : before)
        old.emplace(file.path, HubIdentity::of(file));
    milliseconds pause = FirstLookPause;
    for (int look = 1; !old.empty(); ++look, pause *= 2) {
        std::vector<std::string> paths;
        for (const auto& one : old)
            paths.push_back(one.first);
        DS_TRY(const std::vector<HubFile> now, m_bucket->pathsInfo(paths, task));
        std::unordered_map<std::string, HubIdentity> still;
        for (const HubFile& file : now) {
            if (HubIdentity::of(file) == old.at(file.path)) // else it was put again since
                still.emplace(file.path, old.at(file.path));
        }
        for (const auto& one : old) {
            if (still.find(one.first) == still.end())
                outcomes[one.first] = {};
        }
        // Those that the Hub refused to remove are not waited for.
        std::erase_if(still, [&](const auto& one) { return !outcomes[one.first]; });
        old = std::move(still);
        if (old.empty())
            break;
        if (look == MostLooks) {
            for (const auto& one : old)
                outcomes[one.first] = fail(Code::Transient, "the Hub still shows the object that it removed");
            break;
        }
        DS_CHECK(m_hub->clock()->pause(pause, task));
    }
    return {};
}

Result<std::size_t> BucketStore::removeTemporaries(const std::function<bool(std::string_view folder)>&, TaskContext&)
{
    return std::size_t { 0 };
}

Result<std::vector<StrandedUpload>> BucketStore::stranded(bool forget, TaskContext& task)
{
    DS_CHECK(task.checkpoint());
    return strandedXorbs(m_journal, uri(), forget);
}

Result<bool> BucketStore::createBucket(bool isPrivate, TaskContext& task) { return m_bucket->create(isPrivate, task); }

Result<ObjectInfo> BucketStore::copy(const ObjectRef& from, std::string_view to, PutMode mode, TaskContext& task)
{
    DS_CHECK(checkHubPath(to));
    if (mode == PutMode::IfAbsent)
        DS_CHECK(checkMayPutIfAbsent(to, task));
    DS_TRY(const ObjectInfo source, stat(from.key, task));
    if (!from.identity.empty() && from.identity != source.identity)
        return fail(Code::Rewritten, "the object is not the one that was listed any more", std::string(from.key));
    const std::optional<HubIdentity> identity = HubIdentity::parse(source.identity);
    if (!identity || identity->xetHash.empty())
        return fail(Code::Unsupported, "the Hub does not say which bytes the object has", std::string(from.key));
    const BatchOperation operation { BatchOperation::Kind::Copy, m_keys.pathOf(to), identity->xetHash, nowMs() };
    return placeUnder(mode, operation, source.sizeBytes, to, task);
}

std::int64_t BucketStore::nowMs() const
{
    return std::chrono::duration_cast<milliseconds>(m_hub->clock()->date().time_since_epoch()).count();
}

} // namespace deltascope::hub
