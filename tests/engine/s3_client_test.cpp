#include "s3_fixture.h"

#include "store/s3/s3_client.h"

#include <deque>

// Signatures, keys, clocks and regions that must be mended, and what refusals mean.

namespace deltascope::s3 {
namespace {

using namespace std::chrono_literals;
using test::answerText;
using test::anyTask;
using test::Connection;
using test::countOf;
using test::errorBody;
using test::ScriptedServer;
using test::Seen;
using test::settingsFor;
using test::storeAt;
using test::testKeys;

/// Gives other keys each time it is asked to renew them.
class RenewingKeys final : public CredentialSource {
public:
    Result<Credentials> credentials(TaskContext&) override { return testKeys("token" + std::to_string(renewals)); }
    Result<Credentials> renew(const Credentials&, TaskContext& task) override
    {
        ++renewals;
        return credentials(task);
    }

    std::atomic<int> renewals = 0;
};

ScriptedServer::Script inTurn(std::deque<std::string> answers)
{
    auto left = std::make_shared<std::deque<std::string>>(std::move(answers));
    return [left](const Seen&, Connection& connection) {
        connection.send(left->front());
        if (left->size() > 1)
            left->pop_front();
    };
}

const std::string EmptyListing = "<ListBucketResult><IsTruncated>false</IsTruncated>"
                                 "<EncodingType>url</EncodingType></ListBucketResult>";

Error errorOfList(ObjectStore& store)
{
    const Result<ListPage> page = store.list({}, anyTask());
    EXPECT_FALSE(page);
    return page ? Error {} : page.error();
}

TEST(S3Client, SignsAgainWithTheClockOfTheServer)
{
    ScriptedServer server(
        inTurn({ answerText(403, errorBody("RequestTimeTooSkewed"), "Date: Fri, 17 May 2024 08:11:02 GMT\r\n"),
                 answerText(200, EmptyListing) }));
    const auto store = storeAt(settingsFor(server));
    EXPECT_TRUE(store->list({}, anyTask()));
    ASSERT_EQ(server.requests().size(), 2U);
    EXPECT_EQ(server.requests()[1].header("x-amz-date").substr(0, 11), "20240517T08");
    EXPECT_TRUE(store->list({}, anyTask())); // it is remembered
    EXPECT_EQ(server.requests()[2].header("x-amz-date").substr(0, 11), "20240517T08");
}

TEST(S3Client, AClockThatStaysWrongIsToldAfterOneMoreTry)
{
    ScriptedServer server(
        inTurn({ answerText(403, errorBody("RequestTimeTooSkewed"), "Date: Fri, 17 May 2024 08:11:02 GMT\r\n") }));
    const Error error = errorOfList(*storeAt(settingsFor(server)));
    EXPECT_EQ(error.code, Code::Auth);
    EXPECT_EQ(error.action, "Set the clock of this machine.");
    EXPECT_EQ(server.requests().size(), 2U);
}

TEST(S3Client, AHeadThatIsForbiddenByTheClockIsSignedAgain)
{
    const std::string date = "Date: Fri, 17 May 2024 08:11:02 GMT\r\n";
    ScriptedServer server(inTurn({ answerText(403, "", date),
                                   "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nETag: \"e1\"\r\n"
                                   "Last-Modified: Fri, 17 May 2024 08:11:02 GMT\r\n\r\n" }));
    EXPECT_TRUE(storeAt(settingsFor(server))->stat("key", anyTask()));
}

TEST(S3Client, ExpiredKeysAreRenewedOnce)
{
    const auto keys = std::make_shared<RenewingKeys>();
    ScriptedServer server(inTurn({ answerText(400, errorBody("ExpiredToken")), answerText(200, EmptyListing) }));
    EXPECT_TRUE(storeAt(settingsFor(server), keys)->list({}, anyTask()));
    EXPECT_EQ(server.requests()[0].header("x-amz-security-token"), "token0");
    EXPECT_EQ(server.requests()[1].header("x-amz-security-token"), "token1");

    const auto others = std::make_shared<RenewingKeys>();
    ScriptedServer stubborn(inTurn({ answerText(400, errorBody("ExpiredToken")) }));
    const Error error = errorOfList(*storeAt(settingsFor(stubborn), others));
    EXPECT_EQ(error.code, Code::Auth);
    EXPECT_EQ(others->renewals, 1);
    EXPECT_EQ(stubborn.requests().size(), 2U);
}

TEST(S3Client, KeysThatLastAreNotSentAgain)
{
    ScriptedServer server(inTurn({ answerText(400, errorBody("ExpiredToken")) }));
    EXPECT_EQ(errorOfList(*storeAt(settingsFor(server))).code, Code::Auth);
    EXPECT_EQ(server.requests().size(), 1U);
}

TEST(S3Client, AnotherRegionIsFollowedOnce)
{
    ScriptedServer server(
        inTurn({ answerText(400, errorBody("AuthorizationHeaderMalformed", "<Region>eu-west-3</Region>")),
                 answerText(200, EmptyListing) }));
    EXPECT_TRUE(storeAt(settingsFor(server))->list({}, anyTask()));
    EXPECT_NE(server.requests()[1].header("Authorization").find("/eu-west-3/s3/"), std::string::npos);

    ScriptedServer moving(
        inTurn({ answerText(301, errorBody("PermanentRedirect"), "x-amz-bucket-region: eu-west-3\r\n"),
                 answerText(301, errorBody("PermanentRedirect"), "x-amz-bucket-region: eu-west-1\r\n") }));
    const Error error = errorOfList(*storeAt(settingsFor(moving)));
    EXPECT_EQ(error.code, Code::Usage);
    EXPECT_EQ(error.action, "Set AWS_REGION to eu-west-1.");
    EXPECT_EQ(moving.requests().size(), 2U);
}

TEST(S3Client, ARegionThatIsNoneIsNotTaken)
{
    ScriptedServer server(
        inTurn({ answerText(400, errorBody("AuthorizationHeaderMalformed", "<Region>evil.example/</Region>")) }));
    const Error error = errorOfList(*storeAt(settingsFor(server)));
    EXPECT_EQ(error.code, Code::Usage);
    EXPECT_EQ(error.text.find("evil"), std::string::npos);
    EXPECT_EQ(server.requests().size(), 1U);
}

TEST(S3Client, RefusalsSayWhatToDoAndNoSecret)
{
    struct Case {
        int status;
        const char* word;
        Code code;
        const char* text;
    };
    for (const Case& refusal : { Case { 404, "NoSuchBucket", Code::NotFound, "no bucket \"bucket\"" },
                                 Case { 403, "AccessDenied", Code::Auth, "s3:ListBucket to access key …WXYZ" },
                                 Case { 403, "SignatureDoesNotMatch", Code::Auth, "…WXYZ" },
                                 Case { 403, "InvalidAccessKeyId", Code::Auth, "…WXYZ" },
                                 Case { 503, "SlowDown", Code::Transient, "fewer requests" },
                                 Case { 507, "XMinioStorageFull", Code::NoSpace, "full" },
                                 Case { 501, "NotImplemented", Code::Unsupported, "s3:ListBucket" },
                                 Case { 418, "Teapot", Code::Io, "status 418, Teapot" } }) {
        const std::string secret = testKeys().secret;
        ScriptedServer server(inTurn({ answerText(
            refusal.status, errorBody(refusal.word, "<StringToSign>AKIDEXAMPLEKEY00WXYZ</StringToSign>")) }));
        const Error error = errorOfList(*storeAt(settingsFor(server)));
        EXPECT_EQ(error.code, refusal.code) << refusal.word;
        EXPECT_NE(error.text.find(refusal.text), std::string::npos) << error.text;
        EXPECT_FALSE(error.action.empty()) << refusal.word;
        for (const std::string& word : { secret, testKeys().keyId, std::string("Signature=") })
            EXPECT_EQ((error.text + error.action + error.where).find(word), std::string::npos) << error.text;
    }
}

TEST(S3Client, AnonymousRequestsCarryNoSignature)
{
    ScriptedServer server(inTurn({ answerText(200, EmptyListing), answerText(403, errorBody("AccessDenied")) }));
    S3Settings settings = settingsFor(server);
    settings.isAnonymous = true;
    const auto store = openS3Store(settings, std::make_shared<http::Client>(), nullptr);
    ASSERT_TRUE(store);
    EXPECT_TRUE((*store)->list({}, anyTask()));
    EXPECT_EQ(server.requests()[0].header("Authorization"), "");
    EXPECT_NE(errorOfList(**store).text.find("without a key"), std::string::npos);
}

TEST(S3Client, AListingThatWasCutIsAskedForAgain)
{
    const std::string cut = EmptyListing.substr(0, 40);
    ScriptedServer server(inTurn({ answerText(200, cut), answerText(200, EmptyListing) }));
    EXPECT_TRUE(storeAt(settingsFor(server))->list({}, anyTask()));
    EXPECT_EQ(server.requests().size(), 2U);
    ScriptedServer broken(inTurn({ answerText(200, cut) }));
    EXPECT_EQ(errorOfList(*storeAt(settingsFor(broken))).code, Code::Hostile);
    EXPECT_EQ(broken.requests().size(), 3U);
}

TEST(S3Client, PutsBucketAndKeyWhereTheStyleWantsThem)
{
    ScriptedServer server(inTurn({ answerText(404, "") }));
    S3Settings settings = settingsFor(server);
    settings.endpoint += "/team%20a";
    settings.prefix = "runs/1";
    EXPECT_FALSE(storeAt(settings)->stat("a b", anyTask()));
    EXPECT_EQ(server.requests()[0].target(), "/team%20a/bucket/runs/1/a%20b");
    settings.addressing = Addressing::VirtualHost; // "bucket.127.0.0.1" is no name that resolves
    settings.endpoint = "http://localhost:" + server.host().substr(server.host().find(':') + 1);
    settings.bucket = "x";
    const auto outcome = storeAt(settings)->stat("a b", anyTask()); // x.localhost may resolve
    if (server.requests().size() > 1) {
        EXPECT_EQ(server.requests()[1].target(), "/runs/1/a%20b");
        EXPECT_EQ(server.requests()[1].header("Host").substr(0, 12), "x.localhost:");
    }
    EXPECT_FALSE(outcome);
}

TEST(S3Client, EveryCallEndsWithItsTask)
{
    ScriptedServer server([](const Seen&, Connection& connection) { connection.hold(); });
    const auto store = storeAt(settingsFor(server));
    std::byte byte {};
    const MemoryPayload body(asBytes("data"));
    const auto codeOf = [](const auto& outcome) { return outcome ? Code::Internal : outcome.error().code; };
    for (int call = 0; call < 6; ++call) {
        TaskContext task;
        const std::size_t before = server.requests().size();
        std::thread stopper([&] {
            while (server.requests().size() == before)
                std::this_thread::sleep_for(1ms);
            task.requestStop();
        });
        Code code = Code::Internal;
        if (call == 0)
            code = codeOf(store->list({}, task));
        else if (call == 1)
            code = codeOf(store->stat("key", task));
        else if (call == 2)
            code = codeOf(store->read("key", 0, { &byte, 1 }, task));
        else if (call == 3)
            code = codeOf(store->put("key", body, PutMode::Replace, task));
        else if (call == 4)
            code = codeOf(removeOne(*store, "key", task));
        else
            code = codeOf(store->remove({ "key" }, task).front());
        stopper.join();
        EXPECT_EQ(code, Code::Canceled) << call;
    }
}

} // namespace
} // namespace deltascope::s3
