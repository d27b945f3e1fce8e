#include "deltascope/engine/operations.h"
#include "deltascope/engine/trace.h"

#include "golden_copy.h"
#include "support/any_task.h"
#include "support/faulty_store.h"
#include "tiny_run.h"

// openRun: what it finds, what it refuses, and how little it reads.

namespace deltascope {
namespace {

using namespace layout_test;
using test::FaultyStore;
using test::StoreOperation;
using test::TempDir;

TEST(OpenRun, LeavesOurOwnFilesOut)
{
    const TinyRun tiny = TinyRun::sound();
    ASSERT_TRUE(putText(*tiny.store, ".deltascope/v1/refs/good.json", "{}"));
    ASSERT_TRUE(putText(*tiny.store, "notes.txt", "hello"));
    CatalogSession session;
    const auto run = session.open(tiny.store);
    ASSERT_TRUE(run);
    EXPECT_EQ(run->versions.size(), 6U);
    EXPECT_EQ(run->ignoredObjects, 1U);
}

TEST(OpenRun, AnUnknownLayoutWordNamesTheKnownOnes)
{
    const TinyRun tiny = TinyRun::sound();
    CatalogSession session;
    OpenOptions options;
    options.layout = "trl-v9";
    const Error error = errorOf(openRun(session.bench, tiny.store, options, session.task));
    EXPECT_EQ(error.code, Code::Layout);
    EXPECT_NE(error.text.find("trl-v2"), std::string::npos);
}

TEST(OpenRun, AnEmptySourceHasNoLayout)
{
    CatalogSession session;
    EXPECT_EQ(errorOf(session.open(std::make_shared<MemoryStore>())).code, Code::Layout);
}

TEST(OpenRun, AListingThatFailsIsNeverAnEmptyRun)
{
    const TinyRun tiny = TinyRun::sound();
    CatalogSession session;
    session.analyzed(tiny.store);
    const auto faulty = std::make_shared<FaultyStore>(tiny.store);
    faulty->failNth(StoreOperation::List, 1, Error { Code::Io, "list: I/O error", {}, {}, {} });
    EXPECT_EQ(errorOf(session.open(faulty)).code, Code::Io);
}

TEST(OpenRun, ABaseFolderWithoutCheckpointIsRefused)
{
    const GoldenCopy golden("slime-v2-xor");
    const TempDir empty;
    CatalogSession session;
    EXPECT_EQ(errorOf(session.open(golden.store, localStore(empty.path()))).code, Code::BaseMissing);
}

TEST(OpenRun, ReadsNoPayload)
{
    // everything but headers and manifests unreadable
    const TinyRun tiny = TinyRun::sound();
    CatalogSession session;
    const auto counting = std::make_shared<FaultyStore>(tiny.store);
    ASSERT_TRUE(session.open(counting));
    std::uint64_t headers = 0;
    for (int number = 1; number <= 6; ++number) {
        const std::string key = TinyRun::keyOf(number, number == 1 || number == 5);
        std::string length(8, '\0');
        ASSERT_TRUE(tiny.store->read(key, 0, writable(length), test::anyTask()));
        headers += 8 + loadLe<std::uint64_t>(asBytes(length));
    }
    EXPECT_LE(counting->bytesRead(), 2 * headers);
}

TEST(OpenRun, AsksAgainForOneListingAndTheHeadersOfWhatIsNew)
{
    const TinyRun tiny = TinyRun::sound();
    const auto growing = std::make_shared<MemoryStore>();
    const auto copy = [&](int number) {
        const std::string key = TinyRun::keyOf(number, number == 1 || number == 5);
        const auto bytes = readWhole(*tiny.store, key, 1U << 20, test::anyTask());
        ASSERT_TRUE(bytes);
        ASSERT_TRUE(test::putText(*growing, key, asText(*bytes)));
    };
    for (int number = 1; number <= 5; ++number)
        copy(number);
    ASSERT_TRUE(test::putText(*growing, ".deltascope/v1/spans/a/00000001.jsonl", "{}\n"));
    CatalogSession session;
    const auto counting = std::make_shared<FaultyStore>(growing);
    const auto costOfOpening = [&] {
        const std::uint64_t lists = counting->calls(StoreOperation::List);
        const std::uint64_t others = counting->calls(StoreOperation::Read) + counting->calls(StoreOperation::Stat);
        const auto run = session.open(counting);
        EXPECT_TRUE(run);
        EXPECT_TRUE(run && TraceReader().read(*run->store, run->beside, session.task));
        return std::pair(counting->calls(StoreOperation::List) - lists,
                         counting->calls(StoreOperation::Read) + counting->calls(StoreOperation::Stat) - others);
    };
    using Cost = std::pair<std::uint64_t, std::uint64_t>;
    EXPECT_GT(costOfOpening().second, 10U);
    EXPECT_EQ(costOfOpening(), (Cost { 1, 1 })) << "the listing, and one object of spans";
    copy(6);
    EXPECT_EQ(costOfOpening(), (Cost { 1, 3 })) << "also length and text of one header";
}

} // namespace
} // namespace deltascope
