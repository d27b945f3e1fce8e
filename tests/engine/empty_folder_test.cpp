#include "layout_fixture.h"
#include "run_steps.h"
#include "session.h"

#include <filesystem>
#include <map>

// Versions of slime-v1 of which an empty folder is all there is (docs/formats/slime-v1.md, section 5).

namespace deltascope {
namespace {

using namespace layout_test;

using EngineRun = deltascope::Run;
using Words = std::map<std::uint32_t, std::uint16_t>;

constexpr std::size_t Elements = 64;

std::string folderOf(std::int64_t step) { return fmt::format("weight_v{:06}", step); }
std::string flushOf(std::int64_t step) { return folderOf(step) + "/rank0000_flush000000.safetensors"; }

template <class Items> std::string bytesOf(const Items& items)
{
    return std::string(asText(std::as_bytes(std::span(items))));
}

std::string flushFile(std::int64_t step, const Words& words)
{
    std::vector<std::uint32_t> positions;
    std::vector<std::uint16_t> values;
    for (const auto& [at, word] : words) {
        positions.push_back(at);
        values.push_back(word);
    }
    const std::uint64_t bytes = positions.size() * 4;
    const Json param { { "name", "w" },    { "dtype", "bfloat16" },    { "shape", { Elements } },
                       { "pos_start", 0 }, { "pos_end", bytes },       { "pos_width", 4 },
                       { "val_start", 0 }, { "val_end", words.size() } };
    return safetensorsFile({ { tensor("__values__", { values.size() }), bytesOf(values) },
                             { tensor("__positions__", { bytes }, Dtype::U8), bytesOf(positions) } },
                           { { "encoding", "indices" },
                             { "params", Json::array({ param }).dump() },
                             { "current_version", std::to_string(step) },
                             { "checksum", "" } });
}

/// A run on disk that publishes steps 1 to 3 and 5 to 6, each of which changes one element of its own.
class FolderRun {
public:
    FolderRun()
    {
        session.openRecords();
        session.openCatalog();
        m_folder.write("base/model.safetensors",
                       safetensorsFile({ { tensor("w", { Elements }), std::string(2 * Elements, '\1') } }));
        for (const std::int64_t step : { 1, 2, 3, 5, 6 })
            put(step, { { static_cast<std::uint32_t>(step), static_cast<std::uint16_t>(0x3F00 + step) } });
    }
    void put(std::int64_t step, const Words& words) { m_folder.write("run/" + flushOf(step), flushFile(step, words)); }
    void makeEmpty(std::int64_t step) { std::filesystem::create_directories(m_folder.path("run/" + folderOf(step))); }
    void removeFlush(std::int64_t step) { std::filesystem::remove(m_folder.path("run/" + flushOf(step))); }

    EngineRun analyzed()
    {
        return session.analyzed(localStore(m_folder.path("run")), localStore(m_folder.path("base")));
    }
    std::string digestOf(const EngineRun& run, std::int64_t number)
    {
        const auto plan = planFor(run, step(run, number));
        EXPECT_TRUE(plan) << number;
        const auto path = plan ? openPath(run, *plan, { 2 }, session.task) : Result<PathPtr>(fail(plan.error()));
        EXPECT_TRUE(path) << number;
        const auto digest =
            path ? digestState(session.bench, **path, session.task) : Result<CheckpointDigest>(fail(path.error()));
        EXPECT_TRUE(digest) << number;
        return digest ? toHex(digest->root.strong) : std::string();
    }
    layout_test::Words words(EngineRun& run)
    {
        VerifyOptions options;
        options.level = 4;
        const auto report = verifyRun(session.bench, run, options, session.task);
        EXPECT_TRUE(report);
        return report ? wordsOf(run, *report) : layout_test::Words();
    }

