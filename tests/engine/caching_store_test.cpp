#include "store/cache/caching_store.h"

#include "support/any_task.h"
#include "support/counting_store.h"
#include "support/faulty_store.h"
#include "support/forwarding_store.h"
#include "support/generated_store.h"
#include "support/memory_store.h"
#include "support/sizes.h"
#include "support/temp_dir.h"

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <gtest/gtest.h>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

// The store in front of slow ones: the same bytes, and few requests for them.

namespace deltascope {
namespace {

using test::anyTask;
using test::CountingStore;
using test::GeneratedStore;
using test::MemoryStore;
using test::MiB;

bool isRight(std::string_view key, std::uint64_t offset, ByteSpan bytes)
{
    std::vector<std::byte> expected(bytes.size());
    GeneratedStore::fill(key, offset, expected);
    return std::equal(bytes.begin(), bytes.end(), expected.begin());
}

/// A cache in front of generated objects, with a count of what reaches them.
class CachingStoreTest : public testing::Test {
protected:
    CachingStoreTest() { makeCache(); }

    void makeCache(std::uint64_t budget = BlockMemory::DefaultBudgetBytes, std::shared_ptr<DiskCache> disk = nullptr)
    {
        memory = std::make_shared<BlockMemory>(budget);
        cache = std::make_unique<CachingStore>(counted, memory, std::move(disk));
    }
    bool readIsRight(const ObjectInfo& object, std::uint64_t offset, std::size_t bytes)
    {
        std::vector<std::byte> out(bytes);
        const Result<void> read = cache->read(object, offset, out, anyTask());
        return read && isRight(object.key, offset, out);
    }

