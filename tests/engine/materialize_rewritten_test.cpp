#include "session.h"
#include "tiny_run.h"

#include <filesystem>
#include <fstream>
#include <set>

// A rebuild during which an object turns out to be rewritten keeps the tensors that were not read from it.

namespace deltascope {
namespace {

using namespace layout_test;

constexpr std::uint64_t LargeElements = 4'096;
constexpr std::uint64_t SmallElements = 512;

std::string bytesOf(std::uint64_t elements, char value) { return std::string(2 * elements, value); }

/// One checkpoint of two files: "large" is in the first one, "small" in the second one.
class MaterializeRewritten : public testing::Test {
protected:
    MaterializeRewritten()
    {
        m_session.openDisk();
        m_session.openRecords();
        m_session.bench.threads = 1;
    }

    void putCheckpoint(char large, char small)
    {
        putShard("model-00001-of-00002", "large", LargeElements, large);
        putShard("model-00002-of-00002", "small", SmallElements, small);
        ASSERT_TRUE(
            putText(*store, "checkpoint-1/model.safetensors.index.json",
                    R"({"metadata":{"total_size":9216},"weight_map":{)"
                    R"("large":"model-00001-of-00002.safetensors","small":"model-00002-of-00002.safetensors"}})"));
    }
    void putShard(const std::string& file, const std::string& tensorName, std::uint64_t elements, char value)
    {
        ASSERT_TRUE(putText(*store, "checkpoint-1/" + file + ".safetensors",
                            safetensorsFile({ { tensor(tensorName, { elements }), bytesOf(elements, value) } }, {})));
    }
    void record(std::shared_ptr<ObjectStore> source)
    {
        auto run = m_session.open(std::move(source));
        ASSERT_TRUE(run) << run.error().text;
        VerifyOptions options;
        options.level = 3;
        const auto report = verifyRun(m_session.bench, *run, options, m_session.task);
        ASSERT_TRUE(report) << report.error().text;
    }
    Result<MaterializeReport> rebuild(std::shared_ptr<ObjectStore> source, std::int64_t step,
                                      bool acceptRewritten = false)
    {
        DS_TRY(const auto run, m_session.open(std::move(source)));
        const Version& version = *run.find(step);
        DS_TRY(const Plan plan, planFor(run, version));
        MaterializeOptions options;
        options.destination = out();
        options.acceptRewritten = acceptRewritten;
        return materialize(m_session.bench, run, version, plan, options, m_session.task);
    }
    std::string out() const { return m_session.folder.path("out"); }
    std::size_t leftovers() const
    {
        std::size_t count = 0;
        for (const auto& entry : std::filesystem::directory_iterator(m_session.folder.path()))
            count += entry.path().filename().string().starts_with(".out.ds-") ? 1 : 0;
        return count;
    }
    std::string written(const std::string& name) const
    {
        std::string all;
        for (const auto& entry : std::filesystem::directory_iterator(out())) {
            if (entry.path().extension() != ".safetensors")
                continue;
            std::ifstream stream(entry.path(), std::ios::binary);
            const std::string file(std::istreambuf_iterator<char>(stream), {});
            all += file.find('"' + name + '"') == std::string::npos ? "" : file;
        }
        return all;
    }
    void expectWritten(const std::string& name, std::uint64_t elements, char value) const
    {
        const std::string file = written(name);
        ASSERT_GE(file.size(), 2 * elements);
        EXPECT_NE(file.find(bytesOf(elements, value)), std::string::npos) << name;
    }

    std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>();
    Session m_session;
};

TEST_F(MaterializeRewritten, WhatWasReadFromOtherObjectsIsKept)
{
    putCheckpoint('a', 'b');
    record(store);
    putShard("model-00002-of-00002", "small", SmallElements, 'c');

    const auto refused = rebuild(store, 1);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::Rewritten) << refused.error().text;
    EXPECT_NE(refused.error().text.find("what does not stand on this object is kept"), std::string::npos)
        << refused.error().text;
    EXPECT_EQ(leftovers(), 1U);
    EXPECT_FALSE(std::filesystem::exists(out()));

    const auto report = rebuild(store, 1, true);
    ASSERT_TRUE(report) << report.error().text;
    EXPECT_EQ(report->resumedBytes, 2 * LargeElements);
    EXPECT_EQ(leftovers(), 0U);
    expectWritten("large", LargeElements, 'a');
    expectWritten("small", SmallElements, 'c');
}

TEST_F(MaterializeRewritten, WhatWasReadFromTheObjectIsReadAgain)
{
    putCheckpoint('a', 'b');
    record(store);
    putShard("model-00002-of-00002", "small", SmallElements, 'c');
    ASSERT_FALSE(rebuild(store, 1));
    putShard("model-00001-of-00002", "large", LargeElements, 'd'); // which the kept tensor came from

    const auto report = rebuild(store, 1, true);
    ASSERT_TRUE(report) << report.error().text;
    EXPECT_EQ(report->resumedBytes, 0U);
    expectWritten("large", LargeElements, 'd');
    expectWritten("small", SmallElements, 'c');
}

TEST_F(MaterializeRewritten, TheWholeGoesWhereEverythingStandsOnTheObject)
{
    putCheckpoint('a', 'b');
    record(store);
    putShard("model-00001-of-00002", "large", LargeElements, 'd'); // the first one that is read
    EXPECT_EQ(errorOf(rebuild(store, 1)).code, Code::Rewritten);
    EXPECT_EQ(leftovers(), 0U);
}

TEST_F(MaterializeRewritten, AFileThatHasBecomeSmallerLeavesNothingBehind)
{
    putCheckpoint('a', 'b');
    record(store);
    putShard("model-00002-of-00002", "small", SmallElements, 'c');
    ASSERT_FALSE(rebuild(store, 1));
    ASSERT_EQ(leftovers(), 1U);
    putShard("model-00002-of-00002", "small", SmallElements / 2, 'e');

    const auto report = rebuild(store, 1, true);
    ASSERT_TRUE(report) << report.error().text;
    EXPECT_EQ(report->resumedBytes, 2 * LargeElements);
    expectWritten("small", SmallElements / 2, 'e');
    EXPECT_LT(std::filesystem::file_size(out() + "/model-00002-of-00002.safetensors"), 2 * SmallElements);
}

TEST_F(MaterializeRewritten, WhatADeltaDoesNotChangeIsKept)
{
    TinyRun tiny;
    tiny.put(1, true, { { tensor("frozen", { 64 }), bytesOf(64, 'f') }, { tensor("w", { 8 }), bytesOf(8, '\0') } })
        .delta(2, { 0, 1 }, { 1, 1 })
        .delta(3, { 2 }, { 1 });
    record(tiny.store);
    tiny.delta(2, { 0, 1 }, { 3, 3 });

    EXPECT_EQ(errorOf(rebuild(tiny.store, 3)).code, Code::Rewritten);
    EXPECT_EQ(leftovers(), 1U);
    const auto report = rebuild(tiny.store, 3, true);
    ASSERT_TRUE(report) << report.error().text;
    EXPECT_EQ(report->resumedBytes, 128U);
    expectWritten("frozen", 64, 'f');
    EXPECT_NE(written("w").find(words16({ 3, 3, 1, 0, 0, 0, 0, 0 })), std::string::npos);
}

} // namespace
} // namespace deltascope
