#include "beside/trace/span_objects.h"
#include "deltascope/engine/object_store.h"
#include "deltascope/engine/trace.h"
#include "support/any_task.h"
#include "support/forwarding_store.h"
#include "support/memory_store.h"
#include "support/temp_dir.h"

#include <gtest/gtest.h>
#include <numeric>

// Old spans in few objects: whoever reads, whenever, sees each of them once.

namespace deltascope {
namespace {

using test::anyTask;

constexpr std::int64_t Us = 1'700'000'000'000'000;
const std::string SpanFolder = ".deltascope/v1/spans/";

/// Removals that do not happen, as if the process had been killed before them.
class NoRemovals final : public test::ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;

    std::vector<Result<void>> remove(const std::vector<ObjectRef>& objects, TaskContext&) override
    {
        return std::vector<Result<void>>(objects.size(), fail(Code::Auth, "not allowed"));
    }
};

class SpanMerge : public testing::Test {
protected:
    void SetUp() override
    {
        auto opened = openLocalStore(folder.path());
        ASSERT_TRUE(opened);
        store = std::move(*opened);
    }

    /// An object for each span from `first` to `last`.
    static void write(SpanWriter& writer, int first, int last)
    {
        for (int i = first; i <= last; ++i) {
            writer.add(Span { {}, "diff", i, 0, Us + i, Us + i + 1, 1, {} });
            writer.flush();
        }
    }
    static std::vector<std::int64_t> steps(const Trace& trace)
    {
        std::vector<std::int64_t> steps;
        for (const Span& span : trace.spans)
            steps.push_back(span.step);
        return steps;
    }
    static std::vector<std::int64_t> upTo(int last, int first = 1)
    {
        std::vector<std::int64_t> steps(static_cast<std::size_t>(last - first + 1));
        std::iota(steps.begin(), steps.end(), first);
        return steps;
    }
    std::vector<std::int64_t> readSteps() const
    {
        const auto trace = TraceReader().read(*store, anyTask());
        return trace ? steps(*trace) : std::vector<std::int64_t>();
    }
    std::vector<std::string> names(const std::string& actor = "a") const
    {
        std::vector<std::string> names;
        const std::string prefix = SpanFolder + actor + "/";
        for (const ObjectInfo& object : listAll(*store, prefix, anyTask()).value_or(std::vector<ObjectInfo>()))
            names.push_back(object.key.substr(prefix.size()));
        return names;
    }

