#include "deltascope/engine/operations.h"

#include "session.h"
#include "store/cache/caching_store.h"
#include "support/counting_store.h"
#include "support/slice.h"
#include "support/test_name.h"

#include "deltascope/engine/forwarding_store.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <numeric>
#include <thread>

// How many requests it takes to open a run and to rebuild a step of it where each of them takes time.

namespace deltascope {
namespace {

using namespace layout_test;
using test::CountingStore;

constexpr std::uint64_t WindowBytes = 4U << 20;

/// A store as a remote one is used: counted, and behind a cache.
struct Remote {
    explicit Remote(std::shared_ptr<ObjectStore> inner)
        : counted(std::make_shared<CountingStore>(std::move(inner)))
        , cached(std::make_shared<CachingStore>(counted, std::make_shared<BlockMemory>()))
    {
        TaskContext task;
        objects = listAll(*counted, "", task).value_or(std::vector<ObjectInfo>());
        counted->clear();
    }

    /// Each byte once, and no more requests than windows and objects.
    void expectFewRequests() const
    {
        const auto bytes = counted->bytesOfKeys();
        std::map<std::string, std::size_t> requests;
        for (const CountingStore::Read& read : counted->reads()) {
            EXPECT_TRUE(read.isBound) << read.key << " at " << read.offset;
            ++requests[read.key];
        }
        for (const ObjectInfo& object : objects) {
            if (!requests.contains(object.key))
                continue;
            EXPECT_LE(bytes.at(object.key), object.sizeBytes) << object.key;
            EXPECT_LE(requests[object.key], (object.sizeBytes + WindowBytes - 1) / WindowBytes + 1) << object.key;
        }
    }

    std::shared_ptr<CountingStore> counted;
    std::shared_ptr<CachingStore> cached;
    std::vector<ObjectInfo> objects;
};

std::shared_ptr<ObjectStore> folderOf(const std::string& name, const std::string& part)
{
    const std::string path = goldenPath(name + "/" + part);
    return std::filesystem::exists(path) ? std::shared_ptr<ObjectStore>(std::move(*openLocalStore(path))) : nullptr;
}

const Version& newestRestorable(const deltascope::Run& run)
{
    const Version* const latest = run.latest();
    EXPECT_NE(latest, nullptr);
    return *latest;
}

Result<MaterializeReport> rebuildNewest(Session& session, const deltascope::Run& run, const std::string& name)
{
    const Version& version = newestRestorable(run);
    DS_TRY(const Plan plan, planFor(run, version));
    MaterializeOptions options;
    options.destination = session.folder.path(name);
    return materialize(session.bench, run, version, plan, options, session.task);
}

class BatchedReads : public testing::TestWithParam<const char*> { };

TEST_P(BatchedReads, ARebuildFetchesEachByteOnce)
{
    Session session;
    session.openDisk();
    const Remote source(folderOf(GetParam(), "bucket"));
    std::optional<Remote> base;
    if (const auto folder = folderOf(GetParam(), "base"))
        base.emplace(folder);
    const auto run = session.open(source.cached, base ? base->cached : nullptr);
    ASSERT_TRUE(run) << run.error().text;
    source.expectFewRequests();
    EXPECT_LE(source.counted->reads().size(), source.objects.size());
    EXPECT_EQ(source.counted->stats(), 0U); // the listing has told
    EXPECT_LE(source.counted->lists(), 1U);

    const auto report = rebuildNewest(session, *run, "out");
    ASSERT_TRUE(report) << report.error().text;
    source.expectFewRequests();
    if (base)
        base->expectFewRequests();
    // in the end each object that was read is looked at; files that are copied are looked at before
    EXPECT_LE(source.counted->stats(), 2 * source.objects.size());

    const auto reads = source.counted->reads().size();
    ASSERT_TRUE(rebuildNewest(session, *run, "again"));
    EXPECT_EQ(source.counted->reads().size(), reads);
}

INSTANTIATE_TEST_SUITE_P(Buckets, BatchedReads,
                         testing::Values("trl-v2-raw", "trl-v2-partial-anchor", "trl-v1.2", "slime-v2-xor",
                                         "slime-v2-overwrite", "slime-v1-indices", "hf-sharded", "hf-single", "dcp",
                                         "dcp-hf", "grail", "skyrl", "modelexpress", "prime-rl"),
                         [](const auto& info) { return test::testName(info.param); });

/// A store whose answers about an object take a while.
class FarStore final : public ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;
    Result<ObjectInfo> stat(std::string_view key, TaskContext& task) const override
    {
        const int now = ++m_asked;
        int most = mostAsked;
        while (now > most && !mostAsked.compare_exchange_weak(most, now)) { }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        --m_asked;
        return ForwardingStore::stat(key, task);
    }