    Session session;

private:
    test::TempDir m_folder;
};

TEST(EmptyFolder, IsAVersionThatEqualsTheOneBeforeIt)
{
    FolderRun folders;
    folders.makeEmpty(4);
    EngineRun run = folders.analyzed();
    ASSERT_EQ(run.versions.size(), 6U);
    EXPECT_TRUE(run.gaps.empty());
    EXPECT_TRUE(run.problems.empty());
    EXPECT_TRUE(obstructed(run).empty());
    const Version& empty = step(run, 4);
    EXPECT_EQ(empty.state, VersionState::Noop);
    EXPECT_EQ(empty.objects.name, folderOf(4));
    EXPECT_EQ(empty.objects.publishedUs(), step(run, 5).objects.publishedUs());
    EXPECT_EQ(folders.digestOf(run, 4), folders.digestOf(run, 3));
    EXPECT_NE(folders.digestOf(run, 5), folders.digestOf(run, 4));
    ASSERT_EQ(empty.problems.size(), 1U); // nothing vouches for it
    EXPECT_TRUE(isNotice(empty.problems[0].code)) << empty.problems[0].text;
    for (const std::int64_t number : { 3, 5, 6 })
        EXPECT_TRUE(step(run, number).problems.empty()) << number;
    for (const auto& [number, word] : folders.words(run))
        EXPECT_EQ(word, "first_sight") << number;
}

TEST(EmptyFolder, InFrontOfTheFirstVersionEqualsTheBase)
{
    FolderRun folders;
    folders.removeFlush(1);
    const EngineRun run = folders.analyzed();
    EXPECT_EQ(step(run, 1).baseStep, 0);
    EXPECT_TRUE(step(run, 1).onExternalBase);
    EXPECT_EQ(step(run, 2).baseStep, 1);
    EXPECT_EQ(obstructed(run), Steps());
}

TEST(EmptyFolder, ThatIsNotThereIsAGap)
{
    FolderRun folders;
    const EngineRun run = folders.analyzed();
    EXPECT_EQ(run.find(4), nullptr);
    ASSERT_EQ(run.gaps.size(), 1U);
    EXPECT_FALSE(step(run, 5).proven);
}

TEST(EmptyFolder, BesideOneThatIsNotThereIsAVersionBehindTheGap)
{
    FolderRun folders;
    folders.removeFlush(3);
    const EngineRun run = folders.analyzed();
    ASSERT_EQ(run.gaps.size(), 1U);
    EXPECT_EQ(run.gaps[0].first, 4);
    EXPECT_EQ(run.gaps[0].last, 4);
    EXPECT_EQ(step(run, 3).state, VersionState::Noop);
}

TEST(EmptyFolder, IsRefusedWhereALaterVersionShowsThatItsFilesAreLost)
{
    FolderRun folders;
    folders.makeEmpty(4);
    folders.put(5, { { 3, 0x3F03 } }); // what step 3 has set: step 4 had changed it
    const EngineRun run = folders.analyzed();
    EXPECT_EQ(obstructed(run), (Steps { 4, 5, 6 }));
    EXPECT_EQ(step(run, 4).obstacle->code, Code::ChainGap);
    EXPECT_EQ(step(run, 4).obstacle->step, 4);
    EXPECT_TRUE(planFor(run, step(run, 3)));
}

TEST(EmptyFolder, ThatHeldFilesIsNoVersion)
{
    FolderRun folders;
    folders.put(4, { { 4, 0x3F04 } });
    EngineRun before = folders.analyzed();
    static_cast<void>(folders.words(before)); // they are on record now
    folders.removeFlush(4);
    const EngineRun run = folders.analyzed();
    EXPECT_EQ(run.find(4), nullptr);
    ASSERT_EQ(run.gone.size(), 1U);
    EXPECT_EQ(run.gone[0].step, 4);
    EXPECT_EQ(obstructed(run), (Steps { 5, 6 }));
    EXPECT_EQ(step(run, 5).obstacle->code, Code::Vanished);
}

} // namespace
} // namespace deltascope
