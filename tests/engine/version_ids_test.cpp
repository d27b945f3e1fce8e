#include "lineage/version_ids.h"

#include "golden_copy.h"
#include "support/memory_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

// Versions that are linked by ids: what they build on, and which numbers they get.

namespace deltascope::layout_test {
namespace {

struct Named {
    std::string folder, id, baseId;
    std::int64_t atSecond = 0;
};

std::vector<IndexedObjects> versionsOf(const std::vector<Named>& all)
{
    std::vector<IndexedObjects> versions;
    for (const Named& one : all) {
        IndexedObjects version;
        version.objects.name = "run/" + one.folder;
        const std::string_view digits =
            std::string_view(one.folder).substr(one.folder.find_last_not_of("0123456789") + 1);
        version.objects.step = parseNumber(digits).value_or(static_cast<std::int64_t>(versions.size()) + 1);
        ObjectInfo index;
        index.key = version.objects.name + "/model.safetensors.index.json";
        index.modifiedUs = one.atSecond * 1'000'000;
        version.objects.objects.push_back(index);
        version.summary.emplace();
        version.summary->full = one.baseId.empty();
        version.summary->id = one.id;
        version.summary->baseId = one.baseId;
        versions.push_back(std::move(version));
    }
    return versions;
}

/// "1 v1 <- outside", a line for each version.
std::string told(const std::vector<IndexedObjects>& versions)
{
    std::string text;
    for (const IndexedObjects& version : versions) {
        text += fmt::format("{} {}", version.objects.step, version.objects.name.substr(4));
        if (version.failure)
            text += " refused";
        else if (version.summary->baseById == BaseById::Outside)
            text += " <- outside";
        else if (version.summary->baseById == BaseById::Missing)
            text += " <- missing";
        else if (version.summary->declaredBase)
            text += fmt::format(" <- {}", *version.summary->declaredBase);
        text += "\n";
    }
    return text;
}

std::string resolved(const std::vector<Named>& all)
{
    std::vector<IndexedObjects> versions = versionsOf(all);
    ShownNumbers shown;
    resolveIds(versions, shown);
    return told(versions);
}

TEST(VersionIds, ThatCountNameTheSteps)
{
    EXPECT_EQ(resolved({ { "v1", "v1", "v0" }, { "v2", "v2", "v1" }, { "v3", "", "" }, { "v4", "v4", "v3" } }),
              "1 v1 <- 0\n2 v2 <- 1\n3 v3\n4 v4 <- 3\n");
    EXPECT_EQ(resolved({ { "v1", "v1", "seed" }, { "v2", "v2", "v1" } }), "1 v1 <- missing\n2 v2 <- 1\n");
    EXPECT_EQ(resolved({ { "v1", "v1", "v0" }, { "v2", "v1", "v0" }, { "v3", "v3", "v4" } }),
              "1 v1 <- 0\n2 v2 refused\n3 v3 refused\n");
}

TEST(VersionIds, ThatAreOpaqueLinkFoldersThatCount)
{
    EXPECT_EQ(resolved({ { "v1", "cd613e30", "5eed0000" },
                         { "v2", "0a1b2c3d", "cd613e30" },
                         { "v3", "", "" },
                         { "v4", "77777777", "f00dcafe" },
                         { "v5", "beefbeef", "77777777" } }),
              "1 v1 <- outside\n2 v2 <- 1\n3 v3\n4 v4 <- 3\n5 v5 <- 4\n")
        << "a complete version is what the next one builds on";
    EXPECT_EQ(resolved({ { "v1", "cd613e30", "5eed0000" }, { "v2", "0a1b2c3d", "5eed0000" } }),
              "1 v1 <- outside\n2 v2 <- outside\n")
        << "a trainer that starts again builds on its own beginning";
    EXPECT_EQ(resolved({ { "v1", "cd613e30", "5eed0000" }, { "v3", "0a1b2c3d", "f00dcafe" } }),
              "1 v1 <- outside\n3 v3 <- missing\n")
        << "a second id without an object is a gap";
    EXPECT_EQ(resolved({ { "v2", "", "" }, { "v3", "a1", "f0" }, { "v6", "a2", "f1" } }),
              "2 v2\n3 v3 <- 2\n6 v6 <- missing\n");
    EXPECT_EQ(resolved({ { "v2", "", "" }, { "v4", "a1b", "f0" }, { "v5", "a2b", "a1b" } }),
              "2 v2\n4 v4 <- missing\n5 v5 <- 4\n")
        << "between 2 and 4 one is missing, and it may be the base";
}

TEST(VersionIds, GiveTheOrderWhereNamesHaveNone)
{
    EXPECT_EQ(resolved({ { "0a1b2c3d", "0a1b2c3d", "cd613e30", 5 },
                         { "cd613e30", "cd613e30", "5eed0000", 9 },
                         { "f00dcafe", "", "", 10 },
                         { "beef", "beef", "f00dcafe", 1 } }),
              "1 cd613e30 <- outside\n2 0a1b2c3d <- 1\n3 f00dcafe\n4 beef <- 3\n")
        << "whatever the times of copies are";
    EXPECT_EQ(resolved({ { "v1", "aa", "bb" }, { "v2", "bb", "seed" } }), "1 v2 <- outside\n2 v1 <- 1\n")
        << "numbers that contradict the links are none";
}

TEST(VersionIds, KeepTheNumberThatTheyWereShownUnder)
{
    std::vector<IndexedObjects> versions =
        versionsOf({ { "aa", "aa", "seed", 1 }, { "bb", "bb", "aa", 2 }, { "cc", "cc", "bb", 3 } });
    ShownNumbers shown;
    resolveIds(versions, shown);
    versions.erase(versions.begin());
    for (std::size_t i = 0; i < versions.size(); ++i)
        versions[i].objects.step = static_cast<std::int64_t>(i) + 1; // as their group has them
    const std::vector<IndexedObjects> next = versionsOf({ { "dd", "dd", "cc", 4 } });
    versions.insert(versions.end(), next.begin(), next.end());
    resolveIds(versions, shown);
    EXPECT_EQ(told(versions), "2 bb <- outside\n3 cc <- 2\n4 dd <- 3\n");
    versions[1].summary.reset(); // its headers are gone for a while
    versions[1].failure = Error { Code::Truncated, "cut", {}, {}, {} };
    resolveIds(versions, shown);
    EXPECT_EQ(told(versions), "2 bb <- outside\n3 cc refused\n4 dd <- 3\n");
}

TEST(VersionIds, DoNotTakeTheNumberOfOneThatIsGone)
{
    ShownNumbers shown;
    std::vector<IndexedObjects> versions = versionsOf({ { "aa", "aa", "seed", 1 }, { "bb", "bb", "aa", 2 } });
    resolveIds(versions, shown);
    versions = versionsOf({ { "aa", "aa", "seed", 1 }, { "cc", "cc", "aa", 3 } });
    resolveIds(versions, shown);
    EXPECT_EQ(told(versions), "1 aa <- outside\n3 cc <- 1\n") << "2 was bb";
    versions = versionsOf({ { "aa", "aa", "seed", 1 }, { "cc", "cc", "aa", 3 }, { "bb", "bb", "aa", 4 } });
    resolveIds(versions, shown);
    EXPECT_EQ(told(versions), "1 aa <- outside\n2 bb <- 1\n3 cc <- 1\n") << "it came back";
    versions = versionsOf({ { "aa", "ee", "seed", 5 }, { "bb", "ff", "ee", 6 } });
    resolveIds(versions, shown);
    EXPECT_EQ(told(versions), "4 aa <- outside\n5 bb <- 4\n") << "other versions in folders of the same names";
}

TEST(VersionIds, AreRefusedWhereTheyContradictEachOther)
{
    EXPECT_EQ(resolved({ { "v1", "aa", "seed" }, { "v2", "bb", "aa" }, { "v3", "bb", "aa" } }),
              "1 v1 <- outside\n2 v2 <- 1\n3 v3 refused\n");
    EXPECT_EQ(resolved({ { "v1", "aa", "seed" }, { "v2", "bb", "cc" }, { "v3", "cc", "bb" }, { "v4", "dd", "cc" } }),
              "1 v1 <- outside\n2 v2 refused\n3 v3 refused\n4 v4 <- 3\n");
}

/// The released publisher's bucket under other names.
class RenamedRun {
public:
    /// `nameOf`: the folder and the id of v1 to v6, and of the base, v0.
    RenamedRun(const std::function<std::string(int)>& folderOf, const std::function<std::string(int)>& idOf)
        : golden("modelexpress-0.7")
    {
        TaskContext task;
        const auto listing = listAll(*golden.store, "", task);
        EXPECT_TRUE(listing);
        for (const ObjectInfo& object : *listing) {
            std::string text = golden.read(object.key);
            const int number = object.key.at(1) - '0';
            for (int other = 0; object.key.ends_with(".json") && other <= 6; ++other) {
                for (const char* const key : { "base_version", "version" }) {
                    const std::string old = fmt::format("\"{}\":\"v{}\"", key, other);
                    if (const std::size_t at = text.find(old); at != std::string::npos)
                        text.replace(at, old.size(), fmt::format("\"{}\":\"{}\"", key, idOf(other)));
                }
            }
            EXPECT_TRUE(test::putText(*store, folderOf(number) + object.key.substr(2), text));
        }
    }

