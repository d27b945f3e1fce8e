#include "deltascope/engine/operations.h"

#include "publish_fixture.h"
#include "support/any_task.h"
#include "support/temp_dir.h"
#include "support/times.h"
#include "trained_run.h"

#include <algorithm>

// verify tells a run whose trainer started again under the same keys from one whose objects were rewritten.

namespace deltascope {
namespace {

using namespace layout_test;
using test::MemoryStore;

/// A trainer that publishes a model, and starts again with other weights under the same keys.
class Restarting {
public:
    Restarting()
    {
        auto opened = Records::open(m_folder.path("records.sqlite"));
        EXPECT_TRUE(opened);
        m_records = std::move(*opened);
    }

    /// Publishes `steps` steps, the first one with the weights of `weights`, and puts them over what is there.
    void train(std::int64_t weights, std::int64_t steps)
    {
        m_nowUs += 3'600'000'000; // between two runs
        Publishing p;
        auto publisher = p.open();
        ASSERT_TRUE(publisher);
        for (std::int64_t step = weights; step < weights + steps; ++step)
            ASSERT_TRUE(p.publish(*publisher, step));
        const std::vector<ObjectInfo> objects = listAll(*p.run, "", p.task).value();
        for (const ObjectInfo& object : objects) {
            if (!object.key.starts_with('.'))
                put(object.key, std::string(asText(*readWhole(*p.run, object.key, 1 << 20, test::anyTask()))));
        }
    }
    void put(const std::string& key, const std::string& bytes)
    {
        ASSERT_TRUE(putText(*store, key, bytes));
        m_nowUs += 1'000'000;
        ASSERT_TRUE(store->setModified(key, m_nowUs));
    }
    std::string read(const std::string& key) const
    {
        return std::string(asText(readWhole(*store, key, 1 << 20, test::anyTask()).value()));
    }

