#include "store/hub/follow_event.h"
#include "store/hub/sse_parser.h"

#include <gtest/gtest.h>

namespace deltascope::hub {
namespace {

std::vector<ServerEvent> eventsOf(const std::string& text, std::size_t step)
{
    SseParser parser;
    std::vector<ServerEvent> events;
    for (std::size_t at = 0; at < text.size(); at += step)
        EXPECT_TRUE(parser.take(std::string_view(text).substr(at, step), events));
    return events;
}

TEST(HubEvents, AreTheSameHoweverTheBytesAreCut)
{
    const std::string text = "\xef\xbb\xbf: ping\n\nevent: ready\r\ndata: {\"cursor\":\"c1\"}\r\n\r\n"
                             "event:changes\rdata: {\"a\":\"\xc3\xa4\xe6\xbc\xa2\xf0\x9f\x98\x80\"}\rdata:second\r\r"
                             "id: 7\nretry: 5\nevent: nothing\n\ndata\n\ndata: last\n\ndata: unfinished\n";
    const std::vector<ServerEvent> expected {
        { "ready", "{\"cursor\":\"c1\"}" },
        { "changes", "{\"a\":\"\xc3\xa4\xe6\xbc\xa2\xf0\x9f\x98\x80\"}\nsecond" },
        { "message", "" },
        { "message", "last" },
    };
    for (std::size_t step = 1; step <= text.size(); ++step)
        EXPECT_EQ(eventsOf(text, step), expected) << "pieces of " << step;
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        SseParser parser;
        std::vector<ServerEvent> events;
        ASSERT_TRUE(parser.take(std::string_view(text).substr(0, cut), events));
        ASSERT_TRUE(parser.take(std::string_view(text).substr(cut), events));
        EXPECT_EQ(events, expected) << "cut at " << cut;
    }
}

TEST(HubEvents, NeverGrowBeyondTheirLimit)
{
    for (const std::string& piece : { std::string(100, 'x'), "data: " + std::string(100, 'x') + "\n" }) {
        SseParser parser(1000);
        std::vector<ServerEvent> events;
        Result<void> outcome;
        int pieces = 0;
        for (; outcome && pieces < 100; ++pieces)
            outcome = parser.take(piece, events);
        ASSERT_FALSE(outcome);
        EXPECT_EQ(outcome.error().code, Code::Hostile);
        EXPECT_LE(pieces, 11);
        EXPECT_TRUE(events.empty());
    }
}

TEST(HubEvents, TellWhatChanged)
{
    using Kind = FollowEvent::Kind;
    EXPECT_EQ(parseFollowEvent({ "ready", "{}" }).kind, Kind::Ready);
    EXPECT_FALSE(parseFollowEvent({ "ready", "{}" }).cursor);
    EXPECT_EQ(parseFollowEvent({ "ready", "" }).kind, Kind::Ready);
    EXPECT_EQ(parseFollowEvent({ "ready", R"({"cursor":"c"})" }).cursor, "c");
    EXPECT_EQ(parseFollowEvent({ "reset", R"({"reason":"cursor_too_old"})" }).kind, Kind::Reset);
    EXPECT_EQ(parseFollowEvent({ "reconnect", R"({"cursor":"c9"})" }).cursor, "c9");
    const FollowEvent changes = parseFollowEvent(
        { "changes",
          R"({"cursor":"c2","changes":[{"path":"run/a","op":"add","size":1},{"path":"b","op":"delete"}]})" });
    EXPECT_EQ(changes.kind, Kind::Changes);
    EXPECT_EQ(changes.paths, (std::vector<std::string> { "run/a", "b" }));
    EXPECT_TRUE(concerns(changes, ""));
    EXPECT_TRUE(concerns(changes, "run/"));
    EXPECT_FALSE(concerns(changes, "other/"));
}

TEST(HubEvents, WhatIsNotUnderstoodMayBeAnyChange)
{
    for (const ServerEvent& event :
         { ServerEvent { "novelty", "{}" }, ServerEvent { "changes", "{}" }, ServerEvent { "changes", "[" },
           ServerEvent { "changes", R"({"cursor":"c","changes":7})" }, ServerEvent { "ready", "[]" },
           ServerEvent { "changes", R"({"cursor":"c","changes":[{"path":"a","op":"rename"}]})" },
           ServerEvent { "changes", R"({"changes":[{"path":"a","op":"add"}]})" } }) {
        const FollowEvent read = parseFollowEvent(event);
        EXPECT_EQ(read.kind, FollowEvent::Kind::Other) << event.data;
        EXPECT_TRUE(read.paths.empty());
    }
}

} // namespace
} // namespace deltascope::hub
