#include "deltascope/app/alert_sender.h"

#include "alerts/message.h"
#include "alerts/program_call.h"
#include "support/eventually.h"
#include "support/ignored_signals.h"
#include "support/no_threads.h"
#include "support/scripted_server.h"
#include "support/temp_dir.h"
#include "support/times.h"

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

// Where messages about alerts go, what they say, and that they arrive.

namespace deltascope::app {
namespace {

namespace http = boost::beast::http;
using boost::asio::ip::tcp;
using Json = nlohmann::json;
using namespace std::chrono_literals;

AlertView alert(AlertLevel level = AlertLevel::Error)
{
    AlertView view;
    view.id = "a-1";
    view.rule = "replica-lag";
    view.level = level;
    view.run = "wordle";
    view.step = 1217;
    view.replica = "r2";
    view.title = "r2 is 12 versions behind";
    view.text = "r2 serves step 1217; 12 newer versions are in the run.";
    view.remedy = "Is its network slow?";
    view.value = 12;
    view.threshold = 3;
    return view;
}

/// A server on the loopback that keeps what it is sent and answers with the statuses it was given, then with the last.
class Receiver {
public:
    struct Message {
        std::string target;
        std::string body;
        std::string signature;
        std::string type;
    };

    explicit Receiver(std::vector<unsigned> statuses = { 200 })
        : m_statuses(std::move(statuses))
        , m_acceptor(m_context, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0))
        , m_thread([this] { run(); })
    {
    }
    ~Receiver()
    {
        m_stopping = true;
        boost::asio::io_context context;
        tcp::socket wake(context);
        boost::system::error_code ignored;
        wake.connect(m_acceptor.local_endpoint(), ignored);
        m_thread.join();
    }
    Receiver(const Receiver&) = delete;
    Receiver& operator=(const Receiver&) = delete;

    std::string url() const { return "http://127.0.0.1:" + std::to_string(m_acceptor.local_endpoint().port()); }

    /// Everything that came, once there are so many; fewer after some seconds.
    std::vector<Message> await(std::size_t count)
    {
        std::unique_lock lock(m_mutex);
        m_changed.wait_for(lock, 5s, [&] { return m_messages.size() >= count; });
        return m_messages;
    }

private:
    void run()
    {
        while (true) {
            tcp::socket socket(m_context);
            m_acceptor.accept(socket);
            if (m_stopping)
                return;
            serve(socket);
        }
    }

    void serve(tcp::socket& socket)
    {
        boost::beast::flat_buffer buffer;
        http::request<http::string_body> request;
        boost::system::error_code error;
        http::read(socket, buffer, request, error);
        if (error)
            return;
        http::response<http::empty_body> response;
        {
            const std::lock_guard lock(m_mutex);
            const std::size_t at = std::min(m_messages.size(), m_statuses.size() - 1);
            response.result(m_statuses[at]);
            m_messages.push_back({ std::string(request.target()), request.body(),
                                   std::string(request["X-Deltascope-Signature"]),
                                   std::string(request[http::field::content_type]) });
        }
        response.set(http::field::location, "http://127.0.0.1:1/elsewhere");
        response.keep_alive(false);
        response.prepare_payload();
        http::write(socket, response, error);
        m_changed.notify_all();
    }

