#include "deltascope/engine/catalog.h"

#include "catalog/packed_counts.h"
#include "catalog/sqlite.h"
#include "support/temp_dir.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace deltascope {
namespace {

using test::TempDir;

constexpr const char* Source = "file:///run|trl-v2";

Error someError()
{
    return Error { Code::Hostile, "position 9 \"of\" 8\nin größe", "deltas/step_000003.safetensors", 3, "look at it" };
}

VersionSummary fullSummary()
{
    VersionSummary summary;
    summary.full = true;
    summary.tensors = 13;
    summary.storedElements = (1ULL << 40) + 7;
    summary.countsKnown = true;
    for (std::size_t i = 0; i < summary.nameSet.size(); ++i)
        summary.nameSet[i] = static_cast<std::byte>(i * 17);
    return summary;
}

VersionSummary deltaSummary()
{
    VersionSummary summary;
    summary.declaredBase = 41;
    summary.encoding = "xor";
    summary.digests = DigestAlgorithm::Blake3;
    summary.tensors = 2;
    summary.restores = 12;
    summary.notes = { someError(), Error { Code::Claim, "says 5", {}, {}, {} } };
    return summary;
}

void expectEqual(const VersionSummary& a, const VersionSummary& b)
{
    EXPECT_EQ(a.full, b.full);
    EXPECT_EQ(a.declaredBase, b.declaredBase);
    EXPECT_EQ(a.encoding, b.encoding);
    EXPECT_EQ(a.digests, b.digests);
    EXPECT_EQ(a.tensors, b.tensors);
    EXPECT_EQ(a.storedElements, b.storedElements);
    EXPECT_EQ(a.countsKnown, b.countsKnown);
    EXPECT_EQ(a.nameSet, b.nameSet);
    EXPECT_EQ(a.restores, b.restores);
    EXPECT_EQ(a.notes, b.notes);
}

VersionFacts someFacts()
{
    VersionFacts facts;
    facts.changedElements = 1ULL << 41;
    facts.changedVsPrevious = 0;
    facts.assigned = 12;
    facts.noops = 3;
    facts.zeroSigns = 2;
    facts.sameLowByte = 5;
    facts.driftedTensors = { { "model.größe", 90, 11 }, { "b", 40, 0 } };
    facts.digestsChecked = 9;
    facts.digestsFailed = 2;
    facts.firstFailedTensor = "model.größe";
    facts.expectedDigest = "aa";
    facts.actualDigest = "bb";
    facts.restores = false;
    return facts;
}

void expectEqual(const VersionFacts& a, const VersionFacts& b)
{
    EXPECT_EQ(a.changedElements, b.changedElements);
    EXPECT_EQ(a.changedVsPrevious, b.changedVsPrevious);
    EXPECT_EQ(a.assigned, b.assigned);
    EXPECT_EQ(a.noops, b.noops);
    EXPECT_EQ(a.zeroSigns, b.zeroSigns);
    EXPECT_EQ(a.sameLowByte, b.sameLowByte);
    EXPECT_EQ(a.driftedTensors, b.driftedTensors);
    EXPECT_EQ(a.digestsChecked, b.digestsChecked);
    EXPECT_EQ(a.digestsFailed, b.digestsFailed);
    EXPECT_EQ(a.firstFailedTensor, b.firstFailedTensor);
    EXPECT_EQ(a.expectedDigest, b.expectedDigest);
    EXPECT_EQ(a.actualDigest, b.actualDigest);
    EXPECT_EQ(a.restores, b.restores);
    EXPECT_EQ(a.damage, b.damage);
}

class CatalogTest : public testing::Test {
protected:
    std::string path() const { return m_folder.path("catalog.sqlite"); }
    std::unique_ptr<Catalog> open() const
    {
        auto opened = Catalog::open(path());
        EXPECT_TRUE(opened) << opened.error().text;
        return opened ? std::move(*opened) : nullptr;
    }
    /// Files that were moved aside.
    std::vector<std::string> corruptFiles() const
    {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(m_folder.path())) {
            if (entry.path().filename().string().find(".corrupt-") != std::string::npos)
                names.push_back(entry.path().filename().string());
        }
        return names;
    }
    static std::vector<TensorCount> counts() { return { { "b", 7 }, { "a", 1ULL << 40 }, { "größe\n\"x\"", 1 } }; }