    std::shared_ptr<GeneratedStore> generated = std::make_shared<GeneratedStore>();
    std::shared_ptr<CountingStore> counted = std::make_shared<CountingStore>(generated);
    std::shared_ptr<BlockMemory> memory;
    std::unique_ptr<CachingStore> cache;
};

TEST_F(CachingStoreTest, AHeaderIsOneRequest)
{
    const ObjectInfo object = generated->add("model", 40 * MiB);
    EXPECT_TRUE(readIsRight(object, 0, 8));
    EXPECT_TRUE(readIsRight(object, 8, 50'000));
    ASSERT_EQ(counted->reads().size(), 1U);
    EXPECT_EQ(counted->reads()[0].bytes, MiB);
    EXPECT_TRUE(counted->reads()[0].isBound);
    const ObjectInfo small = generated->add("small", 1000);
    EXPECT_TRUE(readIsRight(small, 0, 8));
    EXPECT_TRUE(readIsRight(small, 8, 992));
    ASSERT_EQ(counted->reads().size(), 2U);
    EXPECT_EQ(counted->reads()[1].bytes, 1000U);
}

TEST_F(CachingStoreTest, ThreadsThatReadFromFrontToBackFetchEachByteOnce)
{
    constexpr std::uint64_t ChunkBytes = 48'000;
    std::vector<ObjectInfo> objects;
    for (const std::uint64_t size : { std::uint64_t { 1 }, MiB - 1, MiB, MiB + 1, 5 * MiB + 3, 30 * MiB, 70 * MiB + 9 })
        objects.push_back(generated->add("object-" + std::to_string(size), size));
    std::atomic<int> wrong = 0;
    for (const ObjectInfo& object : objects) {
        std::atomic<std::uint64_t> next = 0;
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] {
                for (std::uint64_t at = next++ * ChunkBytes; at < object.sizeBytes; at = next++ * ChunkBytes) {
                    if (!readIsRight(object, at, std::min(ChunkBytes, object.sizeBytes - at)))
                        ++wrong;
                }
            });
        }
        for (std::thread& thread : threads)
            thread.join();
        EXPECT_EQ(counted->bytesOfKeys()[object.key], object.sizeBytes);
        EXPECT_LE(counted->reads().size(), (object.sizeBytes + 4 * MiB - 1) / (4 * MiB) + 1);
        counted->clear();
    }
    EXPECT_EQ(wrong, 0);
}

/// As a chain of deltas is read: a little of each object in turn. Together they are larger than the memory.
TEST_F(CachingStoreTest, ManyObjectsAtOnceFetchEachByteOnceInLittleMemory)
{
    constexpr std::uint64_t Size = 8 * MiB;
    constexpr std::uint64_t Step = 250'000;
    makeCache(32 * MiB);
    std::vector<ObjectInfo> objects;
    for (int i = 0; i < 12; ++i)
        objects.push_back(generated->add("delta-" + std::to_string(i), Size));
    for (std::uint64_t at = 0; at < Size; at += Step) {
        for (const ObjectInfo& object : objects)
            ASSERT_TRUE(readIsRight(object, at, std::min(Step, Size - at)));
        EXPECT_LE(memory->bytes(), 32 * MiB);
    }
    for (const auto& [key, bytes] : counted->bytesOfKeys())
        EXPECT_EQ(bytes, Size) << key;
}

TEST_F(CachingStoreTest, RandomReadsGiveTheBytesOfTheObject)
{
    for (const std::uint64_t budget : { 3 * MiB, 20 * MiB, BlockMemory::DefaultBudgetBytes }) {
        makeCache(budget);
        std::vector<ObjectInfo> objects;
        for (const std::uint64_t size : { std::uint64_t { 77 }, 3 * MiB + 1, 20 * MiB, 66 * MiB + 5 })
            objects.push_back(generated->add("object-" + std::to_string(size), size));
        std::atomic<int> wrong = 0;
        std::vector<std::thread> threads;
        for (unsigned seed = 0; seed < 3; ++seed) {
            threads.emplace_back([&, seed] {
                std::mt19937_64 random(seed);
                for (int i = 0; i < 60; ++i) {
                    const ObjectInfo& object = objects[random() % objects.size()];
                    const std::uint64_t offset = random() % object.sizeBytes;
                    const std::uint64_t most = std::uint64_t { 1 } << random() % 22;
                    if (!readIsRight(object, offset, std::min(most, object.sizeBytes - offset)))
                        ++wrong;
                }
            });
        }
        for (std::thread& thread : threads)
            thread.join();
        EXPECT_EQ(wrong, 0) << budget;
        EXPECT_LE(memory->bytes(), budget);
    }
}

TEST_F(CachingStoreTest, ManyReadsAreOneBatchOfTheStore)
{
    std::vector<std::vector<std::byte>> room;
    std::vector<RangeRead> reads;
    std::vector<ObjectInfo> objects;
    for (int i = 0; i < 5; ++i)
        objects.push_back(generated->add("object-" + std::to_string(i), 3 * MiB));
    room.reserve(60);
    for (std::uint64_t i = 0; i < 60; ++i) {
        room.emplace_back(10'000);
        reads.push_back({ objects[i % 5], i * 50'000, room.back() });
    }
    for (const Result<void>& outcome : cache->readMany(reads, anyTask()))
        EXPECT_TRUE(outcome);
    for (std::size_t i = 0; i < reads.size(); ++i)
        EXPECT_TRUE(isRight(reads[i].object.key, reads[i].offset, room[i])) << i;
    EXPECT_EQ(counted->batches(), 1U);
    EXPECT_EQ(counted->reads().size(), 5U);
    EXPECT_EQ(cache->counters().bytesFromNetwork, 15 * MiB);
}

TEST_F(CachingStoreTest, CountsWhatItSaves)
{
    const ObjectInfo object = generated->add("object", 2 * MiB);
    EXPECT_TRUE(readIsRight(object, 0, 100));
    EXPECT_TRUE(readIsRight(object, 50, 100));
    EXPECT_TRUE(readIsRight(object, MiB, 10));
    const CacheCounters counters = cache->counters();
    EXPECT_EQ(counters.misses, 2U);
    EXPECT_EQ(counters.hits, 1U);
    EXPECT_EQ(counters.bytesFromMemory, 0U); // all that they got was fetched for them
    EXPECT_EQ(counters.bytesFromNetwork, 2 * MiB);
    EXPECT_EQ(counters.bytesFromDisk, 0U);
    EXPECT_TRUE(readIsRight(object, 0, 2 * MiB));
    EXPECT_EQ(cache->counters().bytesFromMemory, 210U);
    EXPECT_TRUE(readIsRight(object, 0, 2 * MiB));
    EXPECT_EQ(cache->counters().bytesFromMemory, 2 * MiB + 210);
}

TEST_F(CachingStoreTest, ReadsWithoutIdentityAreTheStores)
{
    const ObjectInfo object = generated->add("object", 2 * MiB);
    std::vector<std::byte> out(10);
    for (int i = 0; i < 3; ++i)
        ASSERT_TRUE(cache->read("object", 5, out, anyTask()));
    EXPECT_EQ(counted->reads().size(), 3U);
    ObjectInfo unfinished = object;
    unfinished.hasUnwrittenPart = true; // its bytes change under this identity
    for (int i = 0; i < 2; ++i)
        ASSERT_TRUE(cache->read(unfinished, 5, out, anyTask()));
    EXPECT_EQ(counted->reads().size(), 5U);
}

TEST_F(CachingStoreTest, AnObjectThatIsShorterThanListedIsReadAsFarAsItIsThere)
{
    ObjectInfo listed = generated->add("object", 2 * MiB + 5);
    listed.sizeBytes = 3 * MiB;
    EXPECT_TRUE(readIsRight(listed, MiB - 3, MiB + 8));
    std::vector<std::byte> out(10);
    const auto beyond = cache->read(listed, 2 * MiB, out, anyTask());
    ASSERT_FALSE(beyond);
    EXPECT_EQ(beyond.error().code, Code::Truncated);
    listed.sizeBytes = UINT64_MAX; // as a hostile listing says
    const auto far = cache->read(listed, UINT64_MAX - 10, out, anyTask());
    ASSERT_FALSE(far);
    EXPECT_EQ(far.error().code, Code::Truncated);
}

TEST_F(CachingStoreTest, ObjectsOfOneContentAreFetchedOnce)
{
    const ObjectInfo object = generated->add("object", 2 * MiB, "sha256:aa");
    ObjectInfo copy = object;
    copy.key = "copy";
    copy.identity = "another";
    EXPECT_TRUE(readIsRight(object, 100, 10));
    std::vector<std::byte> out(10);
    ASSERT_TRUE(cache->read(copy, 100, out, anyTask()));
    EXPECT_TRUE(isRight("object", 100, out));
    EXPECT_EQ(counted->reads().size(), 1U);
}

/// Who says that its bytes have this hash may lie: that must not reach what is read of others.
TEST_F(CachingStoreTest, TheContentHashOfOneStoreSaysNothingAboutAnother)
{
    class Elsewhere final : public test::ForwardingStore {
    public:
        using ForwardingStore::ForwardingStore;
        std::string uri() const override { return "generated://elsewhere"; }
    };
    const ObjectInfo lie = generated->add("lie", 2 * MiB, "sha256:aa");
    const ObjectInfo object = generated->add("object", 2 * MiB, "sha256:aa");
    const CachingStore other(std::make_shared<Elsewhere>(generated), memory);
    std::vector<std::byte> out(10);
    ASSERT_TRUE(other.read(lie, 0, out, anyTask()));
    EXPECT_TRUE(readIsRight(object, 0, 10));
}

TEST(CachingStoreErrors, AnErrorIsNotKept)
{
    const auto stored = std::make_shared<MemoryStore>();
    const ObjectInfo object = *test::putText(*stored, "object", std::string(100, 'x'));
    const auto faulty = std::make_shared<test::FaultyStore>(stored);
    const CachingStore cache(faulty, std::make_shared<BlockMemory>());
    std::vector<std::byte> out(10);
    faulty->failNth(test::StoreOperation::Read, 1, Error { Code::Transient, "lost", "object", std::nullopt, {} });
    const auto lost = cache.read(object, 0, out, anyTask());
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().code, Code::Transient);
    ASSERT_TRUE(cache.read(object, 0, out, anyTask()));
    EXPECT_EQ(asText(out), std::string(10, 'x'));
    EXPECT_EQ(cache.counters().bytesFromNetwork, 200U);
}

TEST(CachingStoreErrors, WhatThisProcessHasReplacedIsRewritten)
{
    const auto stored = std::make_shared<MemoryStore>();
    CachingStore cache(stored, std::make_shared<BlockMemory>());
    const ObjectInfo old = *test::putText(cache, "object", "old");
    std::vector<std::byte> out(3);
    ASSERT_TRUE(cache.read(old, 0, out, anyTask()));
    const ObjectInfo now = *test::putText(cache, "object", "new");
    const auto replaced = cache.read(old, 0, out, anyTask());
    ASSERT_FALSE(replaced);
    EXPECT_EQ(replaced.error().code, Code::Rewritten);
    ASSERT_TRUE(cache.read(now, 0, out, anyTask()));
    EXPECT_EQ(asText(out), "new");
}

TEST(CachingStoreErrors, WhatThisProcessHasRemovedIsGone)
{
    const test::TempDir folder;
    CachingStore cache(std::move(*openLocalStore(folder.path())), std::make_shared<BlockMemory>());
    const ObjectInfo object = *test::putText(cache, "object", "bytes");
    std::vector<std::byte> out(3);
    ASSERT_TRUE(cache.read(object, 0, out, anyTask()));
    ASSERT_TRUE(removeOne(cache, "object", anyTask()));
    const auto gone = cache.read(object, 0, out, anyTask());
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().code, Code::NotFound);
}

TEST(CachingStoreRemoval, OfManyIsOneRequest)
{
    const auto counted = std::make_shared<CountingStore>(std::make_shared<MemoryStore>());
    CachingStore cache(counted, std::make_shared<BlockMemory>());
    std::vector<ObjectInfo> objects;
    for (int i = 0; i < 64; ++i)
        objects.push_back(*test::putText(cache, fmt::format("object{}", i), "bytes"));
    for (const Result<void>& outcome : cache.remove({ objects.begin(), objects.end() }, anyTask()))
        EXPECT_TRUE(outcome);
    EXPECT_EQ(counted->removals(), 1U);
    std::vector<std::byte> out(3);
    EXPECT_EQ(cache.read(objects.front(), 0, out, anyTask()).error().code, Code::NotFound);
}

/// Reads wait in it until they may go on, or their task is stopped.
class Gate final : public test::ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;

    Result<void> read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                      TaskContext& task) const override
    {
        {
            std::unique_lock lock(m_mutex);
            ++m_entered;
            m_changed.notify_all();
            while (!m_isOpen && !task.stopRequested())
                m_changed.wait_for(lock, std::chrono::milliseconds(5));
        }
        if (task.stopRequested())
            return fail(Code::Canceled, "stopped on request");
        return ForwardingStore::read(object, offset, out, task);
    }
    void open()
    {
        const std::lock_guard lock(m_mutex);
        m_isOpen = true;
        m_changed.notify_all();
    }
    void awaitEntered(int reads) const
    {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [&] { return m_entered >= reads; });
    }
    int entered() const
    {
        const std::lock_guard lock(m_mutex);
        return m_entered;
    }

