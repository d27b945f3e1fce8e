#include "support/memory_store.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <vector>

namespace deltascope::test {

namespace {

using Milliseconds = std::chrono::milliseconds;

constexpr std::int64_t StartUs = 1'735'689'600'000'000;
constexpr std::int64_t TickUs = 1'000'000;

struct Object {
    std::vector<std::byte> bytes;
    std::string identity;
    std::int64_t modifiedUs = 0;
    bool unwritten = false;
};

ObjectInfo describe(const std::string& key, const Object& object)
{
    return ObjectInfo { key, object.bytes.size(), object.identity, object.modifiedUs, object.unwritten, {} };
}

tl::unexpected<Error> noSuchObject(std::string_view key)
{
    return fail(Code::NotFound, "there is no such object", std::string(key));
}

Result<std::vector<std::byte>> readAll(const Payload& source, std::string_view key, TaskContext& task)
{
    constexpr std::size_t ChunkBytes = 64 * 1024;
    std::vector<std::byte> bytes;
    std::size_t done = 0;
    for (;;) {
        DS_CHECK(task.checkpoint());
        bytes.resize(done + ChunkBytes);
        DS_TRY(const std::size_t got, source.read(done, MutableByteSpan(bytes).subspan(done)));
        done += got;
        if (got == 0)
            break;
    }
    bytes.resize(done);
    if (done != source.sizeBytes())
        return fail(Code::Truncated, "the source gave another number of bytes than announced", std::string(key));
    return bytes;
}

} // namespace

struct MemoryStore::State {
    mutable std::mutex mutex;
    std::condition_variable changed;
    std::map<std::string, Object, std::less<>> objects;
    std::uint64_t revision = 0;

    /// Call with the mutex held, after a change.
    void announce()
    {
        ++revision;
        changed.notify_all();
    }
    std::int64_t now() const noexcept { return StartUs + static_cast<std::int64_t>(revision) * TickUs; }
    std::string nextIdentity() const { return "memory:" + std::to_string(revision + 1); }

    Result<void> remove(const ObjectRef& object)
    {
        const std::lock_guard lock(mutex);
        const auto found = objects.find(object.key);
        if (found == objects.end())
            return noSuchObject(object.key);
        if (!object.identity.empty() && found->second.identity != object.identity)
            return fail(Code::Rewritten, "the object is another one by now", std::string(object.key));
        objects.erase(found);
        announce();
        return {};
    }

    template <class Change> Result<void> change(std::string_view key, Change apply)
    {
        const std::lock_guard lock(mutex);
        const auto found = objects.find(key);
        if (found == objects.end())
            return noSuchObject(key);
        apply(found);
        announce();
        return {};
    }

    class Watch final : public StoreWatch {
    public:
        explicit Watch(std::shared_ptr<State> state)
            : m_state(std::move(state))
        {
            const std::lock_guard lock(m_state->mutex);
            m_seen = m_state->revision;
        }

        Result<bool> wait(Milliseconds timeout, TaskContext& task) override
        {
            constexpr Milliseconds Slice { 20 };
            const auto start = std::chrono::steady_clock::now();
            std::unique_lock lock(m_state->mutex);
            for (;;) {
                DS_CHECK(task.going());
                if (m_seen != m_state->revision) {
                    m_seen = m_state->revision;
                    return true;
                }
                const auto elapsed = std::chrono::duration_cast<Milliseconds>(std::chrono::steady_clock::now() - start);
                if (elapsed >= timeout)
                    return false;
                m_state->changed.wait_for(lock, std::min(Slice, timeout - elapsed));
            }
        }