    /// A catalog with something of everything.
    void fill() const
    {
        const auto catalog = open();
        ASSERT_TRUE(catalog->putSummaries(
            Source, { { "anchors/1", { "id1", fullSummary() } }, { "deltas/2", { "id2", deltaSummary() } } }));
        ASSERT_TRUE(catalog->putFacts(Source, "deltas/2", { "chain2", someFacts() }, counts()));
        ASSERT_TRUE(catalog->putLayout("file:///run", "probe", "trl-v2"));
    }

    /// As another program, or a flipped bit, changes the file.
    void edit(const std::string& sql) const
    {
        auto database = sqlite::Database::open(path(), sqlite::Database::Durability::Normal);
        ASSERT_TRUE(database);
        ASSERT_TRUE(database->execute(sql));
    }

    TempDir m_folder;
};

TEST_F(CatalogTest, ANewOneIsEmptyAndSound)
{
    const auto catalog = open();
    EXPECT_TRUE(catalog->summaries(Source)->empty());
    EXPECT_TRUE(catalog->facts(Source)->empty());
    EXPECT_TRUE(catalog->check());
}

TEST_F(CatalogTest, SummariesComeBackWholeInAnotherSession)
{
    fill();
    const auto known = open()->summaries(Source);
    ASSERT_TRUE(known);
    ASSERT_EQ(known->size(), 2U);
    EXPECT_EQ(known->at("anchors/1").identity, "id1");
    expectEqual(known->at("anchors/1").summary, fullSummary());
    expectEqual(known->at("deltas/2").summary, deltaSummary());
}

TEST_F(CatalogTest, WhatIsForgottenIsForgottenWithEveryBaseAndNothingElse)
{
    const auto catalog = open();
    const std::string source = Source;
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
    ASSERT_TRUE(catalog->putSummaries(Source, { { "v", { "old", fullSummary() } } }));
    ASSERT_TRUE(catalog->putSummaries(Source, { { "v", { "new", deltaSummary() } } }));
    const auto known = catalog->summaries(Source);
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
    const auto known = open()->facts(Source);
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
    ASSERT_TRUE(catalog->putFacts(Source, "v", { "c", facts }, {}));
    expectEqual(catalog->facts(Source)->at("v").facts, facts);
}

TEST_F(CatalogTest, AnUnknownDifferenceIsNotZero)
{
    const auto catalog = open();
    VersionFacts facts;
    ASSERT_TRUE(catalog->putFacts(Source, "v", { "c", facts }, {}));
    EXPECT_FALSE(catalog->facts(Source)->at("v").facts.changedVsPrevious);
}

TEST_F(CatalogTest, TextThatIsNoUtf8StopsNothing)
{
    const auto catalog = open();
    VersionFacts facts;
    facts.damage = Error { Code::Hostile, "name \xff\xfe", "object\xc3", 3, {} };
    ASSERT_TRUE(catalog->putFacts(Source, "v", { "c", facts }, { { "tensor\xff", 4 } }));
    const auto known = catalog->facts(Source);
    ASSERT_TRUE(known);
    ASSERT_TRUE(known->contains("v"));
    EXPECT_EQ(known->at("v").facts.damage->code, Code::Hostile);
    const auto counts = catalog->counts(Source, "v", "c");
    ASSERT_TRUE(counts);
    ASSERT_EQ(counts->size(), 1U);
    EXPECT_EQ(counts->front().name, "tensor\xff");
}

TEST_F(CatalogTest, CountsComeBackByName)
{
    fill();
    auto known = open()->counts(Source, "deltas/2", "chain2");
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
    EXPECT_TRUE(open()->counts(Source, "deltas/2", "another")->empty());
}

