#include "deltascope/engine/object_store.h"

#include "base/scratch.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

namespace {

constexpr std::size_t MaxListedKeys = 10'000'000;
constexpr std::size_t CopyBlockBytes = std::size_t { 8 } << 20;

/// An object that was read into a file of this machine.
class ScratchPayload final : public Payload {
public:
    ScratchPayload(const Scratch& scratch, std::uint64_t bytes)
        : m_scratch(scratch)
        , m_bytes(bytes)
    {
    }
    std::uint64_t sizeBytes() const noexcept override { return m_bytes; }
    Result<std::size_t> read(std::uint64_t offset, MutableByteSpan out) const override
    {
        const std::size_t count = std::min<std::uint64_t>(out.size(), m_bytes - std::min(offset, m_bytes));
        DS_CHECK(m_scratch.read(offset, out.first(count)));
        return count;
    }

private:
    const Scratch& m_scratch;
    std::uint64_t m_bytes;
};

/// Pages must advance and hold only what was asked for: a store that repeats a page would never end.
Result<void> checkPage(const ListPage& page, const ListRequest& request)
{
    const std::string* last = &request.startAfter;
    for (const ObjectInfo& object : page.objects) {
        if (object.key <= *last)
            return fail(Code::ListSuspect, "the store lists its objects out of order or repeats a page", object.key);
        if (!object.key.starts_with(request.prefix))
            return fail(Code::ListSuspect, "the store lists an object that was not asked for", object.key);
        last = &object.key;
    }
    if (page.more && page.objects.empty())
        return fail(Code::ListSuspect, "the store announces more objects but shows none", request.prefix);
    return {};
}

} // namespace

Result<void> checkKey(std::string_view key)
{
    if (key.find('\0') != std::string_view::npos)
        return fail(Code::Usage, "an object key holds a NUL byte");
    std::size_t begin = 0;
    for (;;) {
        const std::size_t end = std::min(key.find('/', begin), key.size());
        const std::string_view component = key.substr(begin, end - begin);
        if (component.empty() || component == "." || component == "..")
            return fail(Code::Usage, fmt::format("an object key must not hold the component \"{}\"", component),
                        std::string(key));
        if (end == key.size())
            return {};
        begin = end + 1;
    }
}

std::vector<Result<void>> ObjectStore::readMany(const std::vector<RangeRead>& reads, TaskContext& task) const
{
    std::vector<Result<void>> outcomes;
    outcomes.reserve(reads.size());
    for (const RangeRead& wanted : reads)
        outcomes.push_back(read(wanted.object, wanted.offset, wanted.out, task));
    return outcomes;
}

ReadsAhead ObjectStore::readAhead(ComingReads, TaskContext&) const { return {}; }

Result<std::string> ObjectStore::revision(TaskContext&) const { return std::string(); }

ReadProof ObjectStore::proofOf(const ObjectRef&) const { return ReadProof::None; }

void ObjectStore::forget(const ObjectRef&) const { } // nothing is kept

Result<bool> ObjectStore::hasEmptyFolder(std::string_view, TaskContext&) const { return false; }

Result<bool> ObjectStore::leadsOutside(std::string_view, TaskContext&) const { return false; }

std::vector<Result<void>> ObjectStore::remove(const std::vector<ObjectRef>& objects, TaskContext&)
{
    std::vector<Result<void>> outcomes;
    outcomes.reserve(objects.size());
    for (const ObjectRef& object : objects)
        outcomes.push_back(fail(Code::Unsupported, "nothing can be removed from this store", std::string(object.key)));
    return outcomes;
}

