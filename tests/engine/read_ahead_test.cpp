#include "store/cache/caching_store.h"

#include "deltascope/engine/file_state.h"
#include "deltascope/engine/walk.h"
#include "session.h"
#include "state/changed_state.h"
#include "state/rounded_state.h"
#include "state/view_state.h"
#include "store/mirrored_store.h"
#include "support/any_task.h"
#include "support/backends.h"
#include "support/counting_store.h"
#include "support/eventually.h"
#include "support/forwarding_store.h"
#include "support/generated_store.h"
#include "support/memory_store.h"
#include "support/sizes.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <set>
#include <thread>

// A store in front of a slow one fetches what a pass will read before the pass comes to it.

namespace deltascope {
namespace {

using namespace layout_test;
using test::anyTask;
using test::CountingStore;
using test::eventually;
using test::GeneratedStore;
using test::MemoryStore;
using test::MiB;

constexpr std::uint64_t PieceBytes = 3 * MiB;

/// All of each object, in pieces.
ComingReads planOf(const std::vector<ObjectInfo>& objects)
{
    return [&objects, object = std::size_t(0), at = std::uint64_t(0)]() mutable -> std::optional<ComingRead> {
        while (object < objects.size() && at >= objects[object].sizeBytes) {
            ++object;
            at = 0;
        }
        if (object == objects.size())
            return std::nullopt;
        const std::uint64_t begin = at;
        at += PieceBytes;
        return ComingRead { objects[object], begin, std::min(PieceBytes, objects[object].sizeBytes - begin) };
    };
}

/// Reads all of it in small steps.
bool readsRight(const ObjectStore& store, const ObjectInfo& object)
{
    std::vector<std::byte> out, expected;
    for (std::uint64_t at = 0; at < object.sizeBytes; at += out.size()) {
        out.resize(std::min<std::uint64_t>(100'000, object.sizeBytes - at));
        expected.resize(out.size());
        GeneratedStore::fill(object.key, at, expected);
        if (!store.read(object, at, out, anyTask()) || out != expected)
            return false;
    }
    return true;
}

class ReadAheadOfAStore : public testing::Test {
protected:
    void makeCache(std::uint64_t budget)
    {
        memory = std::make_shared<BlockMemory>(budget);
        cache = std::make_unique<CachingStore>(counted, memory);
    }
    std::uint64_t fetched() const { return cache->counters().bytesFromNetwork; }

    std::shared_ptr<GeneratedStore> generated = std::make_shared<GeneratedStore>();
    std::shared_ptr<CountingStore> counted = std::make_shared<CountingStore>(generated);
    std::shared_ptr<BlockMemory> memory;
    std::unique_ptr<CachingStore> cache;
};

TEST_F(ReadAheadOfAStore, AllIsThereBeforeAReaderComes)
{
    makeCache(BlockMemory::DefaultBudgetBytes);
    const std::vector<ObjectInfo> objects { generated->add("anchor", 70 * MiB + 9), generated->add("small", 1000),
                                            generated->add("delta", 5 * MiB + 3) };
    std::uint64_t all = 0;
    for (const ObjectInfo& object : objects)
        all += object.sizeBytes;
    const ReadsAhead ahead = cache->readAhead(planOf(objects), anyTask());
    ASSERT_TRUE(eventually([&] { return memory->bytes() >= all; }));
    const std::size_t requests = counted->reads().size();
    for (const ObjectInfo& object : objects)
        EXPECT_TRUE(readsRight(*cache, object)) << object.key;
    EXPECT_EQ(counted->reads().size(), requests);
    EXPECT_EQ(cache->counters().misses, 0U);
    std::map<std::string, std::uint64_t> sizes;
    for (const ObjectInfo& object : objects)
        sizes[object.key] = object.sizeBytes;
    EXPECT_EQ(counted->bytesOfKeys(), sizes);
    EXPECT_LE(requests, 18U + 1U + 2U + 6U); // windows of 4 MiB; leaves alone once a quarter of the memory is full
}

TEST_F(ReadAheadOfAStore, WhatNobodyHasReadTakesHalfOfTheMemory)
{
    makeCache(64 * MiB);
    const std::vector<ObjectInfo> objects { generated->add("anchor", 120 * MiB) };
    const ReadsAhead ahead = cache->readAhead(planOf(objects), anyTask());
    ASSERT_TRUE(eventually([&] { return memory->bytes() >= 32 * MiB; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(120)); // it would go on by now
    EXPECT_LE(fetched(), 32 * MiB + 4 * MiB);
    EXPECT_TRUE(readsRight(*cache, objects.front()));
    EXPECT_EQ(fetched(), 120 * MiB);
    EXPECT_LE(memory->bytes(), 64 * MiB);
}

/// Reads of an object fail.
class BrokenObjectStore final : public test::ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;
    Result<void> read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                      TaskContext& task) const override
    {
        if (object.key == "broken") {
            ++failures;
            return fail(Code::Auth, "not yours", std::string(object.key));
        }
        return ForwardingStore::read(object, offset, out, task);
    }
    mutable std::atomic<int> failures = 0;
};

TEST_F(ReadAheadOfAStore, AFailureEndsItAndIsTheReadersToReport)
{
    const std::vector<ObjectInfo> objects { generated->add("broken", 300 * MiB), generated->add("sound", 20 * MiB) };
    const auto failing = std::make_shared<BrokenObjectStore>(generated);
    const CachingStore failingCache(failing, std::make_shared<BlockMemory>());
    TaskContext task;
    const ReadsAhead ahead = failingCache.readAhead(planOf(objects), task);
    ASSERT_TRUE(eventually([&] { return failing->failures > 0; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    EXPECT_LE(failing->failures, 4 * 4); // what each of its threads had asked for
    EXPECT_TRUE(task.notices().empty());
    std::vector<std::byte> out(10);
    EXPECT_EQ(failingCache.read(objects[0], 0, out, anyTask()).error().code, Code::Auth);
    EXPECT_TRUE(readsRight(failingCache, objects[1]));
}

TEST_F(ReadAheadOfAStore, APausedOrStoppedTaskFetchesNothing)
{
    makeCache(BlockMemory::DefaultBudgetBytes);
    const std::vector<ObjectInfo> objects { generated->add("anchor", 70 * MiB) };
    TaskContext stopped;
    stopped.requestStop();
    cache->readAhead(planOf(objects), stopped).clear();
    EXPECT_EQ(fetched(), 0U);
    TaskContext paused;
    paused.pause();
    ReadsAhead ahead = cache->readAhead(planOf(objects), paused);
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    EXPECT_EQ(fetched(), 0U);
    paused.resume();
    EXPECT_TRUE(eventually([&] { return memory->bytes() >= 70 * MiB; }));
    EXPECT_EQ(fetched(), 70 * MiB);
    paused.pause();
    ahead.clear(); // what is paused and has nothing under way holds nobody up
}

/// Requests that get no answer end with it.
TEST_F(ReadAheadOfAStore, AnEndWaitsForNoAnswer)
{
    class SilentStore final : public test::ForwardingStore {
    public:
        using ForwardingStore::ForwardingStore;
        Result<void> read(const ObjectRef&, std::uint64_t, MutableByteSpan, TaskContext& of) const override
        {
            ++asked;
            while (of.going())
                std::this_thread::sleep_for(std::chrono::milliseconds(2));
            return of.going();
        }
        mutable std::atomic<int> asked = 0;
    };
    const std::vector<ObjectInfo> objects { generated->add("anchor", 70 * MiB) };
    const auto silent = std::make_shared<SilentStore>(generated);
    const CachingStore behind(silent, std::make_shared<BlockMemory>());
    TaskContext task;
    ReadsAhead ahead = behind.readAhead(planOf(objects), task);
    ASSERT_TRUE(eventually([&] { return silent->asked > 0; }));
    ahead.clear();
    EXPECT_FALSE(task.stopRequested());
}

TEST_F(ReadAheadOfAStore, WhatWasReadMeanwhileIsNotFetchedAgain)
{
    makeCache(16 * MiB);
    const std::vector<ObjectInfo> objects { generated->add("anchor", 100 * MiB) };
    TaskContext task;
    task.pause();
    const ReadsAhead ahead = cache->readAhead(planOf(objects), task);
    EXPECT_TRUE(readsRight(*cache, objects.front())); // most of it is dropped again
    const std::uint64_t once = fetched();
    EXPECT_EQ(once, 100 * MiB);
    task.resume();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_EQ(fetched(), once);
}

TEST_F(ReadAheadOfAStore, WhatCannotBeKeptIsLeftToItsReader)
{
    makeCache(BlockMemory::DefaultBudgetBytes);
    ObjectInfo listed = generated->add("anchor", 3 * MiB);
    ObjectInfo unnamed = listed;
    unnamed.identity.clear();
    ObjectInfo growing = listed;
    growing.hasUnwrittenPart = true;
    ObjectInfo longer = listed; // a plan that reaches beyond the object
    const auto plan = [&, n = 0]() mutable -> std::optional<ComingRead> {
        switch (n++) {
        case 0:
            return ComingRead { unnamed, 0, MiB };
        case 1:
            return ComingRead { growing, 0, MiB };
        case 2:
            return ComingRead { longer, 2 * MiB, 2 * MiB };
        case 3:
            return ComingRead { listed, 3 * MiB, 0 };
        case 4:
            return ComingRead { listed, 2 * MiB, MiB };
        default:
            return std::nullopt;
        }
    };
    const ReadsAhead ahead = cache->readAhead(plan, anyTask());
    ASSERT_TRUE(eventually([&] { return memory->bytes() >= 3 * MiB; })); // by the last of them
    EXPECT_EQ(fetched(), 3 * MiB);
}

TEST_F(ReadAheadOfAStore, OfMirrorsEachFetchesItsOwn)
{
    class Named final : public test::ForwardingStore {
    public:
        Named(std::shared_ptr<ObjectStore> inner, std::string uri)
            : ForwardingStore(std::move(inner))
            , m_uri(std::move(uri))
        {
        }
        std::string uri() const override { return m_uri; }

    private:
        std::string m_uri;
    };
    const auto other = std::make_shared<GeneratedStore>();
    const auto source = std::make_shared<CachingStore>(generated, std::make_shared<BlockMemory>());
    const auto mirror = std::make_shared<CachingStore>(std::make_shared<Named>(other, "s3://mirror/run"),
                                                       std::make_shared<BlockMemory>());
    const MirroredStore both(source, { mirror });
    const std::vector<ObjectInfo> objects { generated->add("here", 9 * MiB),
                                            inMirror("s3://mirror/run", other->add("there", 7 * MiB)) };
    const ReadsAhead ahead = both.readAhead(planOf(objects), anyTask());
    EXPECT_TRUE(eventually([&] { return source->counters().bytesFromNetwork == 9 * MiB; }));
    EXPECT_TRUE(eventually([&] { return mirror->counters().bytesFromNetwork == 7 * MiB; }));
}

/// A checkpoint of 18 MB in two files and one of as much in a single file, behind caches.
class StatesReadAhead : public testing::Test {
protected:
    static constexpr int TensorsOfFile = 5;

    static std::string fileOf(int part)
    {
        std::vector<FileTensor> tensors;
        for (int i = 0; i < TensorsOfFile; ++i)
            tensors.push_back({ tensor(fmt::format("weight.{}.{}", part, i), { 1'000'003 }),
                                std::string(2'000'006, static_cast<char>('a' + i)) });
        return safetensorsFile(tensors);
    }

    StatesReadAhead()
    {
        EXPECT_TRUE(putText(*stored, "model-00001-of-00002.safetensors", fileOf(1)));
        EXPECT_TRUE(putText(*stored, "model-00002-of-00002.safetensors", fileOf(2)));
        EXPECT_TRUE(putText(*alone, "model.safetensors", fileOf(1)));
    }

    static constexpr std::uint64_t TotalBytes = 21 * MiB; ///< of all that a store here has, rounded up

    /// Without any reader: the bytes of the slices come, each once.
    void expectAhead(const State& state, const CachingStore& of, std::vector<TensorSlice> slices, std::uint64_t bytes)
    {
        const std::uint64_t before = of.counters().bytesFromNetwork;
        const auto walk = state.walk(std::move(slices), { test::walkMeans() });
        ASSERT_TRUE(walk) << walk.error().text;
        const ReadsAhead ahead = (*walk)->readAhead(session.task);
        EXPECT_TRUE(eventually([&] { return of.counters().bytesFromNetwork - before >= bytes; }));
        EXPECT_LE(of.counters().bytesFromNetwork, TotalBytes);
    }

    std::shared_ptr<MemoryStore> stored = std::make_shared<MemoryStore>();
    std::shared_ptr<MemoryStore> alone = std::make_shared<MemoryStore>();
    std::shared_ptr<CachingStore> cached = std::make_shared<CachingStore>(stored, std::make_shared<BlockMemory>());
    std::shared_ptr<CachingStore> cachedAlone = std::make_shared<CachingStore>(alone, std::make_shared<BlockMemory>());
    Session session;
};

constexpr std::uint64_t MostOfOneFile = 9 * MiB - MiB; // its front came with the header

TEST_F(StatesReadAhead, APath)
{
    const auto run = session.open(cached);
    ASSERT_TRUE(run) << run.error().text;
    const auto path = openPath(*run, *planFor(*run, run->versions.front()), { 1 }, session.task);
    ASSERT_TRUE(path) << path.error().text;
    expectAhead(**path, *cached, allTensors(**path), 2 * MostOfOneFile);
}

TEST_F(StatesReadAhead, AFile)
{
    const auto state = FileState::open(cachedAlone, "model.safetensors", session.task);
    ASSERT_TRUE(state) << state.error().text;
    expectAhead(*state, *cachedAlone, allTensors(*state), MostOfOneFile);
}

/// Each passes it on to the state that it is made of.
TEST_F(StatesReadAhead, WhatIsMadeOfAnotherState)
{
    const auto openAnew = [&] {
        cachedAlone = std::make_shared<CachingStore>(alone, std::make_shared<BlockMemory>());
        return *FileState::open(cachedAlone, "model.safetensors", session.task);
    };
    {
        const FileState state = openAnew();
        const auto narrower = rounded(state, { { 0, Dtype::F8E4M3 } });
        expectAhead(*narrower, *cachedAlone, allTensors(*narrower), MostOfOneFile);
    }
    {
        const FileState state = openAnew();
        const auto other = renamed(state, { { 0, "another" } });
        ASSERT_TRUE(other) << other.error().text;
        expectAhead(**other, *cachedAlone, allTensors(**other), MostOfOneFile);
    }
    {
        const FileState state = openAnew();
        const std::vector<TensorChanges> none(state.tensors().size());
        const auto same = changedState(state, none);
        expectAhead(*same, *cachedAlone, allTensors(*same), MostOfOneFile);
    }
}

/// One reader is never alone: both files are under way although it reads one after the other.
TEST_F(StatesReadAhead, AWalkInOrderFetchesWhatComesLater)
{
    class MeetingStore final : public test::ForwardingStore {
    public:
        using ForwardingStore::ForwardingStore;
        std::vector<Result<void>> readMany(const std::vector<RangeRead>& reads, TaskContext& task) const override
        {
            std::unique_lock lock(m_mutex);
            for (const RangeRead& read : reads)
                m_keys.emplace(read.object.key);
            m_changed.notify_all();
            if (waits && !m_changed.wait_for(lock, std::chrono::seconds(30), [&] { return m_keys.size() >= 2; }))
                isMissed = true;
            lock.unlock();
            return inner().readMany(reads, task);
        }
        void begin()
        {
            const std::lock_guard lock(m_mutex);
            m_keys.clear();
            waits = true;
        }
        std::atomic<bool> waits = false;
        mutable std::atomic<bool> isMissed = false;

    private:
        mutable std::mutex m_mutex;
        mutable std::condition_variable m_changed;
        mutable std::set<std::string, std::less<>> m_keys;
    };
    const auto meeting = std::make_shared<MeetingStore>(stored);
    const auto run = session.open(std::make_shared<CachingStore>(meeting, std::make_shared<BlockMemory>()));
    ASSERT_TRUE(run) << run.error().text;
    const auto path = openPath(*run, *planFor(*run, run->versions.front()), { 1 }, session.task);
    ASSERT_TRUE(path) << path.error().text;
    const auto walk = (*path)->walk(allTensors(**path), { test::walkMeans() });
    ASSERT_TRUE(walk) << walk.error().text;
    meeting->begin();
    std::uint64_t bytes = 0;
    const auto outcome = walkTensors(**walk, InOrder, session.task, [&](std::size_t, SliceReader& reader) {
        return forEachBlock(reader, session.task, [&](ByteSpan block) { bytes += block.size(); });
    });
    ASSERT_TRUE(outcome) << outcome.error().text;
    EXPECT_EQ(bytes, (*path)->stateBytes());
    EXPECT_FALSE(meeting->isMissed);
}

} // namespace
} // namespace deltascope
