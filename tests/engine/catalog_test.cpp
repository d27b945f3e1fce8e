#include "catalog_fixture.h"

#include <algorithm>
#include <limits>
#include <random>

// The catalog: what it keeps, and what becomes of damaged files.

namespace deltascope {
namespace {

using namespace catalog_test;

TEST_F(CatalogTest, ANewOneIsEmptyAndSound)
{
    const auto catalog = open();
    EXPECT_TRUE(catalog->summaries(RunKey)->empty());
    EXPECT_TRUE(catalog->facts(RunKey)->empty());
    EXPECT_TRUE(catalog->check());
}

TEST_F(CatalogTest, SummariesComeBackWholeInAnotherSession)
{
    fill();
    const auto known = open()->summaries(RunKey);
    ASSERT_TRUE(known);
    ASSERT_EQ(known->size(), 2U);
    EXPECT_EQ(known->at("anchors/1").identity, "id1");
    expectEqual(known->at("anchors/1").summary, fullSummary());
    expectEqual(known->at("deltas/2").summary, deltaSummary());
}

TEST_F(CatalogTest, WhatIsForgottenIsForgottenWithEveryBaseAndNothingElse)
{
    const auto catalog = open();
    const std::string source = RunKey;
    const std::string other = source + "x"; // begins with the same letters
    for (const std::string& of : { source, other })
        ASSERT_TRUE(
            catalog->putSummaries(of, { { "gone", { "i", fullSummary() } }, { "kept", { "i", fullSummary() } } }));
    for (const std::string& of : { source, source + "|base", other }) {
        for (const char* version : { "gone", "kept" })
            ASSERT_TRUE(catalog->putFacts(of, version, { "chain", {} }, {}));
    }
    ASSERT_TRUE(catalog->forget(source, { "gone", "never known" }));
    EXPECT_EQ(catalog->summaries(source)->size(), 1U);
    EXPECT_EQ(catalog->summaries(other)->size(), 2U);
    EXPECT_EQ(catalog->facts(source)->size(), 1U);
    EXPECT_EQ(catalog->facts(source + "|base")->size(), 1U);
    EXPECT_TRUE(catalog->facts(source)->contains("kept"));
    EXPECT_EQ(catalog->facts(other)->size(), 2U);
}

TEST_F(CatalogTest, ALaterSummaryReplacesTheFormerOne)
{
    const auto catalog = open();
    ASSERT_TRUE(catalog->putSummaries(RunKey, { { "v", { "old", fullSummary() } } }));
    ASSERT_TRUE(catalog->putSummaries(RunKey, { { "v", { "new", deltaSummary() } } }));
    const auto known = catalog->summaries(RunKey);
    ASSERT_EQ(known->size(), 1U);
    EXPECT_EQ(known->at("v").identity, "new");
    expectEqual(known->at("v").summary, deltaSummary());
}

TEST_F(CatalogTest, SourcesAreKeptApart)
{
    fill();
    const auto catalog = open();
    EXPECT_TRUE(catalog->summaries("file:///other|trl-v2")->empty());
    EXPECT_TRUE(catalog->facts("file:///other|trl-v2")->empty());
    EXPECT_TRUE(catalog->counts("file:///other|trl-v2", "deltas/2", "chain2")->empty());
}

TEST_F(CatalogTest, FactsComeBackWholeInAnotherSession)
{
    fill();
    const auto known = open()->facts(RunKey);
    ASSERT_TRUE(known);
    ASSERT_EQ(known->size(), 1U);
    EXPECT_EQ(known->at("deltas/2").chain, "chain2");
    expectEqual(known->at("deltas/2").facts, someFacts());
}

TEST_F(CatalogTest, DamageComesBackWhole)
{
    const auto catalog = open();
    VersionFacts facts;
    facts.damage = someError();
    ASSERT_TRUE(catalog->putFacts(RunKey, "v", { "c", facts }, {}));
    expectEqual(catalog->facts(RunKey)->at("v").facts, facts);
}

TEST_F(CatalogTest, AnUnknownDifferenceIsNotZero)
{
    const auto catalog = open();
    VersionFacts facts;
    ASSERT_TRUE(catalog->putFacts(RunKey, "v", { "c", facts }, {}));
    EXPECT_FALSE(catalog->facts(RunKey)->at("v").facts.changedVsPrevious);
}

TEST_F(CatalogTest, TextThatIsNoUtf8StopsNothing)
{
    const auto catalog = open();
    VersionFacts facts;
    facts.damage = Error { Code::Hostile, "name \xff\xfe", "object\xc3", 3, {} };
    ASSERT_TRUE(catalog->putFacts(RunKey, "v", { "c", facts }, { { "tensor\xff", 4 } }));
    const auto known = catalog->facts(RunKey);
    ASSERT_TRUE(known);
    ASSERT_TRUE(known->contains("v"));
    EXPECT_EQ(known->at("v").facts.damage->code, Code::Hostile);
    const auto counts = catalog->counts(RunKey, "v", "c");
    ASSERT_TRUE(counts);
    ASSERT_EQ(counts->size(), 1U);
    EXPECT_EQ(counts->front().name, "tensor\xff");
}

TEST_F(CatalogTest, CountsComeBackByName)
{
    fill();
    auto known = open()->counts(RunKey, "deltas/2", "chain2");
    ASSERT_TRUE(known);
    std::map<std::string, std::uint64_t> byName;
    for (const TensorCount& count : *known)
        byName[count.name] = count.changed;
    std::map<std::string, std::uint64_t> expected;
    for (const TensorCount& count : counts())
        expected[count.name] = count.changed;
    EXPECT_EQ(byName, expected);
}

TEST_F(CatalogTest, CountsOfAnotherChainAreUnknown)
{
    fill();
    EXPECT_TRUE(open()->counts(RunKey, "deltas/2", "another")->empty());
}

TEST_F(CatalogTest, VersionsShareTheNamesOfTensors)
{
    const auto catalog = open();
    for (int version = 0; version < 20; ++version)
        ASSERT_TRUE(catalog->putFacts(RunKey, std::to_string(version), { "c", {} },
                                      { { "a", static_cast<std::uint64_t>(version) + 1 }, { "b", 5 } }));
    for (int version = 0; version < 20; ++version) {
        const auto known = catalog->counts(RunKey, std::to_string(version), "c");
        ASSERT_TRUE(known);
        ASSERT_EQ(known->size(), 2U);
        const auto a =
            std::find_if(known->begin(), known->end(), [](const TensorCount& count) { return count.name == "a"; });
        EXPECT_EQ(a->changed, static_cast<std::uint64_t>(version) + 1);
    }
}

TEST_F(CatalogTest, ALayoutIsKnownWhileItsProbeHolds)
{
    fill();
    const auto catalog = open();
    EXPECT_EQ(*catalog->layoutOf("file:///run", "probe"), "trl-v2");
    EXPECT_EQ(*catalog->layoutOf("file:///run", "another"), std::nullopt);
}

TEST_F(CatalogTest, TwoProcessesSeeEachOthersEntries)
{
    const auto one = open();
    const auto two = open();
    ASSERT_TRUE(one->putFacts(RunKey, "v", { "c", someFacts() }, { { "a", 3 } }));
    ASSERT_TRUE(two->putFacts(RunKey, "w", { "c", someFacts() }, { { "z", 1 }, { "a", 4 } }));
    EXPECT_EQ(one->facts(RunKey)->size(), 2U);
    EXPECT_EQ(one->counts(RunKey, "w", "c")->size(), 2U);
    EXPECT_EQ(two->counts(RunKey, "v", "c")->front().name, "a");
}

TEST_F(CatalogTest, AFileThatIsNoDatabaseIsMovedAsideAndReplaced)
{
    m_folder.write("catalog.sqlite",
                   "this is no database, and long enough to be looked at as one: " + std::string(4096, 'x'));
    const auto catalog = open();
    ASSERT_TRUE(catalog);
    EXPECT_TRUE(catalog->putLayout("s", "p", "hf"));
    ASSERT_EQ(corruptFiles().size(), 1U);
    EXPECT_EQ(m_folder.read(corruptFiles()[0]).substr(0, 19), "this is no database");
}

TEST_F(CatalogTest, ATruncatedFileIsReplaced)
{
    fill();
    const std::string bytes = m_folder.read("catalog.sqlite");
    for (const std::size_t size : { std::size_t(1), std::size_t(99), bytes.size() / 2, bytes.size() - 1 }) {
        m_folder.write("catalog.sqlite", bytes.substr(0, size));
        const auto catalog = open();
        ASSERT_TRUE(catalog) << size;
        EXPECT_TRUE(catalog->summaries(RunKey)) << size;
        EXPECT_TRUE(catalog->putLayout("s", "p", "hf")) << size;
    }
}

TEST_F(CatalogTest, AnEmptyFileIsANewOne)
{
    m_folder.write("catalog.sqlite", "");
    EXPECT_TRUE(open()->putLayout("s", "p", "hf"));
    EXPECT_TRUE(corruptFiles().empty());
}

TEST_F(CatalogTest, AFileOfAnotherVersionStaysAndOursIsBesideIt)
{
    fill();
    edit("PRAGMA user_version=999");
    EXPECT_TRUE(open()->summaries(RunKey)->empty());
    fill();
    EXPECT_EQ(open()->summaries(RunKey)->size(), 2U);
    EXPECT_TRUE(corruptFiles().empty());
    edit("PRAGMA user_version=8"); // as the other version finds it
    EXPECT_EQ(open()->facts(RunKey)->size(), 1U);
}

TEST_F(CatalogTest, ADamagedRowOfCountsIsDroppedAndNothingElse)
{
    for (const char* damage : { "UPDATE facts SET counts=x'ff' WHERE name='deltas/2'",
                                "UPDATE facts SET counts_seal='of another program' WHERE name='deltas/2'" }) {
        SCOPED_TRACE(damage);
        std::filesystem::remove(path());
        fill();
        ASSERT_TRUE(open()->putFacts(RunKey, "deltas/3", { "chain3", someFacts() }, counts()));
        edit(damage);
        const auto catalog = open();
        EXPECT_TRUE(catalog->counts(RunKey, "deltas/2", "chain2")->empty());
        EXPECT_FALSE(catalog->facts(RunKey)->contains("deltas/2")) << "it is read again";
        EXPECT_TRUE(catalog->facts(RunKey)->contains("deltas/3"));
        EXPECT_EQ(catalog->counts(RunKey, "deltas/3", "chain3")->size(), counts().size());
        EXPECT_EQ(catalog->summaries(RunKey)->size(), 2U);
        ASSERT_TRUE(catalog->putFacts(RunKey, "deltas/2", { "chain2", someFacts() }, counts()));
        EXPECT_EQ(catalog->counts(RunKey, "deltas/2", "chain2")->size(), counts().size());
        EXPECT_TRUE(corruptFiles().empty());
    }
}

TEST_F(CatalogTest, AFileWithoutItsTablesIsFilledAgain)
{
    fill();
    const auto catalog = open();
    {
        auto database = sqlite::Database::open(path(), sqlite::Database::Durability::Normal);
        ASSERT_TRUE(database);
        ASSERT_TRUE(database->execute("DROP TABLE facts"));
    }
    EXPECT_TRUE(catalog->facts(RunKey)->empty());
    EXPECT_TRUE(catalog->putFacts(RunKey, "v", { "c", someFacts() }, {}));
    EXPECT_EQ(catalog->facts(RunKey)->size(), 1U);
}

TEST_F(CatalogTest, APathThatCannotBeAFileIsAnError)
{
    const auto opened = Catalog::open(m_folder.path("missing/catalog.sqlite"));
    ASSERT_FALSE(opened);
    EXPECT_FALSE(opened.error().text.empty());
}

TEST_F(CatalogTest, ValuesThatWereEditedAreNotBelieved)
{
    for (const char* edit :
         { "UPDATE version SET elements=elements+1", "UPDATE version SET digests=77",
           "UPDATE version SET notes='[1,\"x\",{\"code\":5}]'", "UPDATE version SET notes='not json'",
           "UPDATE version SET identity='id9'", "UPDATE version SET full=1-full", "UPDATE facts SET changed=changed-1",
           "UPDATE facts SET noops=0", "UPDATE facts SET vs_previous=NULL", "UPDATE facts SET detail='{\"damage\":[]}'",
           "UPDATE facts SET chain='chain3'", "UPDATE facts SET counts=x'0105'", "UPDATE facts SET counts=x'ff'",
           "UPDATE tensor SET name='other' WHERE name='a'", "UPDATE layout SET word='hf'" }) {
        SCOPED_TRACE(edit);
        std::filesystem::remove(path());
        fill();
        {
            auto database = sqlite::Database::open(path(), sqlite::Database::Durability::Normal);
            ASSERT_TRUE(database);
            ASSERT_TRUE(database->execute(edit));
        }
        const auto catalog = open();
        const auto summaries = catalog->summaries(RunKey);
        ASSERT_TRUE(summaries);
        for (const auto& [name, known] : *summaries)
            expectEqual(known.summary, name == "deltas/2" ? deltaSummary() : fullSummary());
        const auto facts = catalog->facts(RunKey);
        ASSERT_TRUE(facts);
        for (const auto& [name, known] : *facts) {
            EXPECT_EQ(known.chain, "chain2");
            expectEqual(known.facts, someFacts());
        }
        const auto counts = catalog->counts(RunKey, "deltas/2", "chain2");
        ASSERT_TRUE(counts);
        std::uint64_t sum = 0;
        for (const TensorCount& count : *counts) {
            EXPECT_NE(count.name, "other");
            sum += count.changed;
        }
        EXPECT_TRUE(sum == 0 || sum == (1ULL << 40) + 8) << sum;
        const auto layout = catalog->layoutOf("file:///run", "probe");
        ASSERT_TRUE(layout);
        EXPECT_NE(*layout, "hf");
    }
}

TEST_F(CatalogTest, RandomByteEditsNeverCrashNorLie)
{
    fill();
    const std::string sound = m_folder.read("catalog.sqlite");
    std::mt19937 random(5);
    for (int round = 0; round < 150; ++round) {
        SCOPED_TRACE(round);
        std::string bytes = sound;
        for (std::size_t edits = 1 + random() % 12; edits > 0; --edits)
            bytes[random() % bytes.size()] = static_cast<char>(random());
        for (const auto& entry : std::filesystem::directory_iterator(m_folder.path()))
            std::filesystem::remove(entry.path());
        m_folder.write("catalog.sqlite", bytes);

        auto opened = Catalog::open(path());
        ASSERT_TRUE(opened) << opened.error().text;
        Catalog& catalog = **opened;
        const auto summaries = catalog.summaries(RunKey);
        ASSERT_TRUE(summaries) << summaries.error().text;
        for (const auto& [name, known] : *summaries)
            expectEqual(known.summary, name == "deltas/2" ? deltaSummary() : fullSummary());
        const auto facts = catalog.facts(RunKey);
        ASSERT_TRUE(facts) << facts.error().text;
        for (const auto& [name, known] : *facts)
            expectEqual(known.facts, someFacts());
        ASSERT_TRUE(catalog.counts(RunKey, "deltas/2", "chain2"));
        ASSERT_TRUE(catalog.layoutOf("file:///run", "probe"));
        ASSERT_TRUE(catalog.putFacts(RunKey, "new", { "c", someFacts() }, counts()));
        ASSERT_TRUE(catalog.putSummaries(RunKey, { { "new", { "i", fullSummary() } } }));
        if (testing::Test::HasFatalFailure())
            return;
    }
}

TEST_F(CatalogTest, DamageThatHappensWhileItIsOpenStopsNothing)
{
    fill();
    const auto catalog = open();
    {
        std::string bytes = m_folder.read("catalog.sqlite");
        std::fill(bytes.begin(), bytes.end(), 'x');
        m_folder.write("catalog.sqlite", bytes);
    }
    EXPECT_TRUE(catalog->summaries(RunKey));
    EXPECT_TRUE(catalog->facts(RunKey));
    EXPECT_TRUE(catalog->putFacts(RunKey, "v", { "c", someFacts() }, counts()));
}

TEST_F(CatalogTest, AnotherProcessThatIsWritingDoesNotKeepUsFromReading)
{
    fill();
    auto other = sqlite::Database::open(path(), sqlite::Database::Durability::Normal);
    ASSERT_TRUE(other);
    ASSERT_TRUE(other->execute("BEGIN IMMEDIATE"));
    const auto opened = Catalog::open(path());
    ASSERT_TRUE(opened) << opened.error().text;
    EXPECT_EQ((*opened)->summaries(RunKey)->size(), 2U);
    EXPECT_TRUE(corruptFiles().empty());
}

TEST_F(CatalogTest, AFileThatAnotherProcessHasLockedIsNotTakenForDamaged)
{
    fill();
    auto other = sqlite::Database::open(path(), sqlite::Database::Durability::Normal);
    ASSERT_TRUE(other);
    ASSERT_TRUE(other->execute("PRAGMA locking_mode=EXCLUSIVE"));
    ASSERT_TRUE(other->execute("BEGIN EXCLUSIVE; DELETE FROM layout; COMMIT"));
    const auto opened = Catalog::open(path(), std::chrono::milliseconds(10));
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Code::Transient) << opened.error().text;
    EXPECT_TRUE(corruptFiles().empty());
    EXPECT_TRUE(std::filesystem::exists(path()));
}

} // namespace
} // namespace deltascope
