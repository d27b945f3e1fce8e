#include "deltascope/app/remote.h"
#include "deltascope/app/view/json.h"

#include "remote/event_source.h"
#include "remote/mirrored_run.h"
#include "remote/read_views.h"
#include "view/alert_description.h"
#include "view/base64.h"
#include "view/io/json_reader.h"
#include "view/step_description.h"

#include <gtest/gtest.h>

// What a client of the HTTP API is made of, without a server.

namespace deltascope::app {
namespace {

TEST(ServerAddress, WhatPeopleTypeAndPasteIsRead)
{
    const auto address = [](const char* text) { return ServerAddress::parse(text).value(); };
    EXPECT_EQ(address("trainer:7717").url, "http://trainer:7717/");
    EXPECT_EQ(address(" http://127.0.0.1:7717 \n").url, "http://127.0.0.1:7717/");
    EXPECT_EQ(address("https://dash.example.org/deltascope").url, "https://dash.example.org/deltascope/");
    EXPECT_EQ(address("http://[::1]:7717/").host, "[::1]:7717");
    EXPECT_EQ(address("http://example.org:80/").host, "example.org"); // as it stands in the Host of a request
    const ServerAddress printed = address("http://127.0.0.1:7717/#k=a%2Db-c_d");
    EXPECT_EQ(printed.code, "a-b-c_d");
    EXPECT_EQ(printed.url, "http://127.0.0.1:7717/");
}

TEST(ServerAddress, SaysWhereOthersCanReadAlong)
{
    EXPECT_TRUE(ServerAddress::parse("trainer:7717")->exposed);
    EXPECT_TRUE(ServerAddress::parse("127.evil.example:7717")->exposed);
    EXPECT_FALSE(ServerAddress::parse("localhost:7717")->exposed);
    EXPECT_FALSE(ServerAddress::parse("127.0.0.1:7717")->exposed);
    EXPECT_FALSE(ServerAddress::parse("[::1]:7717")->exposed);
    EXPECT_FALSE(ServerAddress::parse("https://trainer")->exposed);
}

TEST(ServerAddress, RefusesWhatIsNone)
{
    for (const char* text : { "", "  ", "ftp://trainer/", "file:///etc/passwd", "http://", "http://a:99999/",
                              "http://name:password@trainer/", "http://trainer/?token=secret" }) {
        const auto parsed = ServerAddress::parse(text);
        ASSERT_FALSE(parsed) << text;
        EXPECT_EQ(parsed.error().text.find("secret"), std::string::npos);
    }
}

TEST(EventParser, CutsAStreamWhereverItBreaks)
{
    const std::string stream = "retry: 2000\nid: a-1\n: ping\n\nid: a-2\nevent: run\ndata: {\"id\":\"x\"}\n\n"
                               "event: reset\r\ndata: {}\r\n\r\nevent: two\ndata: 1\ndata: 2\n\n";
    for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
        EventParser parser;
        std::vector<ServerEvent> events;
        ASSERT_TRUE(parser.take(std::string_view(stream).substr(0, cut), events));
        ASSERT_TRUE(parser.take(std::string_view(stream).substr(cut), events));
        ASSERT_EQ(events.size(), 3U) << cut;
        EXPECT_EQ(events[0].type, "run");
        EXPECT_EQ(events[0].data, R"({"id":"x"})");
        EXPECT_EQ(events[1].type, "reset");
        EXPECT_EQ(events[2].data, "1\n2");
    }
}

TEST(Base64, GoesThereAndBack)
{
    std::string bytes;
    for (int i = 0; i < 300; ++i) {
        const auto back = fromBase64(base64(bytes));
        ASSERT_TRUE(back);
        EXPECT_EQ(std::string(back->begin(), back->end()), bytes);
        bytes += static_cast<char>(i * 37);
    }
    for (const char* text : { "a", "ab", "abc", "ab=c", "a===", "====", "ab!=", "=abc" })
        EXPECT_FALSE(fromBase64(text)) << text;
}

const std::string First = R"({"cursor":"i-3","whole":true,"rev":3,"id":"x","name":"x","source":"file:///x","base":"",
"state":"live","error":null,"contact_us":1,"demo":false,"alerts_firing":0,"worst_alert":"","run":{"rev":1,"settled":true,
"source":"file:///x","layout":"trl-v2","run":"x","base":"","latest":null,"noop_rate":null,"ignored_objects":0,
"wire_bytes":0,"epochs":[0],"steps":[{"epoch":0,"step":4,"kind":"gap","state":"gap","last_step":6}],
"problems":{"keep":0,"add":[]},"events":{"keep":0,"add":[]},"drift":{"keep":0,"add":[]},"notes":{"keep":0,"add":[]},
"spans":{"keep":0,"add":[]},"replicas":[]},"heat":null,"verified":[{"epoch":0,"step":3,"level":2,"result":"verified","problem":null,
"t_us":7}],"something new":1})";

TEST(MirroredRun, TakesWhatItKnowsAndPassesTheRest)
{
    MirroredRun run("x");
    const auto applied = run.apply(First);
    ASSERT_TRUE(applied) << applied.error().text;
    EXPECT_EQ(run.cursor(), "i-3");
    EXPECT_EQ(run.snapshot()->run->epochs.at(0).steps.at(0).lastMissing, 6);
    EXPECT_EQ(run.snapshot()->verified.size(), 1U);
}

