#include "deltascope/engine/branch.h"

#include "deltascope/engine/beside.h"
#include "golden_copy.h"
#include "publish_fixture.h"
#include "session.h"
#include "support/faulty_store.h"
#include "support/memory_store.h"

#include <algorithm>

// Branches: new runs that begin with the state of a step of another one.

namespace deltascope {
namespace {

using namespace layout_test;
using test::FaultyStore;
using test::MemoryStore;
using test::StoreOperation;

struct Branching : Publishing {
    explicit Branching(std::string layout = "trl-v2")
        : Publishing(std::move(layout))
    {
        publishAll(1, 6);
    }

    BranchTarget target() const { return { into->uri(), into }; }
    Result<BranchPlan> plan(std::int64_t from)
    {
        return planBranch(bench, Publishing::run, base, step(from), target(), task);
    }
    Result<Branched> act(std::int64_t from)
    {
        DS_TRY(const BranchPlan planned, plan(from));
        return branch(bench, Publishing::run, base, step(from), target(), { planned.act.hash(), "kim@host" }, task);
    }
    deltascope::Run branched()
    {
        auto opened = openRun(bench, into, {}, task);
        EXPECT_TRUE(opened) << opened.error().text;
        return opened ? std::move(*opened) : deltascope::Run();
    }
    std::vector<std::string> phases() const
    {
        TaskContext reading;
        std::vector<std::string> phases;
        for (const JournalEntry& entry : readJournal(*into, {}, reading).value_or(std::vector<JournalEntry>()))
            phases.push_back(entry.phase);
        return phases;
    }

    std::shared_ptr<ObjectStore> into = std::make_shared<MemoryStore>();
};

class BranchOf : public testing::TestWithParam<const char*> { };
INSTANTIATE_TEST_SUITE_P(Layouts, BranchOf, testing::Values("trl-v2", "slime-v2"),
                         [](const auto& param) { return std::string(param.param, 3); });

TEST_P(BranchOf, BeginsWithTheStateOfTheStepAndSaysWhereItComesFrom)
{
    Branching b(GetParam());
    const std::vector<std::string> before = b.keys();
    const auto planned = b.plan(3);
    ASSERT_TRUE(planned) << planned.error().text;
    EXPECT_EQ(planned->from, 3);
    EXPECT_FALSE(planned->isDone);
    EXPECT_GT(planned->stateBytes, 0U);
    ASSERT_EQ(planned->act.writes.size(), 1U);
    EXPECT_TRUE(planned->act.deletes.empty());
    EXPECT_TRUE(listAll(*b.into, "", b.task)->empty()) << "a plan writes nothing";

    const auto done = b.act(3);
    ASSERT_TRUE(done) << done.error().text;
    EXPECT_EQ(done->keys, std::vector<std::string> { planned->act.writes[0].key });
    EXPECT_EQ(b.keys(), before) << "the run that it comes from is not changed";
    const deltascope::Run run = b.branched();
    ASSERT_EQ(run.versions.size(), 1U);
    ASSERT_TRUE(run.versions[0].summary);
    EXPECT_EQ(run.versions[0].summary->branch, b.Publishing::run->uri() + "@3");
    EXPECT_EQ(run.versions[0].summary->root, b.rootOfCheckpoint(3));
    EXPECT_EQ(b.phases(), (std::vector<std::string> { "begun", "done" }));
}

TEST(Branch, ThatIsThereIsNotWrittenAgain)
{
    Branching b;
    ASSERT_TRUE(b.act(3));
    const auto again = b.act(3);
    ASSERT_TRUE(again) << again.error().text;
    EXPECT_TRUE(again->wasThere);
    EXPECT_EQ(b.branched().versions.size(), 1U);
    EXPECT_EQ(b.act(4).error().code, Code::Exists) << "another step";
}

TEST(Branch, BeginsInAnEmptyPlaceAlone)
{
    Branching b;
    ASSERT_TRUE(putText(*b.into, "notes.txt", "mine"));
    EXPECT_EQ(b.plan(3).error().code, Code::Exists);
    EXPECT_EQ(listAll(*b.into, "", b.task)->size(), 1U);
}

TEST(Branch, OfARunThatChangedSinceThePlanIsRefused)
{
    Branching b;
    const auto planned = b.plan(3);
    ASSERT_TRUE(planned);
    const auto done = branch(b.bench, b.Publishing::run, b.base, Branching::step(4), b.target(),
                             { planned->act.hash(), "kim@host" }, b.task);
    EXPECT_EQ(done.error().code, Code::Exists);
    EXPECT_TRUE(listAll(*b.into, "", b.task)->empty());
}

TEST(Branch, AfterAPutThatFailsTheSameCallGoesOn)
{
    for (std::uint64_t nth = 1; nth < 32; ++nth) {
        SCOPED_TRACE(nth);
        Branching b;
        const auto faulty = std::make_shared<FaultyStore>(b.into);
        b.into = faulty;
        faulty->failNth(StoreOperation::Put, nth, { Code::Io, "it fails", {}, {}, {} });
        const auto first = b.act(3);
        faulty->clearFaults();
        const auto again = b.act(3);
        ASSERT_TRUE(again) << again.error().text;
        const deltascope::Run run = b.branched();
        ASSERT_EQ(run.versions.size(), 1U);
        EXPECT_EQ(run.versions[0].summary->root, b.rootOfCheckpoint(3));
        ASSERT_FALSE(b.phases().empty());
        EXPECT_EQ(b.phases().back(), "done");
        if (first && !again->wasThere)
            ADD_FAILURE() << "it was written twice";
        if (first)
            return; // fewer puts than that
    }
    FAIL() << "more puts than expected";
}

TEST(Branch, OfADamagedStepIsRefused)
{
    Branching b;
    const std::string key = "deltas/step_000003.safetensors";
    std::string bytes(asText(*readWhole(*b.Publishing::run, key, 1U << 20, b.task)));
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    ASSERT_TRUE(b.Publishing::run->remove({ *b.Publishing::run->stat(key, b.task) }, b.task).front());
    ASSERT_TRUE(putText(*b.Publishing::run, key, bytes));
    EXPECT_FALSE(b.plan(3));
    EXPECT_TRUE(b.plan(2)) << "the step before is sound";
}

TEST(Branch, OfAStepBehindARewrittenObjectNamesThatObject)
{
    const std::string key = "anchors/step_000010.safetensors";
    const GoldenCopy golden("trl-v2-raw");
    Session session;
    session.openRecords();
    auto known = session.open(golden.store);
    ASSERT_TRUE(known) << known.error().text;
    ASSERT_TRUE(verifyRun(session.bench, *known, {}, session.task));
    golden.edit(key, [](std::string& bytes) { bytes[bytes.size() - 2] ^= 1; });
    const auto into = std::make_shared<MemoryStore>();
    const auto plan = [&](std::int64_t step) {
        return planBranch(session.bench, golden.store, {}, Publishing::step(step), { into->uri(), into }, session.task);
    };
    const Error refused = errorOf(plan(12));
    EXPECT_EQ(refused.code, Code::Rewritten) << refused.text;
    EXPECT_EQ(refused.where, key);
    EXPECT_TRUE(plan(9)) << "it stands on another anchor";
}

} // namespace
} // namespace deltascope