    /// Opened and replayed; every state has the trainer's bytes under the number that `numbers` gives it.
    void check(const std::vector<std::int64_t>& numbers)
    {
        Session session;
        session.openCatalog();
        const deltascope::Run run = session.analyzed(store, golden.base);
        ASSERT_EQ(run.versions.size(), numbers.size());
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            EXPECT_EQ(run.versions[i].step(), numbers[i]);
            EXPECT_FALSE(run.versions[i].obstacle) << run.versions[i].obstacle->text;
            const auto plan = planFor(run, run.versions[i], { .state = StateChoice::Served });
            ASSERT_TRUE(plan) << plan.error().text;
            const auto path = openPath(run, *plan, { 2 }, session.task);
            ASSERT_TRUE(path) << path.error().text;
            const auto digest = digestState(session.bench, **path, session.task);
            ASSERT_TRUE(digest) << digest.error().text;
            for (const TensorDigest& tensor : digest->tensors)
                EXPECT_EQ(toHex(tensor.sha256.value()),
                          golden.expected["steps"][i]["tensors"][tensor.tensor.name]["sha256"])
                    << numbers[i] << ' ' << tensor.tensor.name;
        }
    }

    GoldenCopy golden;
    std::shared_ptr<test::MemoryStore> store = std::make_shared<test::MemoryStore>();
};

const std::vector<std::string> Opaque { "5eed0000", "cd613e30", "0a1b2c3d", "99999999",
                                        "77abc123", "12345678", "f00dcafe" };

TEST(VersionIds, OfTheReleasedPublisherAreReadInFoldersThatCountAndInOthers)
{
    const auto counted = [](int number) { return fmt::format("v{}", number); };
    const auto opaque = [](int number) { return Opaque.at(static_cast<std::size_t>(number)); };
    RenamedRun(counted, counted).check({ 1, 2, 3, 4, 5, 6 });
    RenamedRun(counted, opaque).check({ 1, 2, 3, 4, 5, 6 });
    RenamedRun(opaque, opaque).check({ 1, 2, 3, 4, 5, 6 });
}

/// A catalog is a cache. What was shown is on record.
TEST(VersionIds, KeepTheirNumbersWithoutACatalog)
{
    const auto opaque = [](int number) { return Opaque.at(static_cast<std::size_t>(number)); };
    RenamedRun bucket(opaque, opaque);
    Session session;
    session.openRecords();
    const auto numbers = [&] {
        std::vector<std::int64_t> steps;
        const auto run = session.open(bucket.store, bucket.golden.base);
        EXPECT_TRUE(run) << run.error().text;
        for (std::size_t i = 0; run && i < run->versions.size(); ++i)
            steps.push_back(run->versions[i].step());
        return steps;
    };
    ASSERT_EQ(numbers(), (std::vector<std::int64_t> { 1, 2, 3, 4, 5, 6 }));
    const auto listing = listAll(*bucket.store, opaque(1), session.task);
    ASSERT_TRUE(listing);
    ASSERT_FALSE(listing->empty());
    for (const ObjectInfo& object : *listing)
        ASSERT_TRUE(bucket.store->remove(object.key));
    EXPECT_EQ(numbers(), (std::vector<std::int64_t> { 2, 3, 4, 5, 6 }));
    session.records.reset();
    session.bench.records = nullptr;
    EXPECT_EQ(numbers(), (std::vector<std::int64_t> { 1, 2, 3, 4, 5 })) << "nothing is remembered then";
}

}
}