    VerifyReport verify()
    {
        Workbench bench;
        bench.layouts = builtinLayouts();
        bench.threads = 1;
        bench.records = m_records.get();
        bench.nowUs = [this] { return m_nowUs + 500'000; };
        auto run = openRun(bench, store, {}, m_task);
        EXPECT_TRUE(run) << run.error().text;
        auto report = verifyRun(bench, *run, {}, m_task);
        EXPECT_TRUE(report) << report.error().text;
        return std::move(*report);
    }

    /// How many events of the source say that a new run began.
    std::size_t restartsInEvents() const
    {
        const auto events = m_records->events(store->uri(), 100);
        EXPECT_TRUE(events);
        return static_cast<std::size_t>(std::count_if(events->begin(), events->end(), [](const Records::Event& event) {
            return event.what.code == Code::Fork && event.what.text.starts_with("a new run began here");
        }));
    }

    std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>();

private:
    test::TempDir m_folder;
    std::unique_ptr<Records> m_records;
    TaskContext m_task;
    std::int64_t m_nowUs = test::LongAfter;
};

std::size_t rewrittenIn(const VerifyReport& report)
{
    std::size_t found = 0;
    for (const StepVerdict& step : report.steps)
        found += static_cast<std::size_t>(
            std::count_if(step.problems.begin(), step.problems.end(),
                          [](const Error& problem) { return problem.code == Code::Rewritten; }));
    return found;
}

bool tellsRestart(const VerifyReport& report)
{
    return std::any_of(report.problems.begin(), report.problems.end(),
                       [](const Error& problem) { return problem.code == Code::Fork; });
}

TEST(Restart, IsToldOnceAndIsANewFirstSight)
{
    Restarting trainer;
    trainer.train(1, 4);
    trainer.verify();
    trainer.train(10, 5); // goes further than before
    const VerifyReport first = trainer.verify();
    EXPECT_TRUE(tellsRestart(first));
    EXPECT_EQ(rewrittenIn(first), 0U);
    EXPECT_EQ(first.verdict, Verdict::FirstSight);
    EXPECT_EQ(trainer.restartsInEvents(), 1U);
    const VerifyReport second = trainer.verify();
    EXPECT_FALSE(tellsRestart(second));
    EXPECT_EQ(rewrittenIn(second), 0U);
    EXPECT_EQ(trainer.restartsInEvents(), 1U);

    trainer.train(20, 3); // and not as far: what is left of the run before is older and stays as it was
    const VerifyReport again = trainer.verify();
    EXPECT_TRUE(tellsRestart(again));
    EXPECT_EQ(rewrittenIn(again), 0U);
    EXPECT_EQ(trainer.restartsInEvents(), 2U);
}

TEST(Restart, OfWhichOneVersionSurvivedIsARewrite)
{
    Restarting trainer;
    trainer.train(1, 4);
    const std::string key = "deltas/step_000003.safetensors";
    const std::string before = trainer.read(key);
    trainer.verify();
    trainer.train(10, 4);
    trainer.put(key, before);
    const VerifyReport report = trainer.verify();
    EXPECT_FALSE(tellsRestart(report));
    EXPECT_EQ(rewrittenIn(report), 3U);
    EXPECT_EQ(trainer.restartsInEvents(), 0U);
}

TEST(Restart, OfOneVersionAloneIsARewrite)
{
    for (const char* key : { "anchors/step_000001.safetensors", "deltas/step_000002.safetensors" }) {
        Restarting other;
        other.train(10, 2);
        Restarting trainer;
        trainer.train(1, 4);
        trainer.verify();
        trainer.put(key, other.read(key));
        for (int look = 0; look < 2; ++look) {
            const VerifyReport report = trainer.verify();
            EXPECT_FALSE(tellsRestart(report)) << key;
            EXPECT_EQ(rewrittenIn(report), 1U) << key;
        }
    }
}

TEST(Restart, WhatIsRewrittenBehindItIsARewrite)
{
    Restarting other;
    other.train(20, 4);
    Restarting trainer;
    trainer.train(1, 4);
    trainer.verify();
    trainer.train(10, 4);
    EXPECT_TRUE(tellsRestart(trainer.verify()));
    trainer.put("deltas/step_000003.safetensors", other.read("deltas/step_000003.safetensors"));
    const VerifyReport report = trainer.verify();
    EXPECT_FALSE(tellsRestart(report));
    EXPECT_EQ(rewrittenIn(report), 1U);
}

/// Six steps with records, the third of which changes nothing and is the same in every run, and what `then` makes of
/// it.
template <class Then> VerifyReport verifyBehind(Then then)
{
    Bucket bucket;
    bucket.session.openCatalog();
    bucket.session.openRecords();
    const auto train = [&](unsigned seed, std::int64_t last, std::int64_t minute) {
        const Training training(last, seed);
        bucket.putAnchor(1, training.states[1], minute);
        for (std::int64_t step = 2; step <= last; ++step)
            bucket.putDelta(step, step == 3 ? Change() : training.changes[static_cast<std::size_t>(step)],
                            minute + step);
    };
    const auto verify = [&] {
        bucket.session.now += 1'000'000;
        auto run = bucket.session.open(bucket.store);
        EXPECT_TRUE(run) << run.error().text;
        auto report = verifyRun(bucket.session.bench, *run, { 4, {}, false }, bucket.session.task);
        EXPECT_TRUE(report) << report.error().text;
        return std::move(*report);
    };
    train(2, 6, 1);
    verify();
    then(bucket, train);
    return verify();
}

TEST(Restart, IsNotHiddenByAStepThatChangesNothing)
{
    const VerifyReport report = verifyBehind([](Bucket&, auto train) { train(3, 7, 100); });
    EXPECT_TRUE(tellsRestart(report));
    EXPECT_EQ(rewrittenIn(report), 0U);
}

TEST(Restart, TakesThePlaceOfWhatTheEarlierRunHadWhateverItsTimesAre)
{
    const VerifyReport report = verifyBehind([](Bucket& bucket, auto train) { // older than the records of the first run
        for (std::int64_t step = 2; step <= 6; ++step)
            bucket.remove(deltaKey(step));
        train(3, 5, 100);
    });
    EXPECT_TRUE(tellsRestart(report));
    EXPECT_FALSE(std::any_of(report.problems.begin(), report.problems.end(),
                             [](const Error& problem) { return problem.code == Code::Vanished; }));
    EXPECT_LT(report.verdict, Verdict::Incomplete);
}

TEST(Restart, IsNoneWhereTheNewestIsGoneAndTheRestIsAsItWas)
{
    const VerifyReport report = verifyBehind([](Bucket& bucket, auto) { bucket.remove(deltaKey(6)); });
    EXPECT_FALSE(tellsRestart(report));
    EXPECT_EQ(report.verdict, Verdict::Incomplete);
}

} // namespace
} // namespace deltascope
