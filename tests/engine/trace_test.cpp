#include "deltascope/engine/trace.h"

#include "layout_fixture.h"
#include "support/faulty_store.h"

#include <limits>
#include <thread>

// Spans and heartbeats beside a run: what is written comes back, what is torn or hostile is left out.

namespace deltascope {
namespace {

using namespace layout_test;

constexpr std::int64_t Us = 1'700'000'000'000'000;
constexpr const char* SpanFolder = ".deltascope/v1/spans/";

Span spanAt(std::int64_t us, std::string phase = "diff", std::string note = {})
{
    return Span { {}, std::move(phase), 7, 2, us, us + 10, 1234, std::move(note) };
}

Trace readOnce(const ObjectStore& store)
{
    TaskContext task;
    auto trace = TraceReader().read(store, task);
    EXPECT_TRUE(trace) << trace.error().text;
    return trace ? std::move(*trace) : Trace();
}

std::vector<std::string> keysUnder(const ObjectStore& store, std::string_view prefix)
{
    TaskContext task;
    std::vector<std::string> keys;
    for (const ObjectInfo& object : listAll(store, prefix, task).value_or(std::vector<ObjectInfo>()))
        keys.push_back(object.key);
    return keys;
}

std::string lineWith(const std::string& key, const std::string& value)
{
    Json line { { "actor", "a" }, { "phase", "diff" }, { "step", 1 },  { "epoch", 0 },
                { "t0_us", Us },  { "t1_us", Us },     { "bytes", 1 }, { "note", "" } };
    line[key] = Json::parse(value);
    return line.dump() + "\n";
}

// --- spans -----------------------------------------------------------------------------------------------------------

TEST(Trace, ASpanComesBackAsItWas)
{
    const auto store = std::make_shared<MemoryStore>();
    Span span = spanAt(Us, "upload", "quotes \" and\nbreaks, größe");
    span.bytes = std::numeric_limits<std::uint64_t>::max();
    {
        SpanWriter writer(store, "r1");
        writer.add(span);
        EXPECT_TRUE(keysUnder(*store, "").empty()); // it waits for more
    }
    const Trace trace = readOnce(*store);
    ASSERT_EQ(trace.spans.size(), 1U);
    const Span& got = trace.spans.front();
    EXPECT_EQ(got.actor, "r1");
    EXPECT_EQ(got.phase, span.phase);
    EXPECT_EQ(got.step, span.step);
    EXPECT_EQ(got.epoch, span.epoch);
    EXPECT_EQ(got.t0Us, span.t0Us);
    EXPECT_EQ(got.t1Us, span.t1Us);
    EXPECT_EQ(got.bytes, span.bytes);
    EXPECT_EQ(got.note, span.note);
}

TEST(Trace, SpansAreSortedByTheirEnd)
{
    const auto store = std::make_shared<MemoryStore>();
    {
        SpanWriter late(store, "a");
        late.add(spanAt(Us + 500));
        SpanWriter early(store, "b");
        early.add(spanAt(Us));
        late.add(spanAt(Us + 100));
    }
    const Trace trace = readOnce(*store);
    ASSERT_EQ(trace.spans.size(), 3U);
    EXPECT_TRUE(std::is_sorted(trace.spans.begin(), trace.spans.end(),
                               [](const Span& a, const Span& b) { return a.t1Us < b.t1Us; }));
}

TEST(Trace, PutsAnObjectOnceEnoughCameTogether)
{
    const auto store = std::make_shared<MemoryStore>();
    SpanWriter writer(store, "a");
    const std::string note(1000, 'n');
    for (int i = 0; i < 50; ++i)
        writer.add(spanAt(Us, "diff", note));
    EXPECT_TRUE(keysUnder(*store, "").empty());
    for (int i = 0; i < 20; ++i)
        writer.add(spanAt(Us, "diff", note));
    EXPECT_EQ(keysUnder(*store, "").size(), 1U);
    writer.flush();
    EXPECT_EQ(keysUnder(*store, "").size(), 2U);
    writer.flush(); // nothing waits
    EXPECT_EQ(keysUnder(*store, "").size(), 2U);
    EXPECT_EQ(readOnce(*store).spans.size(), 70U);
}

TEST(Trace, PutsAnObjectAfterTenSeconds)
{
    const auto store = std::make_shared<MemoryStore>();
    SpanWriter writer(store, "a");
    writer.add(spanAt(Us));
    writer.add(spanAt(Us + 9'999'999));
    EXPECT_TRUE(keysUnder(*store, "").empty());
    writer.add(spanAt(Us + 10'000'000));
    EXPECT_EQ(keysUnder(*store, "").size(), 1U);
}

TEST(Trace, NumbersGoOnInALaterProcess)
{
    const auto store = std::make_shared<test::FaultyStore>(std::make_shared<MemoryStore>());
    for (int process = 0; process < 3; ++process) {
        SpanWriter writer(store, "a");
        writer.add(spanAt(Us + process));
    }
    SpanWriter(store, "ab").add(spanAt(Us)); // another actor counts for itself
    const std::string folder(SpanFolder);
    EXPECT_EQ(keysUnder(*store, ""),
              (std::vector<std::string> { folder + "a/00000001.jsonl", folder + "a/00000002.jsonl",
                                          folder + "a/00000003.jsonl", folder + "ab/00000001.jsonl" }));
    EXPECT_EQ(readOnce(*store).spans.size(), 4U);
    EXPECT_EQ(store->calls(test::StoreOperation::Put), 4U); // no number is tried in vain
}

TEST(Trace, TwoWritersOfOneActorDoNotOverwriteEachOther)
{
    const auto store = std::make_shared<MemoryStore>();
    SpanWriter one(store, "a");
    SpanWriter two(store, "a");
    const auto write = [](SpanWriter& writer, std::int64_t from) {
        for (std::int64_t i = 0; i < 50; ++i) {
            writer.add(spanAt(from + i));
            writer.flush();
        }
    };
    std::thread other(write, std::ref(two), Us + 1000);
    write(one, Us);
    other.join();
    std::set<std::int64_t> starts;
    for (const Span& span : readOnce(*store).spans)
        starts.insert(span.t0Us);
    EXPECT_EQ(starts.size(), 100U);
    EXPECT_EQ(keysUnder(*store, "").size(), 100U);
}

TEST(Trace, ADeadStoreLosesSpansAndNothingElse)
{
    const auto faulty = std::make_shared<test::FaultyStore>(std::make_shared<MemoryStore>());
    faulty->failNth(test::StoreOperation::Any, 1, Error { Code::Io, "dead", {}, {}, {} }, test::Repeat::Forever);
    SpanWriter writer(faulty, "a");
    writer.add(spanAt(Us));
    writer.flush();
    faulty->clearFaults();
    writer.add(spanAt(Us + 1));
    writer.flush();
    EXPECT_EQ(readOnce(*faulty).spans.size(), 1U);
}

// --- reading ---------------------------------------------------------------------------------------------------------

TEST(Trace, AReaderGoesOnWhereItWas)
{
    const auto store = std::make_shared<MemoryStore>();
    test::FaultyStore counted(*store);
    TaskContext task;
    TraceReader reader;
    SpanWriter writer(store, "a");
    for (std::size_t i = 1; i <= 5; ++i) {
        writer.add(spanAt(Us + static_cast<std::int64_t>(i)));
        writer.flush();
        const std::uint64_t before = counted.calls(test::StoreOperation::Read);
        const auto trace = reader.read(counted, task);
        ASSERT_TRUE(trace);
        EXPECT_EQ(trace->spans.size(), i);
        EXPECT_EQ(counted.calls(test::StoreOperation::Read) - before, 1U); // only what is new
    }
}

TEST(Trace, TheNewestSpansAreReadFirstAndNoMoreObjectsThanTheyNeed)
{
    const auto store = std::make_shared<MemoryStore>();
    constexpr int Objects = 300;
    constexpr int SpansPerObject = 100;
    for (int object = 0; object < Objects; ++object) {
        SpanWriter writer(store, object % 2 == 0 ? "a" : "b");
        for (int i = 0; i < SpansPerObject; ++i)
            writer.add(spanAt(Us + object * SpansPerObject + i));
    }
    test::FaultyStore counted(*store);
    TaskContext task;
    TraceReader reader;
    const auto trace = reader.read(counted, task);
    ASSERT_TRUE(trace);
    ASSERT_EQ(trace->spans.size(), TraceReader::MostSpans);
    constexpr std::int64_t Last = Us + Objects * SpansPerObject - 1;
    EXPECT_EQ(trace->spans.back().t0Us, Last);
    EXPECT_EQ(trace->spans.front().t0Us, Last - static_cast<std::int64_t>(TraceReader::MostSpans) + 1);
    const std::uint64_t needed = TraceReader::MostSpans / SpansPerObject;
    const std::uint64_t first = counted.calls(test::StoreOperation::Read);
    EXPECT_GE(first, needed);
    EXPECT_LE(first, 2 * needed);
    ASSERT_TRUE(reader.read(counted, task));
    EXPECT_EQ(counted.calls(test::StoreOperation::Read), first);
}

TEST(Trace, AnObjectThatCouldNotBeReadIsReadLater)
{
    const auto store = std::make_shared<MemoryStore>();
    SpanWriter(store, "a").add(spanAt(Us));
    test::FaultyStore faulty(*store);
    faulty.failNth(test::StoreOperation::Read, 1, Error { Code::Transient, "try again", {}, {}, {} });
    TaskContext task;
    TraceReader reader;
    const auto first = reader.read(faulty, task);
    ASSERT_TRUE(first);
    EXPECT_TRUE(first->spans.empty());
    const auto second = reader.read(faulty, task);
    ASSERT_TRUE(second);
    EXPECT_EQ(second->spans.size(), 1U);
}

TEST(Trace, AListingThatFailsIsAnError)
{
    const auto store = std::make_shared<MemoryStore>();
    test::FaultyStore faulty(*store);
    faulty.failNth(test::StoreOperation::List, 1, Error { Code::Transient, "try again", {}, {}, {} });
    TaskContext task;
    EXPECT_EQ(errorOf(TraceReader().read(faulty, task)).code, Code::Transient);
}

TEST(Trace, LinesThatSayNothingAreLeftOut)
{
    const std::string good = lineWith("step", "3");
    for (const std::string& bad : {
             std::string("\n"),
             std::string("garbage\n"),
             std::string("{\n"),
             std::string("[]\n"),
             std::string("null\n"),
             std::string("7\n"),
             std::string("\xff\xfe\x00\x01\n", 5),
             good.substr(0, good.size() / 2) + "\n",
             std::string("{}\n"),
             std::string(5000, '[') + "\n",
             lineWith("actor", "7"),
             lineWith("actor", "\"\""),
             lineWith("phase", "{}"),
             lineWith("phase", "\"\""),
             lineWith("step", "\"1\""),
             lineWith("step", "[1]"),
             lineWith("step", "1.5"),
             lineWith("step", "-2"),
             lineWith("step", "1e300"),
             lineWith("step", "18446744073709551615"),
             lineWith("epoch", "2147483648"),
             lineWith("epoch", "-1"),
             lineWith("epoch", "1e99"),
             lineWith("t0_us", "-1"),
             lineWith("t0_us", std::to_string(Us + 1)),
             lineWith("t1_us", "0"),
             lineWith("t1_us", "9223372036854775808"),
             lineWith("t1_us", "1e30"),
             lineWith("t1_us", "true"),
             lineWith("bytes", "-5"),
             lineWith("bytes", "1e300"),
             lineWith("bytes", "\"5\""),
         }) {
        SCOPED_TRACE(bad.substr(0, 120));
        MemoryStore store;
        ASSERT_TRUE(putText(store, fmt::format("{}a/00000001.jsonl", SpanFolder), bad + good + bad));
        const Trace trace = readOnce(store);
        ASSERT_EQ(trace.spans.size(), 1U);
        EXPECT_EQ(trace.spans.front().step, 3);
    }
}

TEST(Trace, ATornLastLineIsLeftOut)
{
    MemoryStore store;
    const std::string good = lineWith("step", "3");
    ASSERT_TRUE(putText(store, fmt::format("{}a/00000001.jsonl", SpanFolder), good + good.substr(0, 30)));
    ASSERT_TRUE(putText(store, fmt::format("{}a/00000002.jsonl", SpanFolder),
                        good.substr(0, good.size() - 1))); // its break is missing
    EXPECT_EQ(readOnce(store).spans.size(), 2U);
}

TEST(Trace, MissingNumbersHaveTheirDefaults)
{
    MemoryStore store;
    ASSERT_TRUE(putText(store, fmt::format("{}a/00000001.jsonl", SpanFolder),
                        R"({"actor":"a","phase":"later-version","more":{"x":1}})"));
    const Trace trace = readOnce(store);
    ASSERT_EQ(trace.spans.size(), 1U);
    EXPECT_EQ(trace.spans.front().step, -1);
    EXPECT_EQ(trace.spans.front().phase, "later-version"); // unknown phases are kept
}

TEST(Trace, ObjectsThatAreTooLargeAreLeftOut)
{
    MemoryStore store;
    std::string huge;
    while (huge.size() <= 1U << 20)
        huge += lineWith("step", "3");
    ASSERT_TRUE(putText(store, fmt::format("{}a/00000001.jsonl", SpanFolder), huge));
    ASSERT_TRUE(putText(store, fmt::format("{}a/00000002.jsonl", SpanFolder), lineWith("step", "4")));
    const Trace trace = readOnce(store);
    ASSERT_EQ(trace.spans.size(), 1U);
    EXPECT_EQ(trace.spans.front().step, 4);
}

// --- heartbeats ------------------------------------------------------------------------------------------------------

TEST(Trace, AHeartbeatThatIsTheSameIsNotReadAgain)
{
    MemoryStore store;
    TaskContext task;
    Heartbeat one { "r1", "demo", {}, "serving", 1, 0, Us, 1, {} };
    Heartbeat other = one;
    other.id = "r2";
    ASSERT_TRUE(putHeartbeat(store, one, task));
    ASSERT_TRUE(putHeartbeat(store, other, task));
    test::FaultyStore counted(store);
    TraceReader reader;
    ASSERT_TRUE(reader.read(counted, task));
    one.step = 2;
    ASSERT_TRUE(putHeartbeat(store, one, task));
    const std::uint64_t before = counted.calls(test::StoreOperation::Read);
    const auto trace = reader.read(counted, task);
    ASSERT_TRUE(trace);
    EXPECT_EQ(counted.calls(test::StoreOperation::Read) - before, 1U);
    ASSERT_EQ(trace->replicas.size(), 2U);
    EXPECT_EQ(trace->replicas[0].step, 2);
    EXPECT_EQ(trace->replicas[1].step, 1);
}

TEST(Trace, AHeartbeatBetweenListingAndReadingCounts)
{
    MemoryStore store;
    TaskContext task;
    Heartbeat replica { "r1", "demo", {}, "serving", 1, 0, Us, 1, {} };
    ASSERT_TRUE(putHeartbeat(store, replica, task));
    const auto beside = listAll(store, ".deltascope/", task);
    ASSERT_TRUE(beside);
    replica.step = 1'000'000; // of another size, too
    ASSERT_TRUE(putHeartbeat(store, replica, task));
    TraceReader reader;
    const auto trace = reader.read(store, *beside, task);
    ASSERT_TRUE(trace);
    ASSERT_EQ(trace->replicas.size(), 1U);
    EXPECT_EQ(trace->replicas[0].step, 1'000'000);
}

TEST(Trace, AHeartbeatThatCannotBeReadIsTheLastOneThatCould)
{
    MemoryStore store;
    TaskContext task;
    Heartbeat replica { "r1", "demo", {}, "serving", 1, 0, Us, 1, {} };
    ASSERT_TRUE(putHeartbeat(store, replica, task));
    test::FaultyStore faulty(store);
    TraceReader reader;
    ASSERT_TRUE(reader.read(faulty, task));
    replica.step = 2;
    ASSERT_TRUE(putHeartbeat(store, replica, task));
    faulty.failNth(test::StoreOperation::Read, 1, Error { Code::Transient, "try again", {}, {}, {} },
                   test::Repeat::Forever);
    const auto trace = reader.read(faulty, task);
    ASSERT_TRUE(trace);
    ASSERT_EQ(trace->replicas.size(), 1U);
    EXPECT_EQ(trace->replicas[0].step, 1);
    ASSERT_TRUE(store.remove(".deltascope/v1/replicas/r1.json"));
    EXPECT_TRUE(reader.read(faulty, task)->replicas.empty());
}

TEST(Trace, OfCopiesOfAHeartbeatTheNewestCounts)
{
    MemoryStore store;
    TaskContext task;
    Heartbeat beat { "r1", "vllm", {}, "serving", 41, 0, Us, 1, {} };
    ASSERT_TRUE(putHeartbeat(store, beat, task));
    const auto old = readWhole(store, ".deltascope/v1/replicas/r1.json", 1 << 20, task);
    ASSERT_TRUE(old);
    beat.step = 42;
    beat.tUs = Us + 1;
    ASSERT_TRUE(putHeartbeat(store, beat, task));
    for (const char* copy : { "a-copy", "z-copy" }) // listed before and behind the replica's own object
        ASSERT_TRUE(putText(store, fmt::format(".deltascope/v1/replicas/{}.json", copy), std::string(asText(*old))));
    const Trace trace = readOnce(store);
    ASSERT_EQ(trace.replicas.size(), 1U);
    EXPECT_EQ(trace.replicas[0].step, 42);
}

TEST(Trace, AHeartbeatComesBackAndIsReplaced)
{
    MemoryStore store;
    TaskContext task;
    Heartbeat beat { "r1", "vllm", "http://host:8000", "fetching", 41, 1, Us, 0.5, "3 of 7 tensors" };
    ASSERT_TRUE(putHeartbeat(store, beat, task));
    beat.state = "serving";
    beat.step = 42;
    beat.tUs = Us + 1;
    ASSERT_TRUE(putHeartbeat(store, beat, task));
    Heartbeat other = beat;
    other.id = "r0";
    ASSERT_TRUE(putHeartbeat(store, other, task));
    const Trace trace = readOnce(store);
    ASSERT_EQ(trace.replicas.size(), 2U);
    EXPECT_EQ(trace.replicas[0].id, "r0");
    const Heartbeat& got = trace.replicas[1];
    EXPECT_EQ(got.id, "r1");
    EXPECT_EQ(got.engine, beat.engine);
    EXPECT_EQ(got.endpoint, beat.endpoint);
    EXPECT_EQ(got.state, "serving");
    EXPECT_EQ(got.step, 42);
    EXPECT_EQ(got.epoch, 1);
    EXPECT_EQ(got.tUs, Us + 1);
    EXPECT_EQ(got.periodSeconds, 0.5);
    EXPECT_EQ(got.detail, beat.detail);
}

TEST(Trace, HostileHeartbeatsAreLeftOut)
{
    for (const char* text : { "", "{", "[]", "{}", R"({"id":7})", R"({"id":""})", R"({"id":"x","period_s":0})",
                              R"({"id":"x","period_s":-1})", R"({"id":"x","step":1e300})",
                              R"({"id":"x","epoch":99999999999})", R"({"id":"x","t_us":-1})",
                              R"({"id":"x","step":"1"})", R"({"id":"x","t_us":18446744073709551615})", "\xff" }) {
        SCOPED_TRACE(text);
        MemoryStore store;
        TaskContext task;
        ASSERT_TRUE(putText(store, ".deltascope/v1/replicas/x.json", text));
        ASSERT_TRUE(putHeartbeat(store, Heartbeat { "y", {}, {}, "serving", 1, 0, Us, 1, {} }, task));
        const Trace trace = readOnce(store);
        ASSERT_EQ(trace.replicas.size(), 1U);
        EXPECT_EQ(trace.replicas.front().id, "y");
    }
}

} // namespace
} // namespace deltascope
