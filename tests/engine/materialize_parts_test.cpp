#include "materialize_workshop.h"
#include "support/faulty_file_system.h"
#include "support/sanitizer.h"

// Rebuilds that processes share.

namespace deltascope {
namespace {

using namespace materialize_test;
using test::DiskOperation;
using test::FaultyFileSystem;

class MaterializeParts : public testing::Test {
protected:
    MaterializeParts()
        : workshop("slime-v2-xor")
    {
        workshop.options.shardBytes = 30'000;
    }
    Result<MaterializeReport> part(std::uint32_t part, std::uint32_t parts)
    {
        workshop.options.part = part;
        workshop.options.parts = parts;
        workshop.options.commit = false;
        return workshop.rebuild(9);
    }
    Result<MaterializeReport> commit()
    {
        workshop.options.part = 0;
        workshop.options.parts = 1;
        workshop.options.commit = true;
        return workshop.rebuild(9);
    }
    void expectWhole()
    {
        workshop.expectStep(9);
        EXPECT_TRUE(workshop.leftovers().empty());
        for (const std::string& name : namesIn(workshop.out()))
            EXPECT_FALSE(name.starts_with("part-")) << name;
    }

    Workshop workshop;
};

TEST_F(MaterializeParts, MakeOneCheckpointOnceCommitted)
{
    for (std::uint32_t i = 0; i < 3; ++i) {
        const auto report = part(i, 3);
        ASSERT_TRUE(report) << report.error().text;
        EXPECT_FALSE(report->committed);
        EXPECT_FALSE(workshop.exists());
    }
    const auto report = commit();
    ASSERT_TRUE(report) << report.error().text;
    EXPECT_TRUE(report->committed);
    EXPECT_EQ(report->root, toHex(workshop.written()->root.fast));
    expectWhole();
}

TEST_F(MaterializeParts, ACommittedCheckpointEqualsOneThatWasMadeAtOnce)
{
    ASSERT_TRUE(part(1, 2));
    ASSERT_TRUE(part(0, 2));
    const auto shared = commit();
    ASSERT_TRUE(shared);
    auto content = contentOf(workshop.out());
    workshop.reset();
    workshop.options.commit = false;
    const auto alone = workshop.rebuild(9);
    ASSERT_TRUE(alone);
    EXPECT_EQ(shared->root, alone->root);
    EXPECT_EQ(shared->digestsChecked, alone->digestsChecked);
    EXPECT_EQ(shared->sidecars, alone->sidecars);
    EXPECT_EQ(contentOf(workshop.out()), content);
}

TEST_F(MaterializeParts, MayBeMoreThanThereAreFiles)
{
    for (std::uint32_t i = 0; i < 20; ++i)
        ASSERT_TRUE(part(i, 20)) << i;
    ASSERT_TRUE(commit());
    expectWhole();
}

TEST_F(MaterializeParts, AreNotCommittedBeforeAllAreDone)
{
    ASSERT_TRUE(part(0, 2));
    const Error error = errorOf(commit());
    EXPECT_EQ(error.code, Code::Unfinished);
    EXPECT_NE(error.text.find("part 1 of 2"), std::string::npos) << error.text;
    EXPECT_FALSE(workshop.exists());
    ASSERT_TRUE(part(1, 2));
    ASSERT_TRUE(commit());
    expectWhole();
}

TEST_F(MaterializeParts, WithoutAnyThereIsNothingToCommit)
{
    EXPECT_EQ(errorOf(commit()).code, Code::NotFound);
    EXPECT_FALSE(workshop.exists());
}

TEST_F(MaterializeParts, OfTwoDivisionsAreNotMixed)
{
    ASSERT_TRUE(part(0, 2));
    const Error error = errorOf(part(1, 3));
    EXPECT_EQ(error.code, Code::Usage);
    EXPECT_NE(error.text.find("in 2 parts, not in 3"), std::string::npos) << error.text;
    ASSERT_TRUE(part(1, 2));
    ASSERT_TRUE(commit());
    expectWhole();
}

TEST_F(MaterializeParts, FindEachOtherAcrossMachinesThatMountTheSourceDifferently)
{
    const std::string original = goldenPath("slime-v2-xor");
    const TempDir folder;
    const std::string elsewhere = folder.path("elsewhere");
    fs::copy(original, elsewhere, fs::copy_options::recursive); // other device and inode numbers, another path
    for (const auto& entry : fs::recursive_directory_iterator(original)) {
        if (entry.is_regular_file())
            fs::last_write_time(fs::path(elsewhere) / fs::relative(entry.path(), original),
                                fs::last_write_time(entry.path()));
    }
    ASSERT_TRUE(part(0, 2));
    workshop.moveTo(elsewhere);
    ASSERT_TRUE(part(1, 2));
    ASSERT_TRUE(commit());
    expectWhole();
}

TEST_F(MaterializeParts, OnePartIsNotDoneByTwoAtATime)
{
    bool nested = false;
    Result<MaterializeReport> second = MaterializeReport();
    workshop.store->onRead = [&, reads = 0](auto&&...) mutable {
        if (++reads > 60 && !std::exchange(nested, true))
            second = part(0, 2);
    };
    ASSERT_TRUE(part(0, 2));
    workshop.store->onRead = {};
    ASSERT_TRUE(nested);
    EXPECT_EQ(errorOf(second).code, Code::Exists);
    ASSERT_TRUE(part(1, 2));
    ASSERT_TRUE(commit());
    expectWhole();
}

TEST_F(MaterializeParts, ADonePartCanBeRunAgain)
{
    ASSERT_TRUE(part(0, 2));
    const auto again = part(0, 2);
    ASSERT_TRUE(again);
    EXPECT_GT(again->resumedBytes, 0U);
    ASSERT_TRUE(part(1, 2));
    ASSERT_TRUE(commit());
    expectWhole();
}

TEST_F(MaterializeParts, AFileThatWasCutShortBeforeTheCommitIsNoticed)
{
    ASSERT_TRUE(part(0, 2));
    ASSERT_TRUE(part(1, 2));
    const std::string folder = workshop.folder() + "/" + *workshop.leftovers().begin();
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() == ".safetensors")
            fs::resize_file(entry.path(), entry.file_size() - 1);
    }
    EXPECT_EQ(errorOf(commit()).code, Code::Unfinished);
    EXPECT_FALSE(workshop.exists());
}