TEST_F(CatalogTest, VersionsShareTheNamesOfTensors)
{
    const auto catalog = open();
    for (int version = 0; version < 20; ++version)
        ASSERT_TRUE(catalog->putFacts(Source, std::to_string(version), { "c", {} },
                                      { { "a", static_cast<std::uint64_t>(version) + 1 }, { "b", 5 } }));
    for (int version = 0; version < 20; ++version) {
        const auto known = catalog->counts(Source, std::to_string(version), "c");
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
    ASSERT_TRUE(one->putFacts(Source, "v", { "c", someFacts() }, { { "a", 3 } }));
    ASSERT_TRUE(two->putFacts(Source, "w", { "c", someFacts() }, { { "z", 1 }, { "a", 4 } }));
    EXPECT_EQ(one->facts(Source)->size(), 2U);
    EXPECT_EQ(one->counts(Source, "w", "c")->size(), 2U);
    EXPECT_EQ(two->counts(Source, "v", "c")->front().name, "a");
}

// --- damage ----------------------------------------------------------------------------------------------------------

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
        EXPECT_TRUE(catalog->summaries(Source)) << size;
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
    EXPECT_TRUE(open()->summaries(Source)->empty());
    fill();
    EXPECT_EQ(open()->summaries(Source)->size(), 2U);
    EXPECT_TRUE(corruptFiles().empty());
    edit("PRAGMA user_version=8"); // as the other version finds it
    EXPECT_EQ(open()->facts(Source)->size(), 1U);
}

