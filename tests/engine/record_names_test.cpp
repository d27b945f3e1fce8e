#include "deltascope/engine/catalog.h"

#include "catalog/record_seals.h"
#include "catalog/sqlite.h"
#include "support/temp_dir.h"

#include <gtest/gtest.h>

// One object has one record, whichever folder around it was opened when it was seen.

namespace deltascope {
namespace {

using Sight = Records::Sight;

Sight sight(const std::string& digest, std::int64_t seenUs, bool trusted = true)
{
    return { "identity of " + digest, 5, digest, seenUs, trusted, {} };
}

class RecordNames : public testing::Test {
protected:
    RecordNames() { reopen(); }
    void reopen()
    {
        m_records.reset();
        auto opened = Records::open(path());
        EXPECT_TRUE(opened);
        m_records = std::move(*opened);
    }
    std::string path() const { return m_folder.path("records.sqlite"); }
    void add(const std::string& source, const std::string& key, const Sight& sight)
    {
        EXPECT_TRUE(m_records->add(source, { { key, sight } }));
    }
    /// As versions wrote it that knew an object by one name.
    void addAlone(const std::string& source, const std::string& key, const Sight& sight)
    {
        m_records.reset();
        {
            auto file = sqlite::Database::open(path(), sqlite::Database::Durability::Full);
            ASSERT_TRUE(file);
            auto insert = file->prepare("INSERT INTO sight(source,key,identity,size,xxh3,seen_us,trusted,leaves,seal) "
                                        "VALUES(?,?,?,5,?,?,?,x'',?)");
            ASSERT_TRUE(insert);
            insert->bind(1, source).bind(2, key).bind(3, sight.identity).bind(4, sight.xxh3).bind(5, sight.seenUs);
            insert->bind(6, static_cast<std::int64_t>(sight.trusted)).bind(7, sealOfSight(source, key, sight));
            ASSERT_TRUE(insert->run());
        }
        reopen();
    }
    /// "digest" for each sight, "(digest)" for one that is not trusted.
    std::vector<std::string> seen(const std::string& source, const std::string& key)
    {
        std::vector<std::string> words;
        const auto sights = m_records->sights(source, key);
        EXPECT_TRUE(sights) << sights.error().text;
        for (const Sight& one : sights.value_or(std::vector<Sight>()))
            words.push_back(one.trusted ? one.xxh3 : "(" + one.xxh3 + ")");
        return words;
    }
    Records& records() { return *m_records; }

private:
    test::TempDir m_folder;
    std::unique_ptr<Records> m_records;
};

using Words = std::vector<std::string>;

TEST_F(RecordNames, ASightIsFoundFromAFolderInsideAndFromOneAround)
{
    add("file:///run", "checkpoint-1/x", sight("a", 1));
    add("file:///run/checkpoint-2", "x", sight("b", 2));
    EXPECT_EQ(seen("file:///run/checkpoint-1", "x"), (Words { "a" }));
    EXPECT_EQ(seen("file:///run", "checkpoint-2/x"), (Words { "b" }));
    EXPECT_EQ(seen("file:///", "run/checkpoint-2/x"), (Words { "b" }));
    EXPECT_EQ(seen("file:///run/checkpoint-1", "y"), (Words {}));
}

TEST_F(RecordNames, RunsSideBySideDoNotSeeEachOther)
{
    add("file:///all/one", "checkpoint-1/x", sight("a", 1));
    EXPECT_EQ(seen("file:///all/other", "checkpoint-1/x"), (Words {}));
    EXPECT_EQ(seen("file:///copy/one", "checkpoint-1/x"), (Words {}));
    EXPECT_EQ(seen("file:///all/one/checkpoint-2", "x"), (Words {}));
}

TEST_F(RecordNames, SightsUnderSeveralNamesComeOldestFirst)
{
    add("file:///run/checkpoint-1", "x", sight("a", 2));
    add("file:///run", "checkpoint-1/x", sight("b", 1, false));
    add("file:///run", "checkpoint-1/x", sight("c", 3, false));
    EXPECT_EQ(seen("file:///run", "checkpoint-1/x"), (Words { "(b)", "a", "(c)" }));
}

TEST_F(RecordNames, AFirstSightUnderAnotherNameAcceptsNothing)
{
    add("file:///run", "checkpoint-1/x", sight("a", 1));
    addAlone("file:///run/checkpoint-1", "x", sight("b", 2));
    EXPECT_EQ(seen("file:///run", "checkpoint-1/x"), (Words { "a", "(b)" }));
    EXPECT_EQ(seen("file:///run/checkpoint-1", "x"), (Words { "a", "(b)" }));
    addAlone("file:///", "run/checkpoint-1/x", sight("a", 3)); // put back, and seen from a third folder
    EXPECT_EQ(seen("file:///run", "checkpoint-1/x"), (Words { "a", "(b)", "a" }));
}

TEST_F(RecordNames, WhatIsAcceptedUnderOneNameIsAcceptedUnderAll)
{
    for (const bool fromInside : { false, true }) {
        const std::string run = fromInside ? "file:///one" : "file:///two";
        add(run, "checkpoint-1/x", sight("a", 1));
        addAlone(run + "/checkpoint-1", "x", sight("b", 2));
        add(fromInside ? run + "/checkpoint-1" : run, fromInside ? "x" : "checkpoint-1/x", sight("b", 3));
        for (const Words& words : { seen(run, "checkpoint-1/x"), seen(run + "/checkpoint-1", "x") })
            EXPECT_EQ(words.back(), "b") << run;
    }
}

TEST_F(RecordNames, DamageUnderOneNameIsToldUnderAllUntilTheObjectIsAccepted)
{
    add("file:///run", "checkpoint-1/x", sight("a", 1));
    {
        auto file = sqlite::Database::open(path(), sqlite::Database::Durability::Full);
        ASSERT_TRUE(file);
        ASSERT_TRUE(file->execute("UPDATE sight SET size=6"));
    }
    addAlone("file:///run/checkpoint-1", "x", sight("b", 2));
    EXPECT_FALSE(records().sights("file:///run/checkpoint-1", "x"));
    EXPECT_FALSE(records().sights("file:///run", "checkpoint-1/x"));
    add("file:///run/checkpoint-1", "x", sight("a", 3));
    EXPECT_EQ(seen("file:///run/checkpoint-1", "x").back(), "a");
    EXPECT_EQ(seen("file:///run", "checkpoint-1/x").back(), "a");
}

} // namespace
} // namespace deltascope