TEST(MirroredRun, TakesTheSizeOfTheBase)
{
    MirroredRun run("x");
    ASSERT_TRUE(run.apply(First)); // from a server that does not tell it
    EXPECT_EQ(run.snapshot()->run->baseBytes, std::nullopt);
    std::string text = First;
    const std::string where = "\"base\":\"\",\"latest\"";
    text.replace(text.find(where), where.size(), "\"base\":\"file:///b\",\"base_bytes\":77,\"latest\"");
    MirroredRun onBase("x");
    ASSERT_TRUE(onBase.apply(text));
    EXPECT_EQ(onBase.snapshot()->run->baseBytes, 77U);
}

TEST(MirroredRun, RefusesWhatDoesNotFitAndKeepsWhatItHas)
{
    MirroredRun run("x");
    ASSERT_TRUE(run.apply(First));
    const auto before = run.snapshot();
    const auto changed = [](const std::string& from, const std::string& to) {
        std::string text = First;
        text.replace(text.find(from), from.size(), to);
        return text;
    };
    for (const std::string& text :
         { std::string("{"), std::string("[]"), changed("\"rev\":3", "\"rev\":-3"), changed("\"rev\":3", "\"rev\":1e9"),
           changed("\"settled\":true,", ""), changed("\"epochs\":[0]", "\"epochs\":[]"),
           changed("\"latest\":null", "\"latest\":\"7\""), changed("\"keep\":0", "\"keep\":4"),
           changed("\"heat\":null", R"("heat":{"rev":1,"tensors":null,"totals":null,"columns":[{"epoch":0}]})"),
           changed("\"steps\":[", "\"steps\":[7,") }) {
        const auto applied = run.apply(text);
        ASSERT_FALSE(applied) << text;
        EXPECT_EQ(applied.error().code, Code::Unsupported);
        EXPECT_EQ(run.snapshot(), before);
        EXPECT_TRUE(run.cursor().empty()); // everything is asked for anew
    }
    ASSERT_TRUE(run.apply(First));
    EXPECT_GT(run.snapshot()->revision, before->revision);
}

TEST(MirroredRun, WhatIsGoneGoes)
{
    MirroredRun run("x");
    ASSERT_TRUE(run.apply(First));
    std::string next = First;
    const auto put = [&](const std::string& from, const std::string& to) {
        next.replace(next.find(from), from.size(), to);
    };
    put("\"whole\":true", "\"whole\":false");
    put("\"rev\":1", "\"rev\":2");
    put("\"kind\":\"gap\",\"state\":\"gap\",\"last_step\":6", "\"gone\":true");
    put("\"level\":2,", "\"gone\":true,\"level\":2,");
    const auto applied = run.apply(next);
    ASSERT_TRUE(applied) << applied.error().text;
    EXPECT_TRUE(run.snapshot()->run->epochs.at(0).steps.empty());
    EXPECT_TRUE(run.snapshot()->verified.empty());
}

TEST(ReadViews, AStepSaysWhatItRestores)
{
    StepView step;
    step.kind = "delta";
    step.state = "complete";
    for (const std::optional<std::int64_t> restores :
         { std::optional<std::int64_t>(), std::optional<std::int64_t>(7) }) {
        step.restores = restores;
        EXPECT_EQ(readAs<StepView>(nlohmann::json::parse(stepToJson(step))), step);
    }
}

TEST(ReadViews, AServerOfAnEarlierVersionTellsNothingOfMessages)
{
    const std::string known = R"("kind":"slack","name":"https://hooks.slack.com","min_level":"error")";
    const auto listWith = [&](const std::string& rest) {
        return readJson(R"({"rev":1,"alerts":[],"rules":[],"channels":[{)" + known + rest + "}]}",
                        readAs<AlertListView>);
    };
    const Result<AlertListView> earlier = listWith("");
    ASSERT_TRUE(earlier) << earlier.error().text;
    EXPECT_EQ(earlier->channels.at(0).name, "https://hooks.slack.com");
    EXPECT_FALSE(earlier->channels.at(0).lastArrived);
    const Result<AlertListView> now =
        listWith(R"(,"sent":4,"failed":1,"last_arrived":false,"last_failed_us":7,"last_failure":"why")");
    ASSERT_TRUE(now) << now.error().text;
    EXPECT_EQ(now->channels.at(0).sent, 4U);
    EXPECT_EQ(now->channels.at(0).failed, 1U);
    EXPECT_EQ(now->channels.at(0).lastArrived, false);
    EXPECT_EQ(now->channels.at(0).lastFailedUs, 7);
    EXPECT_EQ(now->channels.at(0).lastFailure, "why");
    EXPECT_FALSE(listWith(R"(,"sent":4)")) << "all of them or none";
}

TEST(ReadViews, AnswersThatEndTooEarlyAreRefused)
{
    const std::string head =
        R"({"tensor":"t","dtype":"BF16","shape":[2,2],"rows":2,"cols":2,"block_rows":1,"block_cols":1,
"rows_per_block":2,"cols_per_block":2,"changed":1,"total":4,"dead_rows":1,"dead_cols":1,"gini_rows":null,"top_rows":[],
"a":null})";
    std::string line;
    for (const char c : head)
        line += c == '\n' ? ' ' : c;
    EXPECT_TRUE(readBlocks(line + "\n" + std::string(20, '\1')));
    EXPECT_FALSE(readBlocks(line + "\n" + std::string(19, '\1')));
    EXPECT_FALSE(readBlocks(line));
}

}
} // namespace deltascope::app