    private:
        std::shared_ptr<State> m_state;
        std::uint64_t m_seen = 0;
    };
};

MemoryStore::MemoryStore()
    : m_state(std::make_shared<State>())
{
}

MemoryStore::~MemoryStore() = default;

std::string MemoryStore::uri() const { return "memory:///"; }

StoreTraits MemoryStore::traits() const noexcept
{
    return { .conditionalPut = true, .pushesChanges = true, .removes = true, .conditionalRemove = true };
}

Result<ListPage> MemoryStore::list(const ListRequest& request, TaskContext& task) const
{
    if (request.maxKeys == 0)
        return fail(Code::Usage, "a page of a listing holds at least one key");
    DS_CHECK(task.checkpoint());
    const std::lock_guard lock(m_state->mutex);
    ListPage page;
    const auto begin = request.prefix > request.startAfter ? m_state->objects.lower_bound(request.prefix)
                                                           : m_state->objects.upper_bound(request.startAfter);
    for (auto at = begin; at != m_state->objects.end() && at->first.starts_with(request.prefix); ++at) {
        if (page.objects.size() == request.maxKeys) {
            page.more = true;
            break;
        }
        page.objects.push_back(describe(at->first, at->second));
    }
    return page;
}

Result<ObjectInfo> MemoryStore::stat(std::string_view key, TaskContext&) const
{
    DS_CHECK(checkKey(key));
    const std::lock_guard lock(m_state->mutex);
    const auto found = m_state->objects.find(key);
    if (found == m_state->objects.end())
        return noSuchObject(key);
    return describe(found->first, found->second);
}

Result<void> MemoryStore::read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out, TaskContext&) const
{
    const std::string_view key = object.key;
    DS_CHECK(checkKey(key));
    const std::lock_guard lock(m_state->mutex);
    const auto found = m_state->objects.find(key);
    if (found == m_state->objects.end())
        return noSuchObject(key);
    if (!object.identity.empty() && found->second.identity != object.identity)
        return fail(Code::Rewritten, "the object is another one by now", std::string(key));
    const std::vector<std::byte>& bytes = found->second.bytes;
    if (offset > bytes.size() || out.size() > bytes.size() - offset)
        return fail(Code::Truncated, "the object ends before", std::string(key));
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
    return {};
}

Result<ObjectInfo> MemoryStore::put(std::string_view key, const Payload& source, PutMode mode, TaskContext& task)
{
    DS_CHECK(checkKey(key));
    DS_TRY(std::vector<std::byte> bytes, readAll(source, key, task));
    const std::lock_guard lock(m_state->mutex);
    const auto found = m_state->objects.find(key);
    if (mode == PutMode::IfAbsent && found != m_state->objects.end())
        return fail(Code::Exists, "there is an object of this key already", std::string(key));
    Object object { std::move(bytes), m_state->nextIdentity(), m_state->now(), false };
    ObjectInfo info = describe(std::string(key), object);
    m_state->objects.insert_or_assign(std::string(key), std::move(object));
    m_state->announce();
    return info;
}

Result<std::unique_ptr<StoreWatch>> MemoryStore::watch() const { return std::make_unique<State::Watch>(m_state); }

std::vector<Result<void>> MemoryStore::remove(const std::vector<ObjectRef>& objects, TaskContext& task)
{
    std::vector<Result<void>> outcomes;
    for (const ObjectRef& object : objects) {
        Result<void> outcome = task.checkpoint();
        if (outcome)
            outcome = checkKey(object.key);
        if (outcome)
            outcome = m_state->remove(object);
        outcomes.push_back(std::move(outcome));
    }
    return outcomes;
}

Result<void> MemoryStore::remove(std::string_view key)
{
    return m_state->change(key, [&](auto found) { m_state->objects.erase(found); });
}

Result<void> MemoryStore::setUnwrittenPart(std::string_view key, bool unwritten)
{
    return m_state->change(key, [&](auto found) {
        found->second.unwritten = unwritten;
        found->second.identity = m_state->nextIdentity();
    });
}

Result<void> MemoryStore::setModified(std::string_view key, std::int64_t modifiedUs)
{
    return m_state->change(key, [&](auto found) {
        found->second.modifiedUs = modifiedUs;
        found->second.identity = m_state->nextIdentity();
    });
}

Result<ObjectInfo> putText(ObjectStore& store, std::string_view key, std::string_view text, PutMode mode)
{
    const MemoryPayload source(asBytes(text));
    TaskContext task;
    return store.put(key, source, mode, task);
}

} // namespace deltascope::test