TEST_F(MaterializeParts, AFileThatWasChangedBeforeTheCommitIsNamedAndWrittenAgainByItsPart)
{
    for (const bool inHeader : { true, false }) {
        SCOPED_TRACE(inHeader);
        ASSERT_TRUE(part(0, 2));
        ASSERT_TRUE(part(1, 2));
        const std::string folder = workshop.folder() + "/" + *workshop.leftovers().begin();
        std::set<std::string> files;
        for (const auto& entry : fs::directory_iterator(folder)) {
            if (entry.path().extension() == ".safetensors")
                files.insert(entry.path().string());
        }
        ASSERT_GT(files.size(), 1U);
        const std::string changed = *std::next(files.begin()); // of part 1
        std::fstream file(changed, std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(inHeader ? 12 : -7, inHeader ? std::ios::beg : std::ios::end);
        const std::streamoff at = file.tellg();
        const int byte = file.get();
        file.seekp(at);
        file.put(static_cast<char>(byte ^ 4));
        file.close();
        const Error error = errorOf(commit());
        EXPECT_EQ(error.code, Code::Digest);
        EXPECT_EQ(error.where, changed);
        EXPECT_EQ(error.action, "run materialize --shard 1/2 again, then --commit");
        EXPECT_FALSE(workshop.exists());
        ASSERT_TRUE(part(1, 2));
        ASSERT_TRUE(commit());
        expectWhole();
        workshop.reset();
    }
}

TEST_F(MaterializeParts, EveryCallOfACommitMayFail)
{
    FaultyFileSystem disk;
    workshop.bench.disk = &disk;
    constexpr std::uint64_t Each = test::UnderSanitizer ? 5 : 1;
    for (std::uint64_t nth = 1;; nth += Each) {
        SCOPED_TRACE(nth);
        ASSERT_TRUE(part(0, 2));
        ASSERT_TRUE(part(1, 2));
        const std::uint64_t before = disk.faults();
        disk.failNth(DiskOperation::Any, nth, DiskError);
        const auto report = commit();
        const bool hit = disk.faults() > before;
        disk.clearFaults();
        if (!hit) {
            ASSERT_TRUE(report);
            break;
        }
        if (!report) {
            ASSERT_FALSE(workshop.exists());
            if (!commit()) { // then at least the parts can be run again
                ASSERT_TRUE(part(0, 2));
                ASSERT_TRUE(part(1, 2));
                const auto again = commit();
                ASSERT_TRUE(again) << again.error().text;
            }
        }
        expectWhole();
        workshop.reset();
    }
}

} // namespace
} // namespace deltascope
