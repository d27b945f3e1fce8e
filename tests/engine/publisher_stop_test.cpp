#include "lease_fixture.h"
#include "support/eventually.h"
#include "support/forwarding_store.h"

#include <atomic>
#include <chrono>
#include <thread>

// A publisher that is stopped ends soon, whatever its lease and its spans wait for; one that is not waits.

namespace deltascope {
namespace {

using namespace layout_test;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto Soon = 3s; ///< a second, on a machine that is busy

/// Puts of some keys take long: until their task is stopped, or a time is over.
class SlowStore final : public test::ForwardingStore {
public:
    SlowStore(std::shared_ptr<ObjectStore> inner, std::string folder)
        : ForwardingStore(std::move(inner))
        , m_folder(std::move(folder))
    {
    }
    Result<ObjectInfo> put(std::string_view key, const Payload& bytes, PutMode mode, TaskContext& task) override
    {
        if (isSlow && key.starts_with(m_folder)) {
            ++waiting;
            for (const auto end = Clock::now() + takes.load(); Clock::now() < end;) {
                DS_CHECK(task.checkpoint());
                std::this_thread::sleep_for(1ms);
            }
        }
        return ForwardingStore::put(key, bytes, mode, task);
    }

    std::atomic<bool> isSlow = false;
    std::atomic<Clock::duration> takes { 60s };
    std::atomic<int> waiting = 0; ///< so many puts were slow

private:
    const std::string m_folder;
};

struct SlowPublishing : Publishing {
    explicit SlowPublishing(std::string folder)
        : store(std::make_shared<SlowStore>(run, std::move(folder)))
    {
    }
    std::optional<Publisher> opened()
    {
        Result<Publisher> publisher = Publisher::open(bench, store, base, options, task);
        EXPECT_TRUE(publisher);
        return publisher ? std::optional(std::move(*publisher)) : std::nullopt;
    }
    /// Stops the publisher once a put waits.
    std::jthread stopper()
    {
        return std::jthread([this] {
            EXPECT_TRUE(test::eventually([this] { return store->waiting > 0; }));
            stopped = Clock::now();
            task.requestStop();
        });
    }

    std::shared_ptr<SlowStore> store;
    Clock::time_point stopped;
};

TEST(StoppedPublisher, DoesNotWaitForTheRenewalOfItsLease)
{
    SlowPublishing p(".deltascope/v1/lease/");
    p.options.lease.life = 100ms; // renewed every 5
    auto publisher = p.opened();
    ASSERT_TRUE(publisher);
    const PathPtr next = p.state(1);
    p.store->isSlow = true;
    ASSERT_TRUE(test::eventually([&] { return p.store->waiting > 0; }));
    std::jthread stopper = p.stopper();
    const auto outcome = publisher->publish(nullptr, *next, "checkpoint-1", p.task);
    stopper.join();
    EXPECT_EQ(errorOf(outcome).code, Code::Canceled);
    publisher.reset();
    EXPECT_LT(Clock::now() - p.stopped, Soon);
    EXPECT_TRUE(p.keys().empty());
}

TEST(StoppedPublisher, DoesNotWaitForItsSpans)
{
    SlowPublishing p(".deltascope/v1/spans/");
    auto publisher = p.opened();
    ASSERT_TRUE(publisher);
    ASSERT_TRUE(p.publish(*publisher, 1));
    p.store->isSlow = true;
    std::jthread stopper = p.stopper();
    EXPECT_EQ(errorOf(publisher->keepAlive(p.task)).code, Code::Canceled);
    stopper.join();
    publisher->note(1, "stopped");
    publisher.reset();
    EXPECT_LT(Clock::now() - p.stopped, Soon);
    EXPECT_TRUE(leaseOf(p, 1)["released"].get<bool>());
}

TEST(StoppedPublisher, GivesItsLeaseBackAndPutsItsSpansWhereTheStoreAnswers)
{
    SlowPublishing p(".deltascope/");
    auto publisher = p.opened();
    ASSERT_TRUE(publisher);
    ASSERT_TRUE(p.publish(*publisher, 1));
    p.task.requestStop();
    publisher.reset();
    EXPECT_TRUE(leaseOf(p, 1)["released"].get<bool>());
    EXPECT_FALSE(listAll(*p.run, ".deltascope/v1/spans/", test::anyTask())->empty());
}

TEST(Publisher, ThatIsNotStoppedWaitsForASlowStore)
{
    SlowPublishing p(".deltascope/");
    auto publisher = p.opened();
    ASSERT_TRUE(publisher);
    ASSERT_TRUE(p.publish(*publisher, 1));
    p.store->takes = 400ms;
    p.store->isSlow = true;
    publisher.reset();
    EXPECT_TRUE(leaseOf(p, 1)["released"].get<bool>());
    EXPECT_FALSE(listAll(*p.run, ".deltascope/v1/spans/", test::anyTask())->empty());
}

} // namespace
} // namespace deltascope