    test::TempDir folder;
    std::shared_ptr<ObjectStore> store;
};

TEST(SpanObjects, NamesAreReadAsTheyAreWritten)
{
    for (const SpanObject& object : { SpanObject { 1, 1, 0 }, SpanObject { 123'456'789, 123'456'789, 0 },
                                      SpanObject { 1, 64, Us }, SpanObject { 99'999'999, 100'000'063, Us } }) {
        const auto parsed = parseSpanObject(spanObjectName(object));
        ASSERT_TRUE(parsed) << spanObjectName(object);
        EXPECT_EQ(parsed->first, object.first);
        EXPECT_EQ(parsed->last, object.last);
        EXPECT_EQ(parsed->newestUs, object.newestUs);
    }
    EXPECT_EQ(spanObjectName({ 1, 64, 17 }), "00000001-00000064-17.jsonl");
    for (const char* const name :
         { "", "1.jsonl", "00000001", "00000001.json", "0000000a.jsonl", "00000001-.jsonl", "00000001-00000002.jsonl",
           "00000001-00000002-.jsonl", "00000002-00000001-5.jsonl", "00000001-00000002-0.jsonl",
           "00000001-00000002-5x.jsonl", "-00000001.jsonl", "00000001-00000002-99999999999999999999.jsonl" })
        EXPECT_FALSE(parseSpanObject(name)) << name;
    EXPECT_EQ(sectionLine(7), "{\"object\":7}\n");
    EXPECT_EQ(sectionOf("{\"object\":7}"), 7);
    for (const char* const line : { "", "{\"object\":}", "{\"object\":7", "{\"object\":-7}", "{\"object\":7 }", "{}" })
        EXPECT_FALSE(sectionOf(line)) << line;
}

TEST_F(SpanMerge, OldObjectsBecomeFew)
{
    SpanWriter writer(store, "a");
    write(writer, 1, 128);
    EXPECT_EQ(names().size(), 128U);
    write(writer, 129, 129);
    EXPECT_EQ(names().size(), 66U);
    EXPECT_EQ(names().front(), "00000001-00000064-" + std::to_string(Us + 65) + ".jsonl");
    EXPECT_EQ(readSteps(), upTo(129));
    write(writer, 130, 1000);
    EXPECT_LE(names().size(), 128U + 1000 / 64);
    EXPECT_EQ(readSteps(), upTo(1000));
}

TEST_F(SpanMerge, GoesOnInALaterProcess)
{
    for (int i = 1; i <= 200; ++i) {
        SpanWriter writer(store, "a");
        write(writer, i, i);
    }
    EXPECT_LE(names().size(), 129U);
    EXPECT_EQ(readSteps(), upTo(200));
}

TEST_F(SpanMerge, WhoReadsMeanwhileSeesEachSpanOnce)
{
    SpanWriter writer(store, "a");
    TraceReader reader;
    TraceReader slow; // looks now and then
    for (int i = 1; i <= 300; ++i) {
        write(writer, i, i);
        const auto trace = reader.read(*store, anyTask());
        ASSERT_TRUE(trace);
        ASSERT_EQ(steps(*trace), upTo(i));
        if (i % 50 == 3) {
            ASSERT_EQ(steps(*slow.read(*store, anyTask())), upTo(i));
        }
    }
}

TEST_F(SpanMerge, AListingOfBeforeIsNoHarm)
{
    SpanWriter writer(store, "a");
    write(writer, 1, 128);
    const auto before = listAll(*store, ".deltascope/", anyTask());
    ASSERT_TRUE(before);
    TraceReader reader;
    ASSERT_TRUE(reader.read(*store, *before, anyTask()));
    write(writer, 129, 200);
    const auto now = listAll(*store, ".deltascope/", anyTask());
    std::vector<ObjectInfo> both = *before;
    both.insert(both.end(), now->begin(), now->end());
    EXPECT_EQ(steps(*reader.read(*store, both, anyTask())), upTo(200));
    EXPECT_EQ(steps(*TraceReader().read(*store, both, anyTask())), upTo(200));
}

TEST_F(SpanMerge, WhatAKilledWriterDidNotRemoveGoesLater)
{
    {
        SpanWriter writer(std::make_shared<NoRemovals>(store), "a");
        write(writer, 1, 150);
    }
    EXPECT_EQ(names().size(), 151U);
    EXPECT_EQ(readSteps(), upTo(150));
    // Of a second writer of this name; it is in no merged object.
    ASSERT_TRUE(removeOne(*store, SpanFolder + "a/00000007.jsonl", anyTask()));
    ASSERT_TRUE(test::putText(*store, SpanFolder + "b/00000001.jsonl", "of another actor\n"));
    SpanWriter writer(store, "a");
    write(writer, 151, 151);
    EXPECT_EQ(names().size(), 88U);
    EXPECT_EQ(readSteps(), upTo(151));
    EXPECT_EQ(names("b").size(), 1U);
}

TEST_F(SpanMerge, WhatIsNotInAMergedObjectStays)
{
    SpanWriter first(store, "a");
    write(first, 1, 20);
    SpanWriter second(store, "a"); // a second writer of this name
    write(second, 21, 30);
    write(first, 31, 160); // knows nothing of 21 to 30
    EXPECT_EQ(readSteps(), upTo(160));
    SpanWriter third(store, "a");
    write(third, 161, 161);
    EXPECT_EQ(readSteps(), upTo(161));
}

TEST_F(SpanMerge, WhereNothingCanBeRemovedNothingIsMerged)
{
    class Keeping final : public test::ForwardingStore {
    public:
        using ForwardingStore::ForwardingStore;
        StoreTraits traits() const noexcept override
        {
            StoreTraits traits = ForwardingStore::traits();
            traits.removes = false;
            return traits;
        }
    };
    const auto memory = std::make_shared<test::MemoryStore>();
    SpanWriter writer(std::make_shared<Keeping>(memory), "a");
    write(writer, 1, 150);
    EXPECT_EQ(listAll(*memory, "", anyTask())->size(), 150U);
}

TEST_F(SpanMerge, MergedSpansAreAsOldAsTheyAre)
{
    SpanWriter writer(store, "a");
    write(writer, 1, 129); // merged now, with spans of long ago
    SpanWriter newer(store, "b");
    for (std::size_t i = 0; i < TraceReader::MostSpans; ++i)
        newer.add(Span { {}, "fetch", 5000, 0, Us + 1'000'000, Us + 2'000'000, 1, {} });
    newer.flush();
    const auto trace = TraceReader().read(*store, anyTask());
    ASSERT_TRUE(trace);
    ASSERT_EQ(trace->spans.size(), TraceReader::MostSpans);
    EXPECT_EQ(trace->spans.front().actor, "b");
}

} // namespace
} // namespace deltascope
