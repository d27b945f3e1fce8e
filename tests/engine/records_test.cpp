#include "catalog_fixture.h"
#include "support/child_process.h"

#include <algorithm>
#include <csignal>
#include <functional>
#include <random>
#include <sys/resource.h>

// Records of what was seen first.

namespace deltascope {
namespace {

using namespace catalog_test;

class RecordsTest : public CatalogTest {
protected:
    static Records::Sight sight(const std::string& identity, std::int64_t seen)
    {
        return Records::Sight { identity, 1ULL << 41, "digest of " + identity, seen, true, {} };
    }
    std::string recordsPath() const { return m_folder.path("records.sqlite"); }
};

TEST_F(RecordsTest, AnotherProcessThatHoldsTheFileDoesNotMakeItLost)
{
    ASSERT_TRUE((*Records::open(recordsPath()))->add("s", { { "k", sight("first", 100) } }));
    {
        auto other = sqlite::Database::open(recordsPath(), sqlite::Database::Durability::Full);
        ASSERT_TRUE(other);
        ASSERT_TRUE(other->execute("PRAGMA locking_mode=EXCLUSIVE"));
        ASSERT_TRUE(other->execute("BEGIN EXCLUSIVE; DELETE FROM mirror; COMMIT"));
        const auto opened = Records::open(recordsPath(), std::chrono::milliseconds(10));
        ASSERT_FALSE(opened);
        EXPECT_EQ(opened.error().code, Code::Transient) << opened.error().text;
        EXPECT_EQ(opened.error().where, recordsPath());
    }
    const auto records = Records::open(recordsPath(), std::chrono::milliseconds(10));
    ASSERT_TRUE(records) << records.error().text;
    EXPECT_EQ((*records)->sights("s", "k")->size(), 1U);
}

TEST_F(RecordsTest, WhereTheyCannotGrowTheDiskIsFull)
{
    const auto opensBelow = [&](rlim_t bytes,
                                const std::function<bool(const Result<std::unique_ptr<Records>>&)>& isSo) {
        return test::inChild([&] {
            std::signal(SIGXFSZ, SIG_IGN);
            const rlimit limit { bytes, bytes };
            ::setrlimit(RLIMIT_FSIZE, &limit);
            return isSo(Records::open(recordsPath()));
        });
    };
    const auto isFull = [](const Result<std::unique_ptr<Records>>& opened) {
        return !opened && opened.error().code == Code::NoSpace;
    };
    EXPECT_TRUE(opensBelow(16U << 10, isFull)) << "no room for the index of the log";
    ASSERT_TRUE(Records::open(recordsPath()));
    EXPECT_TRUE(opensBelow(16U << 10, isFull));
    EXPECT_TRUE(opensBelow(1U << 20, [](const auto& opened) { return opened.has_value(); }));
}

TEST_F(RecordsTest, SightsComeBackOldestFirst)
{
    {
        auto records = Records::open(recordsPath());
        ASSERT_TRUE(records);
        Records::Sight untrusted = sight("second", 200);
        untrusted.trusted = false;
        ASSERT_TRUE(
            (*records)->add("s", { { "k", untrusted }, { "k", sight("first", 100) }, { "other", sight("x", 1) } }));
        ASSERT_TRUE((*records)->add("t", { { "k", sight("y", 1) } }));
    }
    auto records = Records::open(recordsPath());
    ASSERT_TRUE(records);
    const auto sights = (*records)->sights("s", "k");
    ASSERT_TRUE(sights);
    ASSERT_EQ(sights->size(), 2U);
    EXPECT_EQ((*sights)[0].identity, "first");
    EXPECT_EQ((*sights)[0].sizeBytes, 1ULL << 41);
    EXPECT_EQ((*sights)[0].xxh3, "digest of first");
    EXPECT_EQ((*sights)[0].seenUs, 100);
    EXPECT_TRUE((*sights)[0].trusted);
    EXPECT_EQ((*sights)[1].identity, "second");
    EXPECT_FALSE((*sights)[1].trusted);
}

TEST_F(RecordsTest, ADamagedFileIsAnErrorAndStaysWhereItIs)
{
    const std::string text = "no database " + std::string(4096, 'x');
    m_folder.write("records.sqlite", text);
    const auto records = Records::open(recordsPath());
    ASSERT_FALSE(records);
    EXPECT_EQ(records.error().code, Code::Catalog);
    EXPECT_EQ(m_folder.read("records.sqlite"), text);
}

TEST_F(RecordsTest, LeavesComeBack)
{
    Records::Sight seen = sight("a", 1);
    for (std::uint8_t i = 0; i < 100; ++i)
        seen.leaves.push_back(xxh3(std::as_bytes(std::span(&i, 1))));
    {
        auto records = Records::open(recordsPath());
        ASSERT_TRUE(records);
        ASSERT_TRUE((*records)->add("s", { { "k", seen }, { "small", sight("b", 1) } }));
    }
    auto records = Records::open(recordsPath());
    ASSERT_TRUE(records);
    EXPECT_EQ((*records)->sights("s", "k")->front().leaves, seen.leaves);
    EXPECT_TRUE((*records)->sights("s", "small")->front().leaves.empty());
}

/// As version 0.1 has written it.
void writeFirstRecords(const std::string& path)
{
    auto file = sqlite::Database::open(path, sqlite::Database::Durability::Full);
    ASSERT_TRUE(file);
    ASSERT_TRUE(
        file->execute("CREATE TABLE sight(source TEXT NOT NULL, key TEXT NOT NULL, identity TEXT NOT NULL, "
                      "size INTEGER NOT NULL, xxh3 TEXT NOT NULL, seen_us INTEGER NOT NULL, trusted INTEGER NOT NULL);"
                      "CREATE INDEX sight_of ON sight(source, key);"
                      "CREATE TABLE event(source TEXT NOT NULL, seen_us INTEGER NOT NULL, what TEXT NOT NULL);"
                      "CREATE INDEX event_of ON event(source);"
                      "INSERT INTO sight VALUES('s','k','one',5,'d1',7,1),('s','k','two',6,'d2',8,0);"
                      "INSERT INTO event VALUES('s',9,'{\"code\":\"DS-REWRITTEN\",\"text\":\"was overwritten\"}')"));
}

TEST_F(RecordsTest, AFileOfVersion01IsTakenOver)
{
    writeFirstRecords(recordsPath());
    for (int time = 0; time < 2; ++time) {
        const auto records = Records::open(recordsPath());
        ASSERT_TRUE(records) << records.error().text;
        const auto sights = (*records)->sights("s", "k");
        ASSERT_TRUE(sights) << sights.error().text;
        ASSERT_EQ(sights->size(), 2U);
        EXPECT_EQ((*sights)[0].identity, "one");
        EXPECT_EQ((*sights)[0].xxh3, "d1");
        EXPECT_TRUE((*sights)[0].leaves.empty());
        EXPECT_FALSE((*sights)[1].trusted);
        const auto events = (*records)->events("s", 5);
        ASSERT_TRUE(events);
        ASSERT_EQ(events->size(), 1U);
        EXPECT_EQ(events->front().what.code, Code::Rewritten);
    }
}

TEST_F(RecordsTest, AFileWithoutMirrorsGetsThem)
{
    {
        auto records = Records::open(recordsPath());
        ASSERT_TRUE(records);
        ASSERT_TRUE((*records)->add("s", { { "k", sight("first", 100) } }));
    }
    {
        auto file = sqlite::Database::open(recordsPath(), sqlite::Database::Durability::Full);
        ASSERT_TRUE(file);
        ASSERT_TRUE(file->execute("DROP TABLE mirror; DROP TABLE covered; DROP TABLE accepted; DROP TABLE number; "
                                  "PRAGMA user_version=1"));
    }
    auto records = Records::open(recordsPath());
    ASSERT_TRUE(records) << records.error().text;
    EXPECT_EQ((*records)->sights("s", "k")->size(), 1U);
    EXPECT_TRUE((*records)->mirrors("s")->empty());
    EXPECT_TRUE(*(*records)->cover("another")) << "an older file covers every source";
    ASSERT_TRUE((*records)->addMirror("s", "/there", 5));
    EXPECT_EQ(*(*records)->mirrors("s"), std::set<std::string> { "/there" });
    EXPECT_TRUE((*records)->mirrors("other")->empty());
}

TEST_F(RecordsTest, KeepTheNumbersThatVersionsWereShownUnder)
{
    using Numbers = std::map<std::string, std::int64_t>;
    {
        auto records = Records::open(recordsPath());
        ASSERT_TRUE(records);
        ASSERT_TRUE((*records)->addNumbers("s", { { "id aa", 1 }, { "id bb", 2 } }));
        ASSERT_TRUE((*records)->addNumbers("s", { { "id bb", 7 } }));
        ASSERT_TRUE((*records)->addNumbers("other", { { "id aa", 3 } }));
    }
    EXPECT_EQ(*(*Records::open(recordsPath()))->numbers("s"), (Numbers { { "id aa", 1 }, { "id bb", 7 } }));
    {
        auto file = sqlite::Database::open(recordsPath(), sqlite::Database::Durability::Full);
        ASSERT_TRUE(file);
        ASSERT_TRUE(file->execute("UPDATE number SET number=9 WHERE version='id aa' AND source='s'"));
    }
    EXPECT_EQ(*(*Records::open(recordsPath()))->numbers("s"), (Numbers { { "id bb", 7 } })) << "a damaged row is none";
    {
        auto file = sqlite::Database::open(recordsPath(), sqlite::Database::Durability::Full);
        ASSERT_TRUE(file);
        ASSERT_TRUE(file->execute("DROP TABLE number; PRAGMA user_version=3"));
    }
    auto records = Records::open(recordsPath());
    ASSERT_TRUE(records) << records.error().text;
    EXPECT_TRUE((*records)->numbers("s")->empty());
    EXPECT_FALSE(*(*records)->cover("s")) << "a file of version 3 covers what it says";
}

TEST_F(RecordsTest, AMirrorThatNobodyNamedIsNotRead)
{
    {
        auto records = Records::open(recordsPath());
        ASSERT_TRUE(records);
        ASSERT_TRUE((*records)->addMirror("s", "/there", 5));
    }
    {
        auto file = sqlite::Database::open(recordsPath(), sqlite::Database::Durability::Full);
        ASSERT_TRUE(file);
        ASSERT_TRUE(file->execute("UPDATE mirror SET address='/etc'"));
    }
    EXPECT_TRUE((*Records::open(recordsPath()))->mirrors("s")->empty());
}

TEST_F(RecordsTest, AFileOfANewerVersionIsNotTouched)
{
    {
        auto file = sqlite::Database::open(recordsPath(), sqlite::Database::Durability::Full);
        ASSERT_TRUE(file);
        ASSERT_TRUE(file->execute("PRAGMA user_version=99"));
    }
    const auto records = Records::open(recordsPath());
    ASSERT_FALSE(records);
    EXPECT_EQ(records.error().code, Code::Catalog);
    EXPECT_EQ(records.error().where, recordsPath());
}

TEST_F(RecordsTest, ADamagedRowIsToldAsDamageOfTheFileUntilATrustedOneStandsBehindIt)
{
    {
        auto records = Records::open(recordsPath());
        ASSERT_TRUE(records);
        ASSERT_TRUE((*records)->add("s", { { "k", sight("first", 100) }, { "other", sight("x", 1) } }));
        ASSERT_TRUE((*records)->addEvents("s", { { 5, Error { Code::Fork, "two", "here", 3, "part them" } } }));
    }
    {
        auto file = sqlite::Database::open(recordsPath(), sqlite::Database::Durability::Full);
        ASSERT_TRUE(file);
        ASSERT_TRUE(file->execute("UPDATE sight SET xxh3='digest of firsu' WHERE key='k'; UPDATE event SET seen_us=6"));
    }
    auto records = Records::open(recordsPath());
    ASSERT_TRUE(records);
    EXPECT_TRUE((*records)->check());
    const auto damaged = (*records)->sights("s", "k");
    ASSERT_FALSE(damaged);
    EXPECT_EQ(damaged.error().code, Code::Catalog);
    EXPECT_EQ(damaged.error().where, recordsPath());
    EXPECT_NE(damaged.error().text.find("of k "), std::string::npos) << damaged.error().text;
    EXPECT_EQ((*records)->sights("s", "other")->size(), 1U);
    EXPECT_EQ((*records)->events("s", 5)->front().what.code, Code::Catalog);

    Records::Sight untrusted = sight("second", 200);
    untrusted.trusted = false;
    ASSERT_TRUE((*records)->add("s", { { "k", untrusted } }));
    EXPECT_FALSE((*records)->sights("s", "k"));
    ASSERT_TRUE((*records)->add("s", { { "k", sight("third", 300) } }));
    ASSERT_TRUE((*records)->sights("s", "k"));
    EXPECT_EQ((*records)->sights("s", "k")->back().identity, "third");
}

TEST_F(RecordsTest, ARowThatNoIndexLeadsToIsDamage)
{
    {
        auto records = Records::open(recordsPath());
        ASSERT_TRUE(records);
        ASSERT_TRUE((*records)->add("s", { { "a key of its own", sight("first", 100) } }));
    }
    std::string bytes = m_folder.read("records.sqlite");
    const std::size_t place = bytes.find("a key of its own");
    ASSERT_NE(place, std::string::npos);
    bytes[place] = 'b'; // in the table or in the index, and not in the other
    m_folder.write("records.sqlite", bytes);
    auto records = Records::open(recordsPath());
    ASSERT_TRUE(records);
    EXPECT_FALSE((*records)->check());
    const auto sights = (*records)->sights("s", "a key of its own");
    ASSERT_FALSE(sights);
    EXPECT_EQ(sights.error().code, Code::Catalog);
}

} // namespace
} // namespace deltascope
