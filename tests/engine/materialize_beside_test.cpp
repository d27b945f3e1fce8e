#include "session.h"
#include "support/any_task.h"
#include "support/faulty_store.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

// Files beside the weights are copied only with the bytes that were seen first, as the weights are.

namespace deltascope {
namespace {

using namespace layout_test;
using test::FaultyStore;

const std::string ConfigKey = "checkpoint-1/config.json";
const std::string TrainerKey = "checkpoint-1/trainer_state.json";

class MaterializeBeside : public testing::Test {
protected:
    MaterializeBeside()
    {
        m_session.openDisk();
        m_session.openRecords();
        m_session.bench.threads = 1;
        EXPECT_TRUE(putText(*store, "checkpoint-1/model.safetensors",
                            safetensorsFile({ { tensor("w", { 8 }), std::string(16, 'w') } })));
        EXPECT_TRUE(putText(*store, ConfigKey, R"({"layers":1})"));
        EXPECT_TRUE(putText(*store, TrainerKey, R"({"global_step":1})"));
        record();
    }

    void record(bool acceptRewritten = false)
    {
        auto run = m_session.open(store, base);
        ASSERT_TRUE(run) << run.error().text;
        VerifyOptions options;
        options.acceptRewritten = acceptRewritten;
        const auto report = verifyRun(m_session.bench, *run, options, m_session.task);
        ASSERT_TRUE(report) << report.error().text;
    }
    Result<MaterializeReport> rebuild(std::shared_ptr<ObjectStore> source, bool acceptRewritten = false)
    {
        std::filesystem::remove_all(out());
        DS_TRY(const auto run, m_session.open(std::move(source), base));
        const Version& version = run.versions.front();
        DS_TRY(const Plan plan, planFor(run, version));
        MaterializeOptions options;
        options.destination = out();
        options.acceptRewritten = acceptRewritten;
        options.forTraining = true;
        return materialize(m_session.bench, run, version, plan, options, m_session.task);
    }
    Result<MaterializeReport> rebuild(bool acceptRewritten = false) { return rebuild(store, acceptRewritten); }
    void expectRefused(const Result<MaterializeReport>& report, Code code, const std::string& where) const
    {
        ASSERT_FALSE(report);
        EXPECT_EQ(report.error().code, code) << report.error().text;
        EXPECT_EQ(report.error().where, where);
        EXPECT_FALSE(report.error().action.empty());
        EXPECT_FALSE(std::filesystem::exists(out()));
    }
    std::string written(const std::string& name) const
    {
        std::ifstream file(out() + "/" + name, std::ios::binary);
        return { std::istreambuf_iterator<char>(file), {} };
    }
    std::string out() const { return m_session.folder.path("out"); }

    std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>();
    std::shared_ptr<MemoryStore> base; ///< null: none
    Session m_session;
};

TEST_F(MaterializeBeside, SoundOnesAreCopiedWhetherTheyWereSeenBeforeOrNot)
{
    ASSERT_TRUE(putText(*store, ConfigKey, R"({"layers":1})")); // a copy
    ASSERT_TRUE(putText(*store, "checkpoint-1/tokenizer.json", "{}")); // nobody has seen it
    const auto report = rebuild();
    ASSERT_TRUE(report) << report.error().text;
    EXPECT_TRUE(report->rewritten.empty());
    EXPECT_TRUE(report->notices.empty()) << report->notices.front().text;
    EXPECT_EQ(written("config.json"), R"({"layers":1})");
    EXPECT_EQ(written("tokenizer.json"), "{}");
    EXPECT_EQ(written("trainer_state.json"), R"({"global_step":1})");
}

TEST_F(MaterializeBeside, ARewrittenOneIsRefusedUntilItIsAccepted)
{
    for (const auto& [key, name, bytes] : { std::tuple { ConfigKey, "config.json", R"({"layers":2})" },
                                            std::tuple { TrainerKey, "trainer_state.json", R"({"global_step":2})" } }) {
        SCOPED_TRACE(key);
        ASSERT_TRUE(putText(*store, key, bytes));
        expectRefused(rebuild(), Code::Rewritten, key);
        const auto accepted = rebuild(true);
        ASSERT_TRUE(accepted) << accepted.error().text;
        EXPECT_EQ(accepted->rewritten, std::vector { key });
        EXPECT_EQ(written(name), bytes);
        record(true);
        const auto trusted = rebuild();
        ASSERT_TRUE(trusted) << trusted.error().text;
        EXPECT_TRUE(trusted->rewritten.empty());
    }
}

TEST_F(MaterializeBeside, ARottenOneIsRefusedWhateverIsAccepted)
{
    for (const std::string& key : { ConfigKey, TrainerKey }) {
        SCOPED_TRACE(key);
        const auto faulty = std::make_shared<FaultyStore>(store);
        faulty->flipBit(key, 3);
        expectRefused(rebuild(faulty), Code::Digest, key);
        expectRefused(rebuild(faulty, true), Code::Digest, key);
    }
}

TEST_F(MaterializeBeside, SoIsThatOfABaseWhichGivesNoWeights)
{
    base = std::make_shared<MemoryStore>();
    ASSERT_TRUE(putText(*base, "model.safetensors", safetensorsFile({ { tensor("w", { 8 }), std::string(16, 'w') } })));
    ASSERT_TRUE(putText(*base, "tokenizer.json", R"({"words":1})"));
    record();
    const auto sound = rebuild();
    ASSERT_TRUE(sound) << sound.error().text;
    EXPECT_EQ(written("tokenizer.json"), R"({"words":1})");
    ASSERT_TRUE(putText(*base, "tokenizer.json", R"({"words":2})"));
    const std::string where = base->uri() + "/tokenizer.json";
    expectRefused(rebuild(), Code::Rewritten, where);
    const auto accepted = rebuild(true);
    ASSERT_TRUE(accepted) << accepted.error().text;
    EXPECT_EQ(accepted->rewritten, std::vector { where });
}

} // namespace
} // namespace deltascope