TEST_F(CatalogTest, ADamagedRowOfCountsIsDroppedAndNothingElse)
{
    for (const char* damage : { "UPDATE facts SET counts=x'ff' WHERE name='deltas/2'",
                                "UPDATE facts SET counts_seal='of another program' WHERE name='deltas/2'" }) {
        SCOPED_TRACE(damage);
        std::filesystem::remove(path());
        fill();
        ASSERT_TRUE(open()->putFacts(Source, "deltas/3", { "chain3", someFacts() }, counts()));
        edit(damage);
        const auto catalog = open();
        EXPECT_TRUE(catalog->counts(Source, "deltas/2", "chain2")->empty());
        EXPECT_FALSE(catalog->facts(Source)->contains("deltas/2")) << "it is read again";
        EXPECT_TRUE(catalog->facts(Source)->contains("deltas/3"));
        EXPECT_EQ(catalog->counts(Source, "deltas/3", "chain3")->size(), counts().size());
        EXPECT_EQ(catalog->summaries(Source)->size(), 2U);
        ASSERT_TRUE(catalog->putFacts(Source, "deltas/2", { "chain2", someFacts() }, counts()));
        EXPECT_EQ(catalog->counts(Source, "deltas/2", "chain2")->size(), counts().size());
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
    EXPECT_TRUE(catalog->facts(Source)->empty());
    EXPECT_TRUE(catalog->putFacts(Source, "v", { "c", someFacts() }, {}));
    EXPECT_EQ(catalog->facts(Source)->size(), 1U);
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
        const auto summaries = catalog->summaries(Source);
        ASSERT_TRUE(summaries);
        for (const auto& [name, known] : *summaries)
            expectEqual(known.summary, name == "deltas/2" ? deltaSummary() : fullSummary());
        const auto facts = catalog->facts(Source);
        ASSERT_TRUE(facts);
        for (const auto& [name, known] : *facts) {
            EXPECT_EQ(known.chain, "chain2");
            expectEqual(known.facts, someFacts());
        }
        const auto counts = catalog->counts(Source, "deltas/2", "chain2");
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
        const auto summaries = catalog.summaries(Source);
        ASSERT_TRUE(summaries) << summaries.error().text;
        for (const auto& [name, known] : *summaries)
            expectEqual(known.summary, name == "deltas/2" ? deltaSummary() : fullSummary());
        const auto facts = catalog.facts(Source);
        ASSERT_TRUE(facts) << facts.error().text;
        for (const auto& [name, known] : *facts)
            expectEqual(known.facts, someFacts());
        ASSERT_TRUE(catalog.counts(Source, "deltas/2", "chain2"));
        ASSERT_TRUE(catalog.layoutOf("file:///run", "probe"));
        ASSERT_TRUE(catalog.putFacts(Source, "new", { "c", someFacts() }, counts()));
        ASSERT_TRUE(catalog.putSummaries(Source, { { "new", { "i", fullSummary() } } }));
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
    EXPECT_TRUE(catalog->summaries(Source));
    EXPECT_TRUE(catalog->facts(Source));
    EXPECT_TRUE(catalog->putFacts(Source, "v", { "c", someFacts() }, counts()));
}

// --- other processes -------------------------------------------------------------------------------------------------

TEST_F(CatalogTest, AnotherProcessThatIsWritingDoesNotKeepUsFromReading)
{
    fill();
    auto other = sqlite::Database::open(path(), sqlite::Database::Durability::Normal);
    ASSERT_TRUE(other);
    ASSERT_TRUE(other->execute("BEGIN IMMEDIATE"));
    const auto opened = Catalog::open(path());
    ASSERT_TRUE(opened) << opened.error().text;
    EXPECT_EQ((*opened)->summaries(Source)->size(), 2U);
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

// --- records ---------------------------------------------------------------------------------------------------------

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

// --- packed counts ---------------------------------------------------------------------------------------------------

using Counts = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

TEST(PackedCounts, NothingPacksToNothing)
{
    EXPECT_TRUE(packCounts({}).empty());
    EXPECT_EQ(unpackCounts({}), Counts());
}

TEST(PackedCounts, RoundTripInOrderOfIds)
{
    EXPECT_EQ(unpackCounts(packCounts({ { 300, 1 }, { 2, 127 }, { 3, 128 }, { 40'000, 0 } })),
              (Counts { { 2, 127 }, { 3, 128 }, { 300, 1 }, { 40'000, 0 } }));
}

TEST(PackedCounts, TheLargestNumbersRoundTrip)
{
    constexpr std::uint64_t Largest = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(unpackCounts(packCounts({ { 0, Largest }, { Largest, Largest } })),
              (Counts { { 0, Largest }, { Largest, Largest } }));
}

TEST(PackedCounts, RandomCountsRoundTrip)
{
    std::mt19937_64 random(1);
    for (int round = 0; round < 200; ++round) {
        std::map<std::uint64_t, std::uint64_t> counts;
        for (std::size_t i = random() % 50; i > 0; --i)
            counts[random() >> (random() % 64)] = random() >> (random() % 64);
        EXPECT_EQ(unpackCounts(packCounts({ counts.begin(), counts.end() })), Counts(counts.begin(), counts.end()));
    }
}

TEST(PackedCounts, EveryTruncationInsideAPairIsRefused)
{
    const std::vector<std::byte> bytes = packCounts({ { 200, 300 } });
    for (std::size_t size = 1; size < bytes.size(); ++size)
        EXPECT_FALSE(unpackCounts(ByteSpan(bytes).first(size))) << size;
}

TEST(PackedCounts, ANumberThatNeverEndsIsRefused)
{
    EXPECT_FALSE(unpackCounts(std::vector<std::byte>(40, std::byte { 0xff })));
}

TEST(PackedCounts, RandomBytesAreReadOrRefused)
{
    std::mt19937 random(2);
    for (int round = 0; round < 2000; ++round) {
        std::vector<std::byte> bytes(random() % 30);
        for (std::byte& byte : bytes)
            byte = static_cast<std::byte>(random());
        const auto counts = unpackCounts(bytes);
        EXPECT_TRUE(!counts || counts->size() * 2 <= bytes.size()) << round;
    }
}

} // namespace
} // namespace deltascope
