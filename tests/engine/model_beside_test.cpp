#include "deltascope/engine/operations.h"

#include "publish_fixture.h"
#include "session.h"
#include "support/faulty_store.h"
#include "support/memory_store.h"

#include <algorithm>

// The model that lies in the source itself, beside the checkpoints of its run.

namespace deltascope {
namespace {

using namespace layout_test;

std::string model(char fill, std::size_t different = 0)
{
    std::string bytes(2 * 4096, fill);
    for (std::size_t i = 0; i < different; ++i)
        bytes[bytes.size() - 1 - 2 * i] = 'x';
    return safetensorsFile({ { tensor("w", { 4096 }), bytes } });
}

struct Folder {
    Folder()
    {
        for (const auto& [step, fill] : std::vector<std::pair<int, char>> { { 10, 'a' }, { 20, 'b' }, { 30, 'c' } })
            put(fmt::format("checkpoint-{}/model.safetensors", step), model(fill));
    }
    Folder& put(const std::string& key, const std::string& bytes)
    {
        EXPECT_TRUE(putText(*store, key, bytes));
        return *this;
    }
    std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>();
    std::shared_ptr<test::FaultyStore> reads = std::make_shared<test::FaultyStore>(store);
};

Run analyzed(Session& session, const Folder& folder, std::uint64_t bytes = UINT64_MAX)
{
    auto run = session.open(folder.reads);
    EXPECT_TRUE(run) << run.error().text;
    AnalyzeOptions options;
    options.standAloneBytes = bytes;
    const auto outcome = analyzeRun(session.bench, *run, options, session.task);
    EXPECT_TRUE(outcome) << outcome.error().text;
    return std::move(*run);
}

std::string saidOf(const Run& run)
{
    const Version& version = *run.find(0);
    for (const Error& problem : version.problems) {
        if (problem.code == Code::Repeated)
            return problem.text;
    }
    return {};
}

TEST(ModelBeside, TakesNoPartInTheOrderOfSteps)
{
    Session session;
    const auto run = analyzed(session, Folder().put("model.safetensors", model('c')));
    ASSERT_EQ(run.versions.size(), 4U);
    const auto at = [&](std::int64_t step) { return static_cast<std::size_t>(run.find(step) - run.versions.data()); };
    EXPECT_TRUE(run.versions[at(0)].besideSteps);
    EXPECT_TRUE(run.isFinalSave(run.versions[at(0)]));
    EXPECT_FALSE(run.versions[at(10)].besideSteps);
    EXPECT_EQ(run.checkpointBefore(at(0)), at(30));
    EXPECT_EQ(run.checkpointBefore(at(10)), std::nullopt);
    EXPECT_EQ(run.checkpointBefore(at(30)), at(20));
}

TEST(ModelBeside, IsNamedByTheCheckpointThatItEquals)
{
    Session session;
    EXPECT_EQ(saidOf(analyzed(session, Folder().put("model.safetensors", model('c')))),
              "the final save is the state of step 30");
    EXPECT_EQ(saidOf(analyzed(session, Folder().put("model.safetensors", model('a')))),
              "the final save is the state of step 10"); // the best one, loaded at the end
}

TEST(ModelBeside, IsNotNamedByOneThatDiffersInASingleElement)
{
    Session session;
    EXPECT_EQ(saidOf(analyzed(session, Folder().put("model.safetensors", model('c', 1)))), "");
    EXPECT_EQ(saidOf(analyzed(session,
                              Folder().put("model.safetensors",
                                           safetensorsFile({ { tensor("v", { 4096 }), std::string(8192, 'c') } })))),
              ""); // the same bytes under another name
}

TEST(ModelBeside, TheAnswerIsKeptWhileBothAreTheSame)
{
    Session session;
    session.openCatalog();
    session.openRecords();
    Folder folder;
    folder.put("model.safetensors", model('c'));
    EXPECT_EQ(saidOf(analyzed(session, folder)), "the final save is the state of step 30");
    const std::uint64_t read = folder.reads->bytesRead();
    EXPECT_EQ(saidOf(analyzed(session, folder)), "the final save is the state of step 30");
    EXPECT_LT(folder.reads->bytesRead() - read, 8192U);
    folder.put("model.safetensors", model('b'));
    EXPECT_EQ(saidOf(analyzed(session, folder)), "the final save is the state of step 20");
}

TEST(ModelBeside, ThatIsOlderThanTheCheckpointsIsNoFinalSave)
{
    Session session;
    Folder folder;
    folder.put("model.safetensors", model('z'));
    const auto isFinal = [&] {
        const auto run = analyzed(session, folder);
        return run.isFinalSave(*run.find(0));
    };
    EXPECT_TRUE(isFinal());
    const auto first = folder.store->stat("checkpoint-10/model.safetensors", session.task);
    ASSERT_TRUE(first);
    ASSERT_TRUE(folder.store->setModified("model.safetensors", first->modifiedUs - 60'000'000));
    EXPECT_FALSE(isFinal());
}

TEST(ModelBeside, IsNotReadWhereThatIsTooMuch)
{
    Session session;
    EXPECT_EQ(saidOf(analyzed(session, Folder().put("model.safetensors", model('c')), 8192)), "");
}

TEST(ModelBeside, OfAnotherFormIsNoProblemOfTheFirstStep)
{
    Session session;
    const auto run = analyzed(
        session, Folder().put("model.safetensors", safetensorsFile({ { tensor("v", { 4 }), std::string(8, 'a') } })));
    for (const Version& version : run.versions)
        EXPECT_EQ(countNotes(version.problems, Code::PartialAnchor), version.besideSteps ? 1U : 0U) << version.step();
}

TEST(ModelBeside, WithoutCheckpointsIsTheRun)
{
    Session session;
    auto store = std::make_shared<MemoryStore>();
    ASSERT_TRUE(putText(*store, "model.safetensors", model('a')));
    const auto run = session.open(store);
    ASSERT_TRUE(run);
    EXPECT_FALSE(run->versions.front().besideSteps);
}

} // namespace
} // namespace deltascope