    std::vector<unsigned> m_statuses;
    boost::asio::io_context m_context;
    tcp::acceptor m_acceptor;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::vector<Message> m_messages;
    std::atomic<bool> m_stopping { false };
    std::thread m_thread;
};

AlertChannel webhook(const std::string& url, AlertLevel minLevel = AlertLevel::Info, std::string secret = {})
{
    return { ChannelKind::Webhook, minLevel, url + "/hook?key=hidden", std::move(secret), url };
}

/// Waits until a channel has finished so many messages.
SentCounts settled(const AlertSender& sender, std::uint64_t messages)
{
    EXPECT_TRUE(test::eventually([&] {
        const SentCounts counts = sender.counts().at(0);
        return counts.delivered + counts.failed >= messages;
    }));
    return sender.counts().at(0);
}

TEST(Channels, AWebhookGetsASignedMessage)
{
    Receiver receiver;
    AlertSender sender({ webhook(receiver.url(), AlertLevel::Info, "swordfish") }, "http://localhost:7007/");
    sender.send(alert(), test::Begin);
    const std::vector<Receiver::Message> messages = receiver.await(1);
    ASSERT_EQ(messages.size(), 1U);
    EXPECT_EQ(messages[0].target, "/hook?key=hidden");
    EXPECT_EQ(messages[0].type, "application/json");
    EXPECT_EQ(messages[0].signature, "sha256=" + signatureOf(messages[0].body, "swordfish"));
    EXPECT_EQ(Json::parse(messages[0].body), Json::parse(R"({"level":"error","title":"r2 is 12 versions behind",
                  "text":"r2 serves step 1217; 12 newer versions are in the run.","rule":"replica-lag","run":"wordle",
                  "step":1217,"replica":"r2","value":12.0,"threshold":3.0,"url":"http://localhost:7007/r/wordle",
                  "timestamp":"2026-08-21T12:23:20Z","state":"firing"})"));
    EXPECT_EQ(settled(sender, 1).delivered, 1U);
}

TEST(Channels, WithoutAThreadAMessageHasFailedAndTheNextOneIsSent)
{
    Receiver receiver;
    AlertSender sender({ webhook(receiver.url()) }, {});
    {
        const test::NoThreads none;
        sender.send(alert(), test::Begin);
    }
    EXPECT_EQ(settled(sender, 1).failed, 1U);
    sender.send(alert(), test::Begin);
    EXPECT_EQ(settled(sender, 2).delivered, 1U);
}

TEST(Channels, SignaturesAreHmacSha256)
{
    // RFC 4231, test case 2
    EXPECT_EQ(signatureOf("what do ya want for nothing?", "Jefe"),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Channels, OnlyTheLevelsThatTheyWantAndOnlySignedWithASecret)
{
    Receiver receiver;
    AlertSender sender({ webhook(receiver.url(), AlertLevel::Warn) }, {});
    sender.send(alert(AlertLevel::Info), test::Begin);
    sender.send(alert(AlertLevel::Warn), test::Begin);
    const std::vector<Receiver::Message> messages = receiver.await(1);
    ASSERT_EQ(messages.size(), 1U);
    EXPECT_EQ(Json::parse(messages[0].body).at("level"), "warn");
    EXPECT_TRUE(Json::parse(messages[0].body).at("url").is_null());
    EXPECT_EQ(messages[0].signature, "");
}

TEST(Channels, AreTriedFourTimesWithPauses)
{
    Receiver receiver({ 500, 429, 503, 200 });
    AlertSender sender({ webhook(receiver.url()) }, {}, 10ms);
    const auto started = std::chrono::steady_clock::now();
    sender.send(alert(), test::Begin);
    EXPECT_EQ(settled(sender, 1).delivered, 1U);
    EXPECT_EQ(receiver.await(4).size(), 4U);
    EXPECT_GE(std::chrono::steady_clock::now() - started, 210ms) << "10, 40 and 160 ms";
}

TEST(Channels, GiveUpAfterThat)
{
    Receiver receiver({ 500 });
    AlertSender sender({ webhook(receiver.url()) }, {}, 1ms);
    sender.send(alert(), test::Begin);
    EXPECT_EQ(settled(sender, 1).failed, 1U);
    EXPECT_EQ(receiver.await(4).size(), 4U);
}

TEST(Channels, NeitherRepeatWhatIsRefusedNorFollowRedirects)
{
    for (const unsigned status : { 404U, 302U }) {
        Receiver receiver({ status });
        AlertSender sender({ webhook(receiver.url()) }, {}, 1ms);
        sender.send(alert(), test::Begin);
        EXPECT_EQ(settled(sender, 1).failed, 1U);
        EXPECT_EQ(receiver.await(1).size(), 1U);
    }
}

TEST(Channels, TakeTheStatusForTheAnswerHoweverLongAndSlowTheTextIs)
{
    for (const int status : { 200, 404 }) {
        test::ScriptedServer server([status](const test::ScriptedServer::Request&, auto& connection) {
            const std::string head = "HTTP/1.1 " + std::to_string(status) + " So\r\nContent-Length: 90000000\r\n\r\n";
            connection.send(head + std::string(200'000, 'x'));
            connection.hold();
        });
        AlertSender sender({ webhook(server.url()) }, {}, 1ms);
        sender.send(alert(), test::Begin);
        EXPECT_EQ(settled(sender, 1).delivered, status == 200 ? 1U : 0U);
        EXPECT_EQ(server.requests().size(), 1U) << status;
    }
}

TEST(Channels, AConnectionThatIsClosedIsOneTry)
{
    std::atomic<int> answers = 1;
    test::ScriptedServer server([&](const test::ScriptedServer::Request&, auto& connection) {
        if (answers-- > 0)
            connection.send(test::answerText(200, "ok")); // and may be used again
        else
            connection.close();
    });
    AlertSender sender({ webhook(server.url()) }, {}, 1ms);
    sender.send(alert(), test::Begin);
    EXPECT_EQ(settled(sender, 1).delivered, 1U);
    sender.send(alert(), test::Begin);
    EXPECT_EQ(settled(sender, 2).failed, 1U);
    EXPECT_EQ(server.requests().size(), 1U + 4U);
}

TEST(Channels, ADeadOneHoldsUpNobody)
{
    Receiver receiver;
    AlertSender sender({ webhook("http://127.0.0.1:1"), webhook(receiver.url()) }, {}, 10s);
    sender.send(alert(), test::Begin);
    EXPECT_EQ(receiver.await(1).size(), 1U);
}

/// Takes connections and says nothing.
class Silence {
public:
    Silence()
        : m_acceptor(m_context, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0))
    {
    }
    std::string url() const { return "http://127.0.0.1:" + std::to_string(m_acceptor.local_endpoint().port()); }
    void awaitConnection()
    {
        m_sockets.emplace_back(m_context);
        m_acceptor.accept(m_sockets.back());
    }

private:
    boost::asio::io_context m_context;
    tcp::acceptor m_acceptor;
    std::vector<tcp::socket> m_sockets;
};

TEST(Channels, StopAtOnceWhateverIsUnderWay)
{
    Silence silence;
    std::chrono::steady_clock::time_point stopping;
    {
        AlertSender waiting({ webhook("http://127.0.0.1:1") }, {}, 60s); // between two tries
        AlertSender sender({ webhook(silence.url()) }, {});
        sender.send(alert(), test::Begin);
        waiting.send(alert(), test::Begin);
        silence.awaitConnection();
        stopping = std::chrono::steady_clock::now();
    }
    EXPECT_LT(std::chrono::steady_clock::now() - stopping, 1s);
}

TEST(Channels, DropTheOldestWhenTheQueueIsFull)
{
    Silence silence;
    AlertSender sender({ webhook(silence.url()) }, {});
    sender.send(alert(), test::Begin);
    silence.awaitConnection(); // the first is under way
    for (int i = 0; i < 150; ++i)
        sender.send(alert(), test::Begin);
    const SentCounts counts = sender.counts().at(0);
    EXPECT_EQ(counts.failed, 50U);
    EXPECT_EQ(counts.lastArrived, false);
    EXPECT_EQ(counts.lastFailure, "dropped: 100 newer messages were waiting");
}

TEST(Channels, TellWhetherTheLastMessageArrivedAndWhyNot)
{
    Receiver receiver({ 404, 200 });
    AlertSender sender({ webhook(receiver.url()) }, {}, 1ms);
    AlertChannelView view = sender.channels().at(0);
    EXPECT_EQ(view.sent + view.failed, 0U);
    EXPECT_FALSE(view.lastArrived);
    EXPECT_FALSE(view.lastFailedUs);
    EXPECT_EQ(view.lastFailure, "");
    sender.send(alert(), test::Begin);
    settled(sender, 1);
    view = sender.channels().at(0);
    EXPECT_EQ(view.failed, 1U);
    EXPECT_EQ(view.lastArrived, false);
    EXPECT_GT(view.lastFailedUs.value_or(0), test::Begin - 366LL * 86'400 * 1'000'000);
    EXPECT_EQ(view.lastFailure, "the server answers with status 404");
    sender.send(alert(), test::Begin);
    settled(sender, 2);
    view = sender.channels().at(0);
    EXPECT_EQ(view.sent, 1U);
    EXPECT_EQ(view.failed, 1U);
    EXPECT_EQ(view.lastArrived, true);
    EXPECT_EQ(view.lastFailure, "the server answers with status 404") << "is remembered";
}

TEST(Channels, FailuresGiveAwayNoSecret)
{
    for (const char* url : { "http://127.0.0.1:1/T0/secret-x?b=secret-x", "http://user:secret-x@127.0.0.1:1/" }) {
        const Result<AlertChannel> channel = parseChannel(std::string("info ") + url + " secret=secret-x");
        ASSERT_TRUE(channel);
        AlertSender sender({ *channel }, {}, 1ms);
        sender.send(alert(), test::Begin);
        EXPECT_EQ(settled(sender, 1).failed, 1U);
        const AlertChannelView view = sender.channels().at(0);
        EXPECT_NE(view.lastFailure, "");
        EXPECT_EQ((view.name + view.lastFailure).find("secret-x"), std::string::npos) << view.lastFailure;
    }
}

TEST(Channels, AProgramGetsTheMessageOnItsStandardInput)
{
    const test::TempDir folder;
    const std::string script = folder.write("page-me", "#!/bin/sh\ncat > \"$0.got\"\n");
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    AlertSender sender({ { ChannelKind::Command, AlertLevel::Warn, script, {}, script } });
    sender.send(alert(AlertLevel::Info), test::Begin);
    sender.test(0, test::Begin);
    EXPECT_EQ(settled(sender, 1).delivered, 1U) << "a test asks for no level";
    std::ifstream got(script + ".got");
    EXPECT_EQ(Json::parse(got).at("title"), "This is a test of Deltascope");
    sender.send(alert(), test::Begin);
    EXPECT_EQ(settled(sender, 2).delivered, 2U);
}

TEST(Channels, AProgramIgnoresNoSignalThatOursIgnoresForItself)
{
    const test::TempDir folder;
    const std::string script = folder.write("page-me", "#!/bin/sh\ngrep '^SigIgn:' /proc/self/status > \"$0.got\"\n");
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    {
        const test::IgnoredSignals ignored;
        EXPECT_EQ(ProgramCall().call(script, "{}").outcome, Delivery::Delivered);
    }
    std::string word;
    std::string mask;
    ASSERT_TRUE(std::ifstream(script + ".got") >> word >> mask);
    EXPECT_FALSE(test::isIn(mask, SIGPIPE)) << mask;
    EXPECT_FALSE(test::isIn(mask, SIGXFSZ)) << mask;
    EXPECT_TRUE(test::isIn(mask, SIGUSR1)) << "what the user ignores stays ignored";
}

TEST(Channels, AProgramThatFailsIsTriedAgainAndOneThatIsNotThereIsNot)
{
    const test::TempDir folder;
    const std::string script = folder.write("fail", "#!/bin/sh\necho x >> \"$0.calls\"\nexit 3\n");
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    AlertSender sender({ { ChannelKind::Command, AlertLevel::Info, script, {}, script } }, {}, 1ms);
    sender.send(alert(), test::Begin);
    EXPECT_EQ(settled(sender, 1).failed, 1U);
    EXPECT_EQ(std::filesystem::file_size(script + ".calls"), 8U) << "four times";
    EXPECT_EQ(sender.counts().at(0).lastFailure, "the program ends with status 3");
    AlertSender missing({ { ChannelKind::Command, AlertLevel::Info, folder.path("none"), {}, "none" } }, {}, 60s);
    missing.send(alert(), test::Begin);
    EXPECT_EQ(settled(missing, 1).failed, 1U);
    EXPECT_EQ(missing.counts().at(0).lastFailure, "the program cannot be started: No such file or directory");
}

TEST(Channels, OfAProgramThatCannotBeExecutedSaySoBeforeAMessage)
{
    const test::TempDir folder;
    const std::string plain = folder.write("plain", "#!/bin/sh\n");
    const std::string program = folder.write("program", "#!/bin/sh\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    const auto why = [](const std::string& address) { return whyItCannotSend(*parseChannel("info " + address)); };
    EXPECT_EQ(why(folder.path("none")), "there is no such program");
    EXPECT_EQ(why(plain), "it is no program that this user may execute");
    EXPECT_EQ(why(folder.path(".")), "it is no program that this user may execute");
    EXPECT_FALSE(why(program));
    EXPECT_FALSE(why("http://127.0.0.1:1/"));
}

TEST(Channels, CanBeReplacedWhileMessagesAreSent)
{
    Receiver receiver;
    AlertSender sender;
    sender.send(alert(), test::Begin);
    sender.setChannels({ webhook("http://127.0.0.1:1") }, {});
    sender.send(alert(), test::Begin);
    sender.setChannels({ webhook(receiver.url()) }, "http://localhost:7007/");
    sender.send(alert(), test::Begin);
    ASSERT_EQ(receiver.await(1).size(), 1U);
    EXPECT_EQ(settled(sender, 1).delivered, 1U);
    EXPECT_EQ(sender.channels().size(), 1U);
}

class ChannelFile : public testing::Test {
protected:
    Result<std::vector<AlertChannel>> read(const std::string& text)
    {
        return readChannels(m_folder.write("channels", text));
    }

    test::TempDir m_folder;
};

TEST_F(ChannelFile, HasALevelAndAnAddressPerLine)
{
    const auto channels = read("# ours\n\n"
                               "warn https://hooks.slack.com/services/T0/B0/secret-x\n"
                               "  error https://ptb.discord.com/api/webhooks/1/secret-x\r\n"
                               "info https://user:secret-x@alerts.example.org:8443/a?b=secret-x secret=swordfish\n"
                               "info http://localhost:9/mattermost kind=slack\n"
                               "info https://hooks.slack.com.example.org/\n");
    ASSERT_TRUE(channels) << channels.error().text;
    ASSERT_EQ(channels->size(), 5U);
    EXPECT_EQ((*channels)[0].kind, ChannelKind::Slack);
    EXPECT_EQ((*channels)[0].minLevel, AlertLevel::Warn);
    EXPECT_EQ((*channels)[0].name, "https://hooks.slack.com");
    EXPECT_EQ((*channels)[1].kind, ChannelKind::Discord);
    EXPECT_EQ((*channels)[2].kind, ChannelKind::Webhook);
    EXPECT_EQ((*channels)[2].name, "https://alerts.example.org:8443");
    EXPECT_EQ((*channels)[2].secret, "swordfish");
    EXPECT_EQ((*channels)[3].kind, ChannelKind::Slack);
    EXPECT_EQ((*channels)[4].kind, ChannelKind::Webhook) << "only the host itself";
    for (const AlertChannel& channel : *channels) {
        const AlertChannelView view = channelView(channel);
        EXPECT_EQ((view.kind + view.name).find("secret-x"), std::string::npos) << view.name;
    }
}

TEST_F(ChannelFile, ErrorsNameTheLineAndQuoteNothing)
{
    for (const std::string line : { "loud https://example.org/secret-x", "warn ftp://example.org/secret-x",
                                    "warn secret-x", "warn", "warn https://example.org/secret-x kind=pager",
                                    "warn https://example.org/ secret-x", "warn file:///etc/secret-x" }) {
        const auto channels = read("# first\n" + line + "\n");
        ASSERT_FALSE(channels) << line;
        EXPECT_EQ(channels.error().code, Code::Usage);
        EXPECT_NE(channels.error().text.find("line 2"), std::string::npos);
        EXPECT_EQ((channels.error().text + channels.error().action).find("secret-x"), std::string::npos);
    }
    EXPECT_TRUE(read("")->empty());
}

TEST_F(ChannelFile, IsARegularFileThatIsReadToItsEnd)
{
    EXPECT_EQ(readChannels(m_folder.path("none")).error().code, Code::NotFound);
    const auto folder = readChannels(m_folder.path("."));
    ASSERT_FALSE(folder);
    EXPECT_EQ(folder.error().text, "the file with the alert channels is no regular file");
    const auto unreadable = readChannels("/proc/self/mem"); // opens, and no byte of its begin can be read
    ASSERT_FALSE(unreadable);
    EXPECT_EQ(unreadable.error().code, Code::Io);
    const auto unended = read("info http://localhost:9/a\ninfo http://localhost:9/b");
    ASSERT_TRUE(unended);
    EXPECT_EQ(unended->size(), 2U) << "the last line needs no end";
    std::filesystem::create_symlink(m_folder.path("channels"), m_folder.path("link"));
    EXPECT_EQ(readChannels(m_folder.path("link"))->size(), 2U);
}

TEST_F(ChannelFile, IsWrittenAsItIsReadAndForItsOwnerAlone)
{
    const auto channels = read("warn https://hooks.slack.com/services/T0/B0/x\n"
                               "info https://alerts.example.org/a?b=c secret=swordfish\n"
                               "info http://localhost:9/mattermost kind=discord\n"
                               "error /usr/local/bin/page-me\n");
    ASSERT_TRUE(channels);
    EXPECT_EQ(channels->back().kind, ChannelKind::Command);
    EXPECT_EQ(channels->back().name, "/usr/local/bin/page-me");
    const std::string path = m_folder.path("config/written");
    ASSERT_TRUE(writeChannels(path, *channels));
    const auto again = readChannels(path);
    ASSERT_TRUE(again);
    ASSERT_EQ(again->size(), channels->size());
    for (std::size_t i = 0; i < channels->size(); ++i)
        EXPECT_EQ(lineOf((*again)[i]), lineOf((*channels)[i]));
    using std::filesystem::perms;
    EXPECT_EQ(std::filesystem::status(path).permissions() & perms::mask, perms::owner_read | perms::owner_write);
    EXPECT_FALSE(read("warn /usr/local/bin/page-me kind=slack\n")) << "a program is no page of Slack";
}

AlertView hostile()
{
    AlertView view = alert();
    view.replica = "<!channel> @everyone [x](http://evil) \u202e\x07\n&";
    view.title = *view.replica;
    view.text = std::string(3000, 'x') + "\xff";
    return view;
}

TEST(Messages, ToSlackMentionNobody)
{
    const std::string body = messageBody(ChannelKind::Slack, hostile(), "http://localhost/r/wordle", test::Begin);
    const Json json = Json::parse(body);
    EXPECT_EQ(body.find("<!"), std::string::npos);
    EXPECT_EQ(body.find("\u202e"), std::string::npos);
    EXPECT_EQ(json.at("text"), "error: &lt;!channel&gt; @everyone [x](http://evil) \ufffd  &amp;");
    for (const Json& block : json.at("blocks")) {
        if (block.contains("text")) {
            EXPECT_EQ(block.at("text").at("type"), "plain_text");
            EXPECT_LE(block.at("text").at("text").get<std::string>().size(), 3000U);
        }
    }
    EXPECT_EQ(json.at("blocks").back().at("elements").at(0).at("url"), "http://localhost/r/wordle");
}

TEST(Messages, ToDiscordMentionNobodyAndFormatNothing)
{
    AlertView view = hostile();
    const Json json = Json::parse(messageBody(ChannelKind::Discord, view, {}, test::Begin));
    EXPECT_EQ(json.at("allowed_mentions").at("parse"), Json::array());
    const Json& embed = json.at("embeds").at(0);
    EXPECT_EQ(embed.at("title"), "error\\: \\<!channel\\> \\@everyone \\[x\\]\\(http\\://evil\\) \ufffd  &");
    EXPECT_FALSE(embed.contains("url"));
    EXPECT_EQ(embed.at("color"), 0x8f0a6b);
    view.state = AlertState::Cleared;
    view.clearedUs = test::Begin;
    EXPECT_NE(Json::parse(messageBody(ChannelKind::Discord, view, {}, test::Begin)).at("embeds").at(0).at("color"),
              0x8f0a6b);
}

} // namespace
} // namespace deltascope::app
