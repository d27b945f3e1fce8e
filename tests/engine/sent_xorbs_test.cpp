#include "store/hub/sent_xorbs.h"

#include "support/temp_dir.h"

#include <filesystem>
#include <gtest/gtest.h>

// What a put into a bucket leaves if it ends early, and who is told of it.

namespace deltascope::hub {
namespace {

class SentXorbsTest : public testing::Test {
protected:
    static xet::Hash hash(unsigned number)
    {
        xet::Hash hash {};
        hash.bytes.front() = static_cast<std::byte>(number);
        return hash;
    }
    /// A put of these xorbs that does not end well.
    void cut(const std::string& key, std::initializer_list<unsigned> xorbs) const
    {
        SentXorbs sent(journal, Store, key);
        for (const unsigned xorb : xorbs)
            EXPECT_TRUE(sent.add(hash(xorb), 1000 * xorb));
        EXPECT_TRUE(told().empty() || told().back().key != key) << "it is under way";
    }
    void finish(const std::string& key, std::initializer_list<unsigned> xorbs) const
    {
        SentXorbs sent(journal, Store, key);
        for (const unsigned xorb : xorbs)
            EXPECT_TRUE(sent.add(hash(xorb), 1000 * xorb));
        sent.done();
    }
    std::vector<StrandedUpload> told(const std::string& store = Store, bool forget = false) const
    {
        const auto found = strandedXorbs(journal, store, forget);
        EXPECT_TRUE(found);
        return found.value_or(std::vector<StrandedUpload>());
    }

    inline static const std::string Store = "hf://buckets/ns/name";
    test::TempDir folder;
    const UploadJournal journal { folder.path("journal") };
};

TEST_F(SentXorbsTest, OfAPutThatEndedEarlyAreTold)
{
    EXPECT_TRUE(told().empty());
    cut("run/a b", { 1, 2, 2 });
    ASSERT_EQ(told().size(), 1U);
    EXPECT_EQ(told().front().key, "run/a b");
    EXPECT_EQ(told().front().pieces, 2U);
    EXPECT_EQ(told().front().bytes, 3000U);
    EXPECT_TRUE(told("hf://buckets/ns/other").empty());
    EXPECT_EQ(told(Store, true).size(), 1U);
    EXPECT_TRUE(told().empty());
}

TEST_F(SentXorbsTest, OfAPutThatEndedWellAreNot)
{
    finish("a", { 1, 2 });
    finish("b", {});
    EXPECT_TRUE(told().empty());
    cut("c", {}); // nothing was sent
    EXPECT_TRUE(told().empty());
}

TEST_F(SentXorbsTest, AreNeededOnceTheSameBytesWerePut)
{
    cut("a", { 1, 2 });
    cut("b", { 1, 3 });
    finish("c", { 2, 1, 4 });
    ASSERT_EQ(told().size(), 1U); // 3 is nowhere else
    EXPECT_EQ(told().front().key, "b");
    EXPECT_EQ(told().front().pieces, 1U);
    EXPECT_EQ(told().front().bytes, 3000U);
    finish("b", { 1, 3 });
    EXPECT_TRUE(told().empty());
}

/// The file of a note up to any byte is what a kill leaves.
TEST_F(SentXorbsTest, ANoteThatWasCutTellsWhatIsWhole)
{
    cut("a", { 1, 2, 3 });
    std::filesystem::path file;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path("journal")))
        file = entry.path();
    const std::string name = std::filesystem::relative(file, folder.path());
    const std::string whole = folder.read(name);
    std::size_t most = 0;
    for (std::size_t length = 0; length <= whole.size(); ++length) {
        folder.write(name, whole.substr(0, length));
        const auto now = told();
        ASSERT_LE(now.size(), 1U);
        const std::size_t pieces = now.empty() ? 0 : now.front().pieces;
        EXPECT_GE(pieces, most) << length;
        most = pieces;
        const std::uint64_t bytes = now.empty() ? 0 : now.front().bytes;
        EXPECT_EQ(bytes, pieces * (pieces + 1) / 2 * 1000) << length;
    }
    EXPECT_EQ(most, 3U);
}

TEST_F(SentXorbsTest, WithoutAFolderNothingIsNoted)
{
    const UploadJournal none { "" };
    SentXorbs sent(none, Store, "a");
    EXPECT_TRUE(sent.add(hash(1), 10));
    EXPECT_TRUE(strandedXorbs(none, Store, false)->empty());
}

} // namespace
} // namespace deltascope::hub