Result<ObjectInfo> ObjectStore::copy(const ObjectRef& from, std::string_view to, PutMode mode, TaskContext& task)
{
    DS_CHECK(checkKey(to));
    DS_TRY(const ObjectInfo source, stat(from.key, task));
    if (!from.identity.empty() && from.identity != source.identity)
        return fail(Code::Rewritten, "the object is not the one that was listed any more", source.key);
    DS_TRY(const std::unique_ptr<Scratch> scratch, Scratch::create({}));
    std::vector<std::byte> block(std::min<std::uint64_t>(CopyBlockBytes, source.sizeBytes));
    for (std::uint64_t done = 0; done < source.sizeBytes; done += block.size()) {
        DS_CHECK(task.checkpoint());
        block.resize(std::min<std::uint64_t>(CopyBlockBytes, source.sizeBytes - done));
        DS_CHECK(read(source, done, block, task));
        DS_CHECK(scratch->write(done, block));
    }
    return put(to, ScratchPayload(*scratch, source.sizeBytes), mode, task);
}

Result<std::size_t> ObjectStore::removeTemporaries(const std::function<bool(std::string_view)>&, TaskContext&)
{
    return fail(Code::Unsupported, "nothing can be removed from this store");
}

Result<std::vector<StrandedUpload>> ObjectStore::stranded(bool, TaskContext&) { return std::vector<StrandedUpload>(); }

Result<void> removeOne(ObjectStore& store, const ObjectRef& object, TaskContext& task)
{
    return std::move(store.remove({ object }, task).front());
}

Error noFileError(const ObjectInfo& object)
{
    if (object.oddity.find("blobs/") != std::string::npos)
        return Error { Code::Unfinished,
                       fmt::format("{} is {}, not a file: its blob is not in the cache of the Hugging Face Hub",
                                   object.key, object.oddity),
                       object.key, std::nullopt, "Download it again (hf download), which ends what was begun." };
    const bool isBroken = object.oddity.starts_with("a link that leads nowhere");
    return Error { isBroken ? Code::Unfinished : Code::NotFound,
                   fmt::format("{} is {}, not a file", object.key, object.oddity), object.key, std::nullopt,
                   "Put the file in its place, or mount the disk that a link leads to." };
}

Result<std::vector<ObjectInfo>> listAll(const ObjectStore& store, std::string_view prefix, TaskContext& task,
                                        const ListingSeen& seen)
{
    return listFrom(store, prefix, {}, task, seen);
}

Result<std::vector<ObjectInfo>> listFrom(const ObjectStore& store, std::string_view prefix, std::string_view startAfter,
                                         TaskContext& task, const ListingSeen& seen)
{
    std::vector<ObjectInfo> objects;
    ListRequest request;
    request.prefix = prefix;
    request.startAfter = startAfter;
    for (;;) {
        DS_CHECK(task.checkpoint());
        DS_TRY(ListPage page, store.list(request, task));
        DS_CHECK(checkPage(page, request));
        if (page.objects.size() > MaxListedKeys - objects.size())
            return fail(Code::Hostile, fmt::format("more than {} objects", MaxListedKeys), std::string(prefix));
        objects.insert(objects.end(), std::make_move_iterator(page.objects.begin()),
                       std::make_move_iterator(page.objects.end()));
        if (seen)
            seen(objects);
        if (!page.more)
            return objects;
        request.startAfter = objects.back().key;
    }
}

Result<std::vector<std::byte>> readWhole(const ObjectStore& store, std::string_view key, std::uint64_t limitBytes,
                                         TaskContext& task)
{
    constexpr int MostAttempts = 3;
    DS_TRY(ObjectInfo object, store.stat(key, task));
    for (int attempt = 1;; ++attempt) {
        if (object.sizeBytes > limitBytes)
            return fail(Code::Hostile,
                        fmt::format("{} bytes, where at most {} make sense", object.sizeBytes, limitBytes),
                        std::string(key));
        std::vector<std::byte> bytes(object.sizeBytes);
        Result<void> outcome = store.read(object, 0, bytes, task);
        if (outcome)
            return bytes;
        if (outcome.error().code != Code::Rewritten)
            return fail(std::move(outcome.error()));
        DS_TRY(ObjectInfo now, store.stat(key, task)); // other bytes since the stat, or since a record was made of it
        if (now.identity == object.identity)
            return fail(std::move(outcome.error()));
        if (attempt == MostAttempts)
            return fail(Code::Transient, "the object changed while it was read", std::string(key));
        object = std::move(now);
    }
}

} // namespace deltascope