private:
    mutable std::mutex m_mutex;
    mutable std::condition_variable m_changed;
    mutable int m_entered = 0;
    bool m_isOpen = false;
};

class CachingStoreThreads : public testing::Test {
protected:
    /// Reads the same few bytes; the outcome is that of a thread.
    std::thread reader(TaskContext& task, Result<void>& outcome)
    {
        return std::thread([&] {
            std::vector<std::byte> out(100);
            outcome = cache.read(object, 5, out, task);
            if (outcome && !isRight(object.key, 5, out))
                outcome = fail(Code::Internal, "wrong bytes");
        });
    }
    /// Long enough that the other thread waits by now on any machine that is not very busy; what is tested holds
    /// anyway.
    static void giveTimeToWait() { std::this_thread::sleep_for(std::chrono::milliseconds(60)); }

    std::shared_ptr<GeneratedStore> generated = std::make_shared<GeneratedStore>();
    ObjectInfo object = generated->add("object", 3 * MiB);
    std::shared_ptr<Gate> gate = std::make_shared<Gate>(generated);
    CachingStore cache { gate, std::make_shared<BlockMemory>() };
    TaskContext firstTask, secondTask;
    Result<void> first, second;
};

TEST_F(CachingStoreThreads, TwoThatWantOneLeafFetchItOnce)
{
    std::thread a = reader(firstTask, first);
    gate->awaitEntered(1);
    std::thread b = reader(secondTask, second);
    giveTimeToWait();
    gate->open();
    a.join();
    b.join();
    EXPECT_TRUE(first);
    EXPECT_TRUE(second);
    EXPECT_EQ(gate->entered(), 1);
    EXPECT_EQ(cache.counters().bytesFromNetwork, MiB);
    EXPECT_EQ(cache.counters().hits, 1U);
}