    mutable std::atomic<int> mostAsked = 0; ///< at the same time

private:
    mutable std::atomic<int> m_asked = 0;
};

TEST(BatchedReadsOfManyVersions, ObjectsAreLookedAtTogetherInTheEnd)
{
    Session session;
    session.bench.threads = 1;
    const auto far = std::make_shared<FarStore>(folderOf("trl-v2-raw", "bucket"));
    const auto cached = std::make_shared<CachingStore>(far, std::make_shared<BlockMemory>());
    const auto run = session.open(cached);
    ASSERT_TRUE(run) << run.error().text;
    const auto plan = planFor(*run, *run->find(9));
    ASSERT_TRUE(plan) << plan.error().text;
    ASSERT_GE(plan->links.size(), 8U);
    const auto path = openChecked(session.bench, *run, *plan, false, session.task);
    ASSERT_TRUE(path) << path.error().text;
    ASSERT_TRUE(digestState(session.bench, **path, session.task));
    EXPECT_GE(far->mostAsked, 4) << "one answer after the other takes as long as there are objects";
    EXPECT_LE(far->mostAsked, 8);
}

TEST(BatchedReadsOfManyVersions, TheirHeadersAreOneBatch)
{
    constexpr int Versions = 40;
    const auto stored = std::make_shared<MemoryStore>();
    for (int step = 1; step <= Versions; ++step)
        ASSERT_TRUE(putText(*stored, fmt::format("checkpoint-{}/model.safetensors", step),
                            safetensorsFile({ { tensor("weight"), std::string(16, 'x') } })));
    const Remote source(stored);
    Session session;
    const auto run = session.open(source.cached);
    ASSERT_TRUE(run) << run.error().text;
    EXPECT_EQ(run->versions.size(), static_cast<std::size_t>(Versions));
    EXPECT_EQ(source.counted->reads().size(), static_cast<std::size_t>(Versions));
    EXPECT_LE(source.counted->batches(), 5U); // that of all headers, and some to know the layout
}

/// What is known is not read again; a new step costs its own header.
TEST(BatchedReadsOfManyVersions, AKnownRunIsListedOnceAndReadNoMore)
{
    constexpr std::uint64_t PageKeys = 4096; // of ListRequest
    const std::uint64_t versions = test::isWholeSweep() ? 10'000 : PageKeys + 100;
    const auto stored = std::make_shared<MemoryStore>();
    const std::string checkpoint = safetensorsFile({ { tensor("weight"), std::string(16, 'x') } });
    const auto put = [&](std::uint64_t step) {
        return putText(*stored, fmt::format("checkpoint-{}/model.safetensors", step), checkpoint).has_value();
    };
    for (std::uint64_t step = 1; step <= versions; ++step)
        ASSERT_TRUE(put(step));
    Session session;
    session.openCatalog();
    ASSERT_TRUE(session.open(Remote(stored).cached));

    const Remote again(stored); // another start of the program
    const auto known = session.open(again.cached);
    ASSERT_TRUE(known) << known.error().text;
    EXPECT_EQ(known->versions.size(), versions);
    EXPECT_LE(again.counted->lists(), versions / PageKeys + 1);
    EXPECT_EQ(again.counted->reads().size(), 0U);
    EXPECT_EQ(again.counted->stats(), 0U);

    ASSERT_TRUE(put(versions + 1));
    again.counted->clear();
    const auto grown = session.open(again.cached);
    ASSERT_TRUE(grown) << grown.error().text;
    EXPECT_EQ(grown->versions.size(), versions + 1);
    EXPECT_LE(again.counted->reads().size(), 1U);
}

TEST(BatchedReadsOfALargeObject, AreItsWindows)
{
    const auto stored = std::make_shared<MemoryStore>();
    std::vector<FileTensor> tensors;
    for (int i = 0; i < 9; ++i)
        tensors.push_back({ tensor(fmt::format("weight.{}", i), { 1'000'003 }), std::string(2'000'006, 'a' + i) });
    ASSERT_TRUE(putText(*stored, "model.safetensors", safetensorsFile(tensors)));
    const Remote source(stored);
    Session session;
    session.openDisk();
    const auto run = session.open(source.cached);
    ASSERT_TRUE(run) << run.error().text;
    ASSERT_TRUE(rebuildNewest(session, *run, "out"));
    source.expectFewRequests();
    EXPECT_EQ(source.counted->bytesOfKeys()["model.safetensors"], source.objects.at(0).sizeBytes);
}

/// The cache still holds what was read before; a rebuild must not be sound for that.
TEST(BatchedReadsOfALargeObject, AreNotSoundOnceItWasReplaced)
{
    const auto stored = std::make_shared<MemoryStore>();
    const auto model = [](char value) {
        return safetensorsFile({ { tensor("a", { 1'000'000 }), std::string(2'000'000, value) },
                                 { tensor("b", { 1'000'000 }), std::string(2'000'000, value) } });
    };
    ASSERT_TRUE(putText(*stored, "model.safetensors", model('a')));
    const Remote source(stored);
    Session session;
    session.openDisk();
    const auto run = session.open(source.cached);
    ASSERT_TRUE(run) << run.error().text;
    ASSERT_TRUE(rebuildNewest(session, *run, "before"));
    ASSERT_TRUE(putText(*stored, "model.safetensors", model('b'))); // as another process does
    const auto report = rebuildNewest(session, *run, "out");
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, Code::Rewritten);
    EXPECT_FALSE(std::filesystem::exists(session.folder.path("out")));
}

TEST(BatchedReadsOnRecord, WhatWasReadIsComparedWithoutReadingItAgain)
{
    Session session;
    session.openDisk();
    session.openRecords();
    const auto folder = folderOf("trl-v2-raw", "bucket");
    auto before = session.open(folder);
    ASSERT_TRUE(before);
    VerifyOptions options;
    ASSERT_TRUE(verifyRun(session.bench, *before, options, session.task));
    const Remote source(folder);
    const auto run = session.open(source.cached);
    ASSERT_TRUE(run) << run.error().text;
    ASSERT_TRUE(rebuildNewest(session, *run, "out"));
    source.expectFewRequests();
}

} // namespace
} // namespace deltascope
