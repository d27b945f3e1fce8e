#pragma once

#include "deltascope/engine/catalog.h"

#include "catalog/sqlite.h"
#include "support/temp_dir.h"

#include <filesystem>
#include <gtest/gtest.h>

// A catalog in a folder of its own, and values to put into it.

namespace deltascope::catalog_test {

using test::TempDir;

constexpr const char* RunKey = "file:///run|trl-v2";

inline Error someError()
{
    return Error { Code::Hostile, "position 9 \"of\" 8\nin größe", "deltas/step_000003.safetensors", 3, "look at it" };
}

inline VersionSummary fullSummary()
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

inline VersionSummary deltaSummary()
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

inline void expectEqual(const VersionSummary& a, const VersionSummary& b)
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

inline VersionFacts someFacts()
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

inline void expectEqual(const VersionFacts& a, const VersionFacts& b)
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
            RunKey, { { "anchors/1", { "id1", fullSummary() } }, { "deltas/2", { "id2", deltaSummary() } } }));
        ASSERT_TRUE(catalog->putFacts(RunKey, "deltas/2", { "chain2", someFacts() }, counts()));
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

} // namespace deltascope::catalog_test