TEST_F(CachingStoreThreads, OneThatIsStoppedWhileItFetchesFailsNobodyElse)
{
    std::thread a = reader(firstTask, first);
    gate->awaitEntered(1);
    std::thread b = reader(secondTask, second);
    giveTimeToWait();
    firstTask.requestStop();
    a.join();
    ASSERT_FALSE(first);
    EXPECT_EQ(first.error().code, Code::Canceled);
    gate->awaitEntered(2); // the second one fetches by itself
    gate->open();
    b.join();
    EXPECT_TRUE(second);
}

TEST_F(CachingStoreThreads, OneThatWaitsForAnotherCanBeStopped)
{
    std::thread a = reader(firstTask, first);
    gate->awaitEntered(1);
    std::thread b = reader(secondTask, second);
    giveTimeToWait();
    secondTask.requestStop();
    b.join(); // although the first one still fetches
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::Canceled);
    gate->open();
    a.join();
    EXPECT_TRUE(first);
}

TEST_F(CachingStoreThreads, NobodyWaitsForAFetchThatIsPaused)
{
    std::thread a = reader(firstTask, first);
    gate->awaitEntered(1);
    firstTask.pause();
    std::thread b = reader(secondTask, second);
    gate->awaitEntered(2);
    gate->open();
    b.join();
    EXPECT_TRUE(second);
    firstTask.resume();
    a.join();
    EXPECT_TRUE(first);
}

