#include "cli/channel_watch.h"

#include "support/eventually.h"

#include <gtest/gtest.h>

// What `serve` prints of channels: that one begins to fail, and that a message arrives again.

namespace deltascope::cli {
namespace {

using app::AlertChannelView;

AlertChannelView channelWith(std::uint64_t sent, std::uint64_t failed, std::optional<bool> lastArrived)
{
    AlertChannelView view;
    view.kind = "webhook";
    view.name = "https://alerts.example.org";
    view.sent = sent;
    view.failed = failed;
    view.lastArrived = lastArrived;
    view.lastFailure = failed > 0 ? "the server answers with status 404" : "";
    return view;
}

TEST(ChannelTurns, AreALineWhenAChannelBeginsToFailAndOneWhenAMessageArrivesAgain)
{
    ChannelTurns turns;
    const AlertChannelView sound = channelWith(5, 0, true);
    const auto look = [&](const AlertChannelView& second) { return turns.look({ sound, second }); };
    EXPECT_TRUE(look(channelWith(0, 0, std::nullopt)).empty());
    EXPECT_TRUE(look(channelWith(1, 0, true)).empty());
    EXPECT_EQ(look(channelWith(1, 1, false)),
              (std::vector<std::string> { "warning: a message about an alert has not arrived (channel 2, webhook "
                                          "https://alerts.example.org): the server answers with status 404" }));
    EXPECT_TRUE(look(channelWith(1, 1, false)).empty());
    EXPECT_TRUE(look(channelWith(1, 7, false)).empty()) << "it goes on failing";
    EXPECT_EQ(look(channelWith(2, 7, true)),
              (std::vector<std::string> { "messages about alerts arrive again (channel 2, webhook "
                                          "https://alerts.example.org); 7 have not" }));
    EXPECT_TRUE(look(channelWith(3, 7, true)).empty());
    EXPECT_EQ(look(channelWith(4, 8, true)).size(), 1U) << "one in between was lost";
    EXPECT_TRUE(look(channelWith(5, 9, true)).empty()) << "and so was another";
    EXPECT_EQ(look(channelWith(6, 9, true)).size(), 1U);
}

TEST(ChannelWatch, TellsAtItsEndWhatItHasNotToldYet)
{
    app::AlertSender sender({ *app::parseChannel("info /no/such/program") });
    std::vector<std::string> told;
    {
        ChannelWatch watch(sender, [&](const std::string& line) { told.push_back(line); });
        ASSERT_TRUE(watch.start());
        sender.test(0, 0);
        EXPECT_TRUE(test::eventually([&] { return sender.counts().at(0).failed == 1; }));
    }
    ASSERT_EQ(told.size(), 1U);
    EXPECT_NE(told[0].find("(channel 1, command /no/such/program): the program cannot be started"), std::string::npos)
        << told[0];
}

} // namespace
} // namespace deltascope::cli
