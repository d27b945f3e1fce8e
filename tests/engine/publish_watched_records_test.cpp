#include "publish_fixture.h"
#include "session.h"
#include "support/faulty_store.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

// publishWatched: checkpoints that are on record are published only with the bytes that were seen first.

namespace deltascope {
namespace {

using namespace layout_test;
using test::FaultyStore;

using Names = std::vector<std::string>;

/// Three checkpoints, and records of what was seen of them.
class PublishWatchedRecords : public testing::Test {
protected:
    PublishWatchedRecords()
    {
        m_session.openRecords();
        p.bench.records = m_session.bench.records;
        for (const std::int64_t step : { 1, 2, 3 })
            p.drop(step);
    }

    void verify(bool acceptRewritten = false)
    {
        OpenOptions plain;
        plain.layout = "hf";
        auto run = p.tryOpen(p.checkpoints, plain);
        ASSERT_TRUE(run) << run.error().text;
        VerifyOptions options;
        options.acceptRewritten = acceptRewritten;
        const auto report = verifyRun(p.bench, *run, options, p.task);
        ASSERT_TRUE(report) << report.error().text;
    }
    /// Step `step` with other values, at the time of the first save.
    void rewrite(std::int64_t step) { replace(step, Publishing::fileOf(step + 20)); }
    void replace(std::int64_t step, const std::string& bytes)
    {
        const std::int64_t savedUs = p.checkpoints->stat(Publishing::keyOf(step), test::anyTask())->modifiedUs;
        ASSERT_TRUE(putText(*p.checkpoints, Publishing::keyOf(step), bytes));
        ASSERT_TRUE(p.checkpoints->setModified(Publishing::keyOf(step), savedUs + 1));
    }
    Result<void> follow(std::shared_ptr<ObjectStore> checkpoints)
    {
        DS_TRY(Publisher publisher, p.open());
        FollowOptions options;
        options.once = true;
        options.acceptRewritten = acceptRewritten;
        options.onVersion = [&](const PublishedVersion& version) { origins.push_back(version.origin); };
        options.onSkipped = [&](const Names& names, const std::string& why) {
            told.push_back(names.front() + ": " + why);
        };
        return publishWatched(p.bench, std::move(checkpoints), publisher, options, p.task);
    }
    Result<void> follow() { return follow(p.checkpoints); }
    bool isTold(std::string_view text) const
    {
        return std::any_of(told.begin(), told.end(),
                           [&](const std::string& line) { return line.find(text) != std::string::npos; });
    }

    Publishing p;
    bool acceptRewritten = false;
    Names origins;
    Names told;

private:
    Session m_session;
};

TEST_F(PublishWatchedRecords, SoundOnesArePublishedWhetherTheyWereSeenBeforeOrNot)
{
    verify();
    p.drop(4);
    const std::string same = Publishing::fileOf(2);
    replace(2, same); // a copy
    const Result<void> outcome = follow();
    ASSERT_TRUE(outcome) << outcome.error().text;
    EXPECT_EQ(origins, (Names { "checkpoint-1", "checkpoint-2", "checkpoint-3", "checkpoint-4" }));
    EXPECT_TRUE(told.empty()) << told.front();
}

TEST_F(PublishWatchedRecords, ARewrittenOneIsLeftOutAndTheNextOneIsChained)
{
    verify();
    rewrite(2);
    const Result<void> outcome = follow();
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Code::Rewritten) << outcome.error().text;
    EXPECT_EQ(outcome.error().where, Publishing::keyOf(2));
    EXPECT_EQ(origins, (Names { "checkpoint-1", "checkpoint-3" }));
    ASSERT_EQ(told.size(), 1U);
    EXPECT_TRUE(isTold("checkpoint-2: not published: checkpoint-2/model.safetensors: the object was rewritten"))
        << told[0];
    EXPECT_TRUE(isTold("--accept-rewritten")) << told[0];
    EXPECT_EQ(p.rootOfStep(2).value_or("none"), p.rootOfCheckpoint(3));
}

TEST_F(PublishWatchedRecords, ARewrittenOneIsPublishedOnceItIsAccepted)
{
    for (const bool byVerify : { false, true }) {
        SCOPED_TRACE(byVerify);
        p.run = std::make_shared<MemoryStore>();
        origins.clear();
        told.clear();
        verify();
        rewrite(2);
        if (byVerify)
            verify(true);
        acceptRewritten = !byVerify;
        const Result<void> outcome = follow();
        ASSERT_TRUE(outcome) << outcome.error().text;
        EXPECT_EQ(origins, (Names { "checkpoint-1", "checkpoint-2", "checkpoint-3" }));
        EXPECT_EQ(told.size(), byVerify ? 0U : 1U);
        EXPECT_EQ(isTold("checkpoint-2: rewritten since it was first seen, and used: checkpoint-2/model.safetensors"),
                  !byVerify);
        EXPECT_EQ(p.rootOfStep(2).value_or("none"), p.rootOfCheckpoint(2));
    }
}

TEST_F(PublishWatchedRecords, ARottenOneIsLeftOut)
{
    verify();
    const auto faulty = std::make_shared<FaultyStore>(p.checkpoints);
    faulty->flipBit(Publishing::keyOf(2), Publishing::fileOf(2).size() - 1);
    const Result<void> outcome = follow(faulty);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Code::Digest) << outcome.error().text;
    EXPECT_EQ(origins, (Names { "checkpoint-1", "checkpoint-3" }));
    EXPECT_TRUE(isTold("checkpoint-2: not published: checkpoint-2/model.safetensors: ")) << told.size();
}

TEST_F(PublishWatchedRecords, WhereTheLastOneChangedTheRunIsReplayed)
{
    for (const bool rots : { false, true }) {
        SCOPED_TRACE(rots);
        p.run = std::make_shared<MemoryStore>();
        origins.clear();
        replace(2, Publishing::fileOf(2));
        ASSERT_TRUE(p.checkpoints->remove(Publishing::keyOf(3)));
        verify(true);
        ASSERT_TRUE(follow());
        p.drop(3);
        const auto faulty = std::make_shared<FaultyStore>(p.checkpoints);
        if (rots)
            faulty->flipBit(Publishing::keyOf(2), Publishing::fileOf(2).size() - 1);
        else
            rewrite(2);
        const Result<void> outcome = follow(faulty);
        ASSERT_TRUE(outcome) << outcome.error().text;
        EXPECT_EQ(origins, (Names { "checkpoint-1", "checkpoint-2", "checkpoint-3" }));
        EXPECT_EQ(p.rootOfStep(3).value_or("none"), p.rootOfCheckpoint(3));
        EXPECT_TRUE(told.empty()) << told.front();
    }
}

} // namespace
} // namespace deltascope
