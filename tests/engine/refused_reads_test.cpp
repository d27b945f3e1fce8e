#include "deltascope/engine/operations.h"
#include "session.h"
#include "tiny_run.h"

#include <gtest/gtest.h>

// What a refused read has shown of an object is known to everybody from then on.

namespace deltascope {
namespace {

using namespace layout_test;

constexpr std::uint64_t ElementsRead = 512;

class RefusedReads : public testing::Test {
protected:
    RefusedReads()
    {
        m_session.openDisk();
        m_session.openRecords();
        put(1, 'a');
        put(2, 'b');
        verify(false);
    }
    void put(std::int64_t step, char value)
    {
        ASSERT_TRUE(
            putText(*m_store, "checkpoint-" + std::to_string(step) + "/model.safetensors",
                    safetensorsFile({ { tensor("w", { ElementsRead }), std::string(2 * ElementsRead, value) } }, {})));
    }
    deltascope::Run open()
    {
        auto run = m_session.open(m_store);
        EXPECT_TRUE(run) << run.error().text;
        return std::move(*run);
    }
    VerifyReport verify(bool accept, unsigned level = 2)
    {
        deltascope::Run run = open();
        VerifyOptions options;
        options.level = level;
        options.acceptRewritten = accept;
        auto report = verifyRun(m_session.bench, run, options, m_session.task);
        EXPECT_TRUE(report) << report.error().text;
        return std::move(*report);
    }
    Result<void> read(std::int64_t step, bool accept = false)
    {
        const deltascope::Run run = open();
        DS_TRY(const Plan plan, planFor(run, *run.find(step)));
        DS_TRY(const PathPtr path, openChecked(m_session.bench, run, plan, accept, m_session.task));
        DS_CHECK(rootOfState(m_session.bench, *path, LeafHasher::Strength::Fast, m_session.task));
        return {};
    }
    /// "checkpoint-2/model.safetensors DS-REWRITTEN" for each change.
    std::vector<std::string> changes()
    {
        std::vector<std::string> found;
        for (const Error& change : changedSinceSeen(m_session.bench, open()))
            found.push_back(change.where + " " + std::string(word(change.code)));
        return found;
    }
    std::size_t refusedParts()
    {
        std::size_t count = 0;
        for (const Version& version : open().versions)
            count += version.rewrittenForms.size();
        return count;
    }

    std::shared_ptr<MemoryStore> m_store = std::make_shared<MemoryStore>();
    Session m_session;
};

using Changes = std::vector<std::string>;

TEST_F(RefusedReads, TellThatTheObjectWasRewritten)
{
    put(2, 'c');
    EXPECT_EQ(changes(), (Changes { "checkpoint-2/model.safetensors DS-UNPROVEN" }));
    EXPECT_EQ(refusedParts(), 0U);
    ASSERT_TRUE(read(1));
    EXPECT_EQ(changes(), (Changes { "checkpoint-2/model.safetensors DS-UNPROVEN" }));
    for (int again = 0; again < 2; ++again) {
        const Result<void> refused = read(2);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, Code::Rewritten) << refused.error().text;
        EXPECT_EQ(changes(), (Changes { "checkpoint-2/model.safetensors DS-REWRITTEN" }));
        EXPECT_EQ(refusedParts(), 1U);
    }
}

TEST_F(RefusedReads, TellItWhereTheBytesAreUsedOnce)
{
    put(2, 'c');
    for (int again = 0; again < 2; ++again) {
        ASSERT_TRUE(read(2, true));
        EXPECT_EQ(changes(), (Changes { "checkpoint-2/model.safetensors DS-REWRITTEN" }));
    }
    EXPECT_FALSE(read(2));
}

TEST_F(RefusedReads, AreForgottenWhereTheBytesAreAccepted)
{
    put(2, 'c');
    ASSERT_FALSE(read(2));
    verify(true);
    EXPECT_EQ(changes(), Changes {});
    EXPECT_TRUE(read(2));
}

TEST_F(RefusedReads, AreForgottenWhereTheFirstBytesAreBack)
{
    put(2, 'c');
    ASSERT_FALSE(read(2));
    put(2, 'b');
    EXPECT_TRUE(read(2));
    verify(false);
    EXPECT_EQ(changes(), Changes {});
}

TEST_F(RefusedReads, AreNoAcceptanceWhenTheWholeObjectIsSeen)
{
    put(2, 'c');
    ASSERT_FALSE(read(2));
    verify(false);
    EXPECT_EQ(changes(), (Changes { "checkpoint-2/model.safetensors DS-REWRITTEN" }));
    EXPECT_FALSE(read(2));
}

TEST_F(RefusedReads, CopiesOfTheSameBytesAreReadAndAccuseNobody)
{
    put(2, 'b');
    EXPECT_TRUE(read(2));
    EXPECT_EQ(refusedParts(), 0U);
}

TEST_F(RefusedReads, VerifyNamesWhatWasWrittenAgainWhereItReadsNoBytes)
{
    const auto problems = [&](unsigned level) {
        Changes words;
        for (const StepVerdict& step : verify(false, level).steps) {
            for (const Error& problem : step.problems)
                words.push_back(std::to_string(step.version) + " " + std::string(word(problem.code)));
        }
        return words;
    };
    for (const unsigned level : { 0U, 1U }) {
        put(2, 'b');
        verify(false);
        EXPECT_EQ(problems(level), Changes {});
        put(2, 'c');
        EXPECT_EQ(problems(level), (Changes { "1 DS-UNPROVEN" }));
        ASSERT_FALSE(read(2));
        EXPECT_EQ(problems(level), (Changes { "1 DS-REWRITTEN" }));
    }
}

} // namespace
} // namespace deltascope