class CachingStoreOnDisk : public CachingStoreTest {
protected:
    void startAnew() { makeCache(BlockMemory::DefaultBudgetBytes, std::make_shared<DiskCache>(folder.path("cache"))); }

    test::TempDir folder;
};

TEST_F(CachingStoreOnDisk, WhatWasFetchedIsThereAfterANewStart)
{
    const ObjectInfo object = generated->add("object", 6 * MiB + 1);
    startAnew();
    EXPECT_TRUE(readIsRight(object, 0, 2 * MiB));
    counted->clear();
    startAnew();
    EXPECT_TRUE(readIsRight(object, 0, object.sizeBytes));
    EXPECT_TRUE(counted->reads().empty());
    EXPECT_EQ(cache->counters().bytesFromDisk, object.sizeBytes);
    EXPECT_EQ(cache->counters().bytesFromNetwork, 0U);
    startAnew(); // what nobody asks for stays on disk
    EXPECT_TRUE(readIsRight(object, 3 * MiB, 5));
    EXPECT_EQ(cache->counters().bytesFromDisk, MiB);
    EXPECT_TRUE(counted->reads().empty());
}

/// A store that compares what was read of an object with a digest once all of it was, and whose answers may have a
/// flipped bit.
class ProvingStore final : public test::ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;

    Result<void> read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                      TaskContext& task) const override
    {
        DS_CHECK(ForwardingStore::read(object, offset, out, task));
        const bool isFlipped = std::exchange(flipsNext, false);
        if (isFlipped)
            out.front() ^= std::byte { 1 };
        isWrong = isWrong || isFlipped;
        m_readBytes += out.size();
        if (m_readBytes < *object.sizeBytes)
            return {};
        m_readBytes = 0;
        wasProven = !isWrong;
        if (!std::exchange(isWrong, false))
            return {};
        return fail(Code::Digest, "what was read is not what was put", std::string(object.key));
    }
    ReadProof proofOf(const ObjectRef&) const override
    {
        return wasProven && m_readBytes == 0 ? ReadProof::Proven : ReadProof::Partial;
    }

    mutable bool flipsNext = false, isWrong = false, wasProven = false;

