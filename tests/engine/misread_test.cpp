#include "trained_run.h"

#include "store/cache/caching_store.h"

// One wrong answer of a network: it is noticed, nothing of it is kept, and the bucket is not accused of it.

namespace deltascope {
namespace {

using namespace layout_test;

/// Turns one bit over, near the end of one object, in what one read of it gives.
class FlipsOnce final : public ForwardingStore {
public:
    FlipsOnce(std::shared_ptr<ObjectStore> below, std::string key)
        : ForwardingStore(std::move(below))
        , m_key(std::move(key))
    {
    }
    Result<void> read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                      TaskContext& task) const override
    {
        Result<void> outcome = below().read(object, offset, out, task);
        if (object.key != m_key || !outcome)
            return outcome;
        const std::uint64_t size = below().stat(m_key, task)->sizeBytes;
        if (offset + out.size() == size && out.size() > 3 && m_left.fetch_sub(1) > 0)
            out[out.size() - 3] ^= std::byte { 1 };
        return outcome;
    }
    std::vector<Result<void>> readMany(const std::vector<RangeRead>& reads, TaskContext& task) const override
    {
        return ObjectStore::readMany(reads, task);
    }
    void flip() { m_left = 1; }
    bool hasFlipped() const { return m_left <= 0; }

private:
    const std::string m_key;
    mutable std::atomic<int> m_left = 0;
};

/// A run behind a cache on disk, of which one delta is read wrong once; each command is another process.
class Misread : public testing::TestWithParam<bool> {
protected:
    static constexpr std::int64_t Last = 9;
    static constexpr std::int64_t Wrong = 5;

    Misread()
    {
        bucket.putAnchor(1, training.states[1], -1, rootFacts(1));
        for (std::int64_t step = 2; step <= Last; ++step)
            bucket.putDelta(step, training.changes[std::size_t(step)], -1, rootFacts(step));
        session.openCatalog();
        session.openRecords();
    }
    ~Misread() override { restart(); }

    Metadata rootFacts(std::int64_t step) const
    {
        return GetParam() ? Metadata { { std::string(fact::Root), rootOf(training.states[std::size_t(step)]) } }
                          : Metadata();
    }
    /// As another process finds it.
    std::shared_ptr<ObjectStore> restart()
    {
        cache.reset();
        disk.reset();
        disk = std::make_shared<DiskCache>(session.folder.path("blocks"));
        cache = std::make_shared<CachingStore>(network, std::make_shared<BlockMemory>(), disk);
        return cache;
    }
    VerifyReport verified()
    {
        Result<deltascope::Run> run = session.open(restart());
        EXPECT_TRUE(run) << run.error().text;
        VerifyOptions options;
        options.level = 3;
        Result<VerifyReport> report = verifyRun(session.bench, *run, options, session.task);
        EXPECT_TRUE(report) << report.error().text;
        return report ? std::move(*report) : VerifyReport();
    }
    void expectSound(const VerifyReport& report) const
    {
        EXPECT_EQ(report.steps.size(), std::size_t(Last));
        for (const StepVerdict& step : report.steps) {
            EXPECT_LE(step.verdict, Verdict::FirstSight) << step.version;
            for (const Error& problem : step.problems)
                ADD_FAILURE() << step.version << ": " << problem.text;
        }
    }
    void expectRebuilt()
    {
        const auto run = session.open(restart());
        ASSERT_TRUE(run);
        for (const std::int64_t step : { Wrong, Last }) {
            const auto plan = planFor(*run, layout_test::step(*run, step));
            ASSERT_TRUE(plan) << plan.error().text;
            const auto path = openChecked(session.bench, *run, *plan, false, session.task);
            ASSERT_TRUE(path) << path.error().text;
            const auto digest = digestState(session.bench, **path, session.task);
            ASSERT_TRUE(digest) << digest.error().text;
            EXPECT_EQ(digest->tensors.at(0).xxh3, xxh3(std::as_bytes(std::span(training.states[std::size_t(step)]))));
        }
    }

    Training training = Training(Last, 7);
    Bucket bucket;
    Session session;
    std::shared_ptr<FlipsOnce> network = std::make_shared<FlipsOnce>(bucket.store, deltaKey(Wrong));
    std::shared_ptr<DiskCache> disk;
    std::shared_ptr<CachingStore> cache;
};
INSTANTIATE_TEST_SUITE_P(WithAndWithoutRoots, Misread, testing::Bool());

TEST_P(Misread, OnceInAVerificationIsNotKept)
{
    network->flip();
    static_cast<void>(verified()); // which may say that the object changed while it was read
    EXPECT_TRUE(network->hasFlipped());
    expectSound(verified());
    expectRebuilt();
}

TEST_P(Misread, BehindARecordIsNotKept)
{
    expectSound(verified());
    std::filesystem::remove_all(session.folder.path("blocks"));
    network->flip();
    expectRebuilt();
    EXPECT_TRUE(network->hasFlipped());
    expectSound(verified());
}

TEST_P(Misread, OnceWhenARunIsOpenedIsNotKept)
{
    network->flip();
    deltascope::Run run = session.analyzed(restart());
    EXPECT_TRUE(network->hasFlipped());
    expectSound(verified());
    expectRebuilt();
}

TEST_P(Misread, DamageThatIsStoredStaysDamage)
{
    expectSound(verified());
    const ObjectInfo object = *bucket.store->stat(deltaKey(Wrong), session.task);
    std::string bytes(object.sizeBytes, '\0');
    ASSERT_TRUE(bucket.store->read(object, 0, std::as_writable_bytes(std::span(bytes)), session.task));
    bytes[bytes.size() - 3] ^= 1;
    bucket.put(deltaKey(Wrong), Wrong, bytes);
    for (int again = 0; again < 2; ++again) {
        const VerifyReport report = verified();
        ASSERT_EQ(report.steps.size(), std::size_t(Last));
        EXPECT_GT(report.steps[Wrong - 1].verdict, Verdict::FirstSight);
    }
}

} // namespace
} // namespace deltascope