private:
    mutable std::uint64_t m_readBytes = 0;
};

TEST_F(CachingStoreOnDisk, WrongBytesAreNotKept)
{
    const ObjectInfo object = generated->add("object", 70 * MiB);
    const auto proving = std::make_shared<ProvingStore>(generated);
    const auto start = [&] {
        memory = std::make_shared<BlockMemory>();
        cache = std::make_unique<CachingStore>(proving, memory, std::make_shared<DiskCache>(folder.path("cache")));
    };
    const auto readAll = [&] {
        std::size_t wrong = 0;
        for (std::uint64_t at = 0; at < object.sizeBytes; at += MiB)
            wrong += readIsRight(object, at, MiB) ? 0 : 1;
        return wrong;
    };
    start();
    proving->flipsNext = true;
    EXPECT_GE(readAll(), 2U); // the flipped bit, and the read that tells
    EXPECT_EQ(readAll(), 0U);
    EXPECT_EQ(proving->proofOf(object), ReadProof::Proven);
    start();
    EXPECT_EQ(readAll(), 0U);
    EXPECT_GT(cache->counters().diskHits, 0U);
}

TEST_F(CachingStoreOnDisk, WhatIsNotProvenDiesWithTheProcess)
{
    const ObjectInfo object = generated->add("object", 70 * MiB);
    const auto proving = std::make_shared<ProvingStore>(generated);
    for (int i = 0; i < 2; ++i) {
        cache = std::make_unique<CachingStore>(proving, std::make_shared<BlockMemory>(),
                                               std::make_shared<DiskCache>(folder.path("cache")));
        EXPECT_TRUE(readIsRight(object, 0, MiB));
        EXPECT_EQ(cache->counters().diskHits, 0U);
    }
}

TEST_F(CachingStoreOnDisk, DamagedLeavesAreFetchedAgain)
{
    const ObjectInfo object = generated->add("object", 6 * MiB + 1);
    startAnew();
    EXPECT_TRUE(readIsRight(object, 0, object.sizeBytes));
    counted->clear();
    std::size_t damaged = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path("cache"))) {
        if (entry.is_regular_file() && entry.file_size() > 0) {
            const std::string name = std::filesystem::relative(entry.path(), folder.path());
            std::string content = folder.read(name);
            content[content.size() / 2] = static_cast<char>(~content[content.size() / 2]);
            folder.write(name, content);
            ++damaged;
        }
    }
    EXPECT_EQ(damaged, 2U); // a file for each window
    startAnew();
    EXPECT_TRUE(readIsRight(object, 0, object.sizeBytes));
    std::uint64_t fetched = 0;
    for (const CountingStore::Read& read : counted->reads())
        fetched += read.bytes;
    EXPECT_GE(fetched, 2 * MiB);
    EXPECT_LT(fetched, object.sizeBytes); // leaves in front of the damage were read before it was found
    startAnew(); // those went with their file
    EXPECT_TRUE(readIsRight(object, 0, object.sizeBytes));
    counted->clear();
    startAnew();
    EXPECT_TRUE(readIsRight(object, 0, object.sizeBytes));
    EXPECT_TRUE(counted->reads().empty());
}

TEST_F(CachingStoreOnDisk, AnIdentityNeverGetsTheBytesOfAnother)
{
    ObjectInfo object = generated->add("object", 1000);
    startAnew();
    EXPECT_TRUE(readIsRight(object, 0, 1000));
    object.identity += "2";
    startAnew();
    EXPECT_TRUE(readIsRight(object, 0, 1000));
    EXPECT_EQ(cache->counters().bytesFromDisk, 0U);
    EXPECT_EQ(counted->reads().size(), 2U);
}

} // namespace
} // namespace deltascope
