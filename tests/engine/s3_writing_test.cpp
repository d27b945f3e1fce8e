#include "s3_fixture.h"

#include "support/sizes.h"
#include "support/temp_dir.h"

#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <mutex>

// Puts before a server that loses answers, changes bytes, and has other writers.

namespace deltascope::s3 {
namespace {

using namespace std::chrono_literals;
using test::answerObject;
using test::answerText;
using test::anyTask;
using test::Connection;
using test::countOf;
using test::errorBody;
using test::MiB;
using test::ModifiedUs;
using test::ScriptedServer;
using test::Seen;
using test::ServedObject;
using test::settingsFor;
using test::storeAt;
using test::TempDir;

constexpr const char* DataMd5 = "8d777f385d3dfec8815d20f7496026dc"; // of "data", by Python's hashlib
const std::string PutAnswer = answerText(200, "", fmt::format("ETag: \"{}\"\r\n", DataMd5));

std::string headAnswer(std::string_view etag, std::size_t bytes, std::string_view lines = {})
{
    return fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nETag: \"{}\"\r\n{}{}\r\n", bytes, etag,
                       test::ModifiedLine, lines);
}

Result<ObjectInfo> putData(ObjectStore& store, PutMode mode = PutMode::Replace)
{
    const MemoryPayload body(asBytes("data"));
    return store.put("key", body, mode, anyTask());
}

/// The bytes of a large object: three parts.
std::string largeText()
{
    std::string text((std::size_t { 17 } << 20) + 5, '\0');
    for (std::size_t i = 0; i < text.size(); ++i)
        text[i] = static_cast<char>((i * 2'654'435'761U) >> 13U);
    return text;
}
constexpr const char* LargeEtag = "aec36c96c6241dc78fe2e2e15705f399-3"; // MD5 over the MD5 of each part

/// Keeps uploads in parts.
class UploadServer {
public:
    std::string answer(const Seen& request)
    {
        const std::string target = request.target();
        const std::lock_guard lock(m_mutex);
        if (request.method() == "POST" && target.ends_with("?uploads="))
            return answerText(200,
                              "<InitiateMultipartUploadResult><UploadId>up/1+</UploadId>"
                              "</InitiateMultipartUploadResult>");
        if (request.method() == "PUT") {
            const std::string number = target.substr(target.find("partNumber=") + 11, 1);
            parts[number] = request.body;
            return answerText(200, "", "ETag: \"part" + number + "\"\r\n");
        }
        if (request.method() == "POST") {
            completion = request.body;
            bytes = parts["1"] + parts["2"] + parts["3"];
            return completeAnswer;
        }
        if (request.method() == "DELETE") {
            ++aborts;
            return answerText(204, "");
        }
        return bytes.empty() ? answerText(404, "") : headAnswer(LargeEtag, bytes.size());
    }

    std::string completeAnswer = answerText(200,
                                            fmt::format("<CompleteMultipartUploadResult><ETag>&quot;{}&quot;</ETag>"
                                                        "</CompleteMultipartUploadResult>",
                                                        LargeEtag));
    std::map<std::string, std::string> parts;
    std::string bytes; ///< of the object, once it is complete
    std::string completion;
    int aborts = 0;

private:
    std::mutex m_mutex;
};

TEST(S3Put, SendsDigestsThatAServerCanRefuseFlippedBitsBy)
{
    ScriptedServer server([](const Seen& request, Connection& connection) {
        connection.send(request.method() == "HEAD" ? headAnswer(DataMd5, 4) : PutAnswer);
    });
    const auto store = storeAt(settingsFor(server));
    const Result<ObjectInfo> object = putData(*store);
    ASSERT_TRUE(object);
    EXPECT_EQ(*object, (ObjectInfo { "key", 4, DataMd5, ModifiedUs, false }));
    const Seen put = server.requests()[0];
    EXPECT_EQ(put.header("Content-MD5"), "jXd/OF09/siBXSD3SWAm3A==");
    EXPECT_EQ(put.header("x-amz-checksum-crc64nvme"), "7a5hQ478J4A=");
    EXPECT_EQ(put.header("x-amz-content-sha256"), "3a6eb0790f39ac87c94f3856b2dd2c5d110e6811602261a9a923d3bb23adc8b7");
    EXPECT_EQ(put.header("If-None-Match"), "");
    EXPECT_EQ(put.body, "data");
}

TEST(S3Put, BytesThatWereChangedOnTheWayAreSentAgain)
{
    std::atomic<int> puts = 0;
    ScriptedServer server([&](const Seen& request, Connection& connection) {
        if (request.method() == "HEAD")
            connection.send(headAnswer(DataMd5, 4));
        else
            connection.send(puts++ == 0 ? answerText(400, errorBody("BadDigest")) : PutAnswer);
    });
    EXPECT_TRUE(putData(*storeAt(settingsFor(server))));
    ScriptedServer broken([](const Seen&, Connection& connection) {
        connection.send(answerText(400, errorBody("XAmzContentSHA256Mismatch")));
    });
    const auto outcome = putData(*storeAt(settingsFor(broken)));
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Code::Digest);
    EXPECT_EQ(broken.requests().size(), 3U);
}

TEST(S3Put, AServerThatKnowsNoCrc64IsServedWithoutIt)
{
    ScriptedServer server([](const Seen& request, Connection& connection) {
        if (!request.header("x-amz-checksum-crc64nvme").empty())
            connection.send(answerText(501,
                                       "<Error><Code>NotImplemented</Code><Message>A header you provided implies "
                                       "functionality that is not implemented</Message></Error>"));
        else
            connection.send(request.method() == "HEAD" ? headAnswer(DataMd5, 4) : PutAnswer);
    });
    const auto store = storeAt(settingsFor(server));
    EXPECT_TRUE(putData(*store));
    EXPECT_TRUE(putData(*store));
    EXPECT_EQ(countOf(server, "PUT"), 3U); // it is remembered
    EXPECT_EQ(server.requests()[1].header("Content-MD5"), "jXd/OF09/siBXSD3SWAm3A==");
}

TEST(S3Put, IfAbsentIsRefusedWhereThereIsOne)
{
    ScriptedServer server([](const Seen& request, Connection& connection) {
        connection.send(request.method() == "HEAD" ? headAnswer(DataMd5, 4)
                                                   : answerText(412, errorBody("PreconditionFailed")));
    });
    const auto outcome = putData(*storeAt(settingsFor(server)), PutMode::IfAbsent);
    ASSERT_FALSE(outcome); // the same bytes, but put by somebody else: nothing of ours was lost
    EXPECT_EQ(outcome.error().code, Code::Exists);
    EXPECT_EQ(server.requests()[0].header("If-None-Match"), "*");
}

TEST(S3Put, WhereConditionsAreIgnoredTheStoreLooksFirst)
{
    std::atomic<bool> exists = true;
    ScriptedServer server([&](const Seen& request, Connection& connection) {
        if (request.method() == "HEAD")
            connection.send(exists ? headAnswer(DataMd5, 4) : answerText(404, ""));
        else
            connection.send(PutAnswer);
    });
    S3Settings settings = settingsFor(server);
    settings.hasConditionalPut = false;
    const auto store = storeAt(settings);
    EXPECT_FALSE(store->traits().conditionalPut);
    EXPECT_EQ(putData(*store, PutMode::IfAbsent).error().code, Code::Exists);
    EXPECT_EQ(countOf(server, "PUT"), 0U);
    exists = false;
    EXPECT_TRUE(putData(*store, PutMode::IfAbsent));
    EXPECT_TRUE(storeAt(settingsFor(server))->traits().conditionalPut);
}

TEST(S3Put, AConflictWithAnotherWriterIsTriedAgain)
{
    std::atomic<int> puts = 0;
    ScriptedServer server([&](const Seen&, Connection& connection) {
        connection.send(puts++ == 0 ? answerText(409, errorBody("ConditionalRequestConflict"))
                                    : answerText(412, errorBody("PreconditionFailed")));
    });
    EXPECT_EQ(putData(*storeAt(settingsFor(server)), PutMode::IfAbsent).error().code, Code::Exists);
}

/// Loses the answer to the first put, which was carried out, or not.
void loseFirstAnswer(std::string_view standingEtag, std::string_view lines, bool isOurs)
{
    std::atomic<int> puts = 0;
    ScriptedServer server([&](const Seen& request, Connection& connection) {
        if (request.method() == "HEAD")
            connection.send(headAnswer(standingEtag, 4, lines));
        else if (puts++ == 0)
            connection.reset();
        else
            connection.send(answerText(412, errorBody("PreconditionFailed")));
    });
    const auto outcome = putData(*storeAt(settingsFor(server)), PutMode::IfAbsent);
    EXPECT_EQ(outcome.has_value(), isOurs) << standingEtag;
    if (!outcome) {
        EXPECT_EQ(outcome.error().code, Code::Exists);
    }
}

TEST(S3Put, AfterALostAnswerWhatStandsThereDecides)
{
    loseFirstAnswer(DataMd5, "", true);
    loseFirstAnswer("00000000000000000000000000000000", "", false);
    // Encrypted objects have other ETags; the checksum tells.
    loseFirstAnswer("00000000000000000000000000000000", "x-amz-checksum-crc64nvme: 7a5hQ478J4A=\r\n", true);
    loseFirstAnswer(DataMd5, "x-amz-checksum-crc64nvme: AAAAAAAAAAA=\r\n", false);
}

TEST(S3PartSizes, PartSizesFitAnyObject)
{
    EXPECT_EQ(partBytesFor(17 * MiB), 8 * MiB);
    EXPECT_EQ(partBytesFor(80'000 * MiB), 8 * MiB);
    EXPECT_EQ(partBytesFor(80'000 * MiB + 1), 9 * MiB);
    for (const std::uint64_t bytes : { 17 * MiB, 80'000 * MiB + 1, 5'000'000 * MiB, 123'456'789'012U })
        EXPECT_LE((bytes + partBytesFor(bytes) - 1) / partBytesFor(bytes), 10'000U) << bytes;
}

class S3Multipart : public testing::Test {
protected:
    Result<ObjectInfo> put(PutMode mode = PutMode::Replace)
    {
        const MemoryPayload body(asBytes(text));
        return storeAt(settings())->put("dir/key", body, mode, anyTask());
    }
    S3Settings settings() const
    {
        S3Settings given = settingsFor(server);
        given.journalFolder = folder.path("journal");
        return given;
    }
    std::size_t noted() const
    {
        const std::filesystem::path path = folder.path("journal");
        if (!std::filesystem::exists(path))
            return 0;
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path), {}));
    }

    TempDir folder;
    std::string text = largeText();
    UploadServer uploads;
    using Instead = std::function<bool(const Seen&, Connection&)>; // whether it answered
    /** Answers that come before those of `uploads`. The server may still be in an earlier one. */
    void answerFirst(Instead instead)
    {
        const std::lock_guard lock(m_mutex);
        m_instead = std::move(instead);
    }

private:
    Instead instead() const
    {
        const std::lock_guard lock(m_mutex);
        return m_instead;
    }

    mutable std::mutex m_mutex;
    Instead m_instead = [](const Seen&, Connection&) { return false; };

protected:
    TaskContext task; ///< outlives the server, which may stop it
    ScriptedServer server { [this](const Seen& request, Connection& connection) {
        if (!instead()(request, connection))
            connection.send(uploads.answer(request));
    } };
};

TEST_F(S3Multipart, PartsTogetherAreTheObject)
{
    const Result<ObjectInfo> object = put();
    ASSERT_TRUE(object) << object.error().text;
    EXPECT_EQ(*object, (ObjectInfo { "dir/key", text.size(), LargeEtag, ModifiedUs, false }));
    EXPECT_TRUE(uploads.bytes == text);
    EXPECT_EQ(uploads.parts["1"].size(), std::size_t { 8 } << 20);
    EXPECT_NE(uploads.completion.find("<PartNumber>3</PartNumber><ETag>&quot;part3&quot;</ETag>"), std::string::npos);
    EXPECT_EQ(uploads.aborts, 0);
    EXPECT_EQ(noted(), 0U);
}

/// Its first bytes can be read once the server has all others.
class FrontlessPayload final : public Payload {
public:
    FrontlessPayload(ByteSpan bytes, const std::atomic<int>& arrived)
        : m_bytes(bytes)
        , m_arrived(arrived)
    {
    }
    std::uint64_t sizeBytes() const noexcept override { return m_bytes.sizeBytes(); }
    Result<std::size_t> read(std::uint64_t offset, MutableByteSpan out) const override
    {
        return m_bytes.read(offset, out);
    }
    Result<void> await(std::uint64_t offset, std::uint64_t, TaskContext& task) const override
    {
        while (offset == 0 && m_arrived < 2) {
            DS_CHECK(task.checkpoint());
            std::this_thread::sleep_for(1ms);
        }
        return {};
    }

private:
    MemoryPayload m_bytes;
    const std::atomic<int>& m_arrived;
};

TEST_F(S3Multipart, PartsAreSentAsTheyCome)
{
    std::atomic<int> arrived = 0;
    answerFirst([&](const Seen& request, Connection&) {
        arrived += request.method() == "PUT" ? 1 : 0;
        return false;
    });
    const FrontlessPayload payload(asBytes(text), arrived);
    const auto object = storeAt(settings())->put("dir/key", payload, PutMode::IfAbsent, anyTask());
    ASSERT_TRUE(object) << object.error().text;
    EXPECT_TRUE(uploads.bytes == text);
}

TEST_F(S3Multipart, AFailedPartAbortsTheUpload)
{
    answerFirst([](const Seen& request, Connection& connection) {
        const bool isSecond = request.target().find("partNumber=2") != std::string::npos;
        return isSecond && connection.send(answerText(403, errorBody("AccessDenied")));
    });
    const auto outcome = put();
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Code::Auth);
    EXPECT_EQ(uploads.aborts, 1);
    EXPECT_EQ(noted(), 0U);
}

TEST_F(S3Multipart, AGoodStatusWithAnErrorInsideIsAnError)
{
    uploads.completeAnswer = answerText(200, errorBody("EntityTooSmall"));
    const auto outcome = put();
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Code::Unsupported);
    EXPECT_EQ(uploads.aborts, 1);
}

TEST_F(S3Multipart, ALostCompletionIsLookedFor)
{
    for (const bool wasCarriedOut : { true, false }) {
        std::atomic<int> completions = 0;
        uploads.bytes.clear();
        answerFirst([&](const Seen& request, Connection& connection) {
            if (request.method() != "POST" || request.target().find("uploadId") == std::string::npos
                || completions++ > 0)
                return false;
            if (wasCarriedOut)
                uploads.answer(request);
            connection.reset();
            return true;
        });
        EXPECT_TRUE(put()) << wasCarriedOut;
        EXPECT_TRUE(uploads.bytes == text);
        EXPECT_EQ(completions, wasCarriedOut ? 1 : 2);
    }
}

TEST_F(S3Multipart, IfAbsentIsAskedForAtBothEnds)
{
    EXPECT_TRUE(put(PutMode::IfAbsent));
    const auto again = put(PutMode::IfAbsent); // found before anything is sent
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, Code::Exists);
    EXPECT_EQ(countOf(server, "PUT"), 3U);

    uploads.bytes.clear();
    uploads.completeAnswer = answerText(412, errorBody("PreconditionFailed")); // another writer was faster
    EXPECT_EQ(put(PutMode::IfAbsent).error().code, Code::Exists);
    EXPECT_EQ(uploads.aborts, 1);
    std::size_t conditions = 0;
    for (const Seen& request : server.requests())
        conditions += request.header("If-None-Match") == "*" ? 1 : 0;
    EXPECT_EQ(conditions, 2U);
}

TEST_F(S3Multipart, ACanceledPutAbortsItsUpload)
{
    answerFirst([&](const Seen& request, Connection& connection) {
        if (request.method() != "PUT")
            return false;
        task.requestStop();
        connection.hold();
        return true;
    });
    const MemoryPayload body(asBytes(text));
    const auto outcome = storeAt(settings())->put("dir/key", body, PutMode::Replace, task);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Code::Canceled);
    EXPECT_EQ(uploads.aborts, 1);
    EXPECT_EQ(noted(), 0U);
}

TEST_F(S3Multipart, OnlyWhatTheJournalNamesIsAborted)
{
    // Every abort fails, as if the process had been killed: what it noted stays.
    answerFirst([](const Seen& request, Connection& connection) {
        if (request.method() == "DELETE")
            connection.reset();
        else if (request.target().find("partNumber=2") != std::string::npos)
            connection.send(answerText(403, errorBody("AccessDenied")));
        else
            return false;
        return true;
    });
    EXPECT_FALSE(put());
    EXPECT_EQ(noted(), 1U);
    answerFirst([](const Seen&, Connection&) { return false; });
    const auto store = storeAt(settings());
    const auto all = [](std::string_view) { return true; };

    S3Settings elsewhere = settings();
    elsewhere.prefix = "other";
    EXPECT_EQ(storeAt(elsewhere)->removeTemporaries(all, anyTask()), std::size_t { 0 });
    EXPECT_EQ(store->removeTemporaries([](std::string_view name) { return name.empty(); }, anyTask()),
              std::size_t { 0 });
    folder.write("journal/foreign", "text");
    folder.write("journal/0.upload", "{}");
    EXPECT_EQ(uploads.aborts, 0);
    EXPECT_EQ(store->removeTemporaries(all, anyTask()), std::size_t { 1 });
    EXPECT_EQ(uploads.aborts, 1);
    EXPECT_EQ(server.requests().back().target(), "/bucket/dir/key?uploadId=up%2F1%2B");
    EXPECT_EQ(noted(), 2U);
    EXPECT_EQ(store->removeTemporaries(all, anyTask()), std::size_t { 0 });
}

TEST_F(S3Multipart, AnUploadUnderWayIsLeftAlone)
{
    Result<std::size_t> removed = std::size_t { 99 };
    answerFirst([&](const Seen& request, Connection&) {
        if (request.target().find("partNumber=1") != std::string::npos) // another process of this machine
            removed = storeAt(settings())->removeTemporaries([](std::string_view) { return true; }, anyTask());
        return false;
    });
    EXPECT_TRUE(put());
    EXPECT_EQ(removed, std::size_t { 0 });
    EXPECT_EQ(uploads.aborts, 0);
}

TEST(S3Remove, ManyAtOnceHaveTheirOwnOutcomes)
{
    ScriptedServer server([](const Seen&, Connection& connection) {
        connection.send(answerText(200,
                                   "<DeleteResult><Error><Key>run/b&lt;</Key><Code>AccessDenied</Code></Error>"
                                   "</DeleteResult>"));
    });
    S3Settings settings = settingsFor(server);
    settings.prefix = "run";
    const auto outcomes = storeAt(settings)->remove({ "a", "b<", "x//y", "c" }, anyTask());
    ASSERT_EQ(outcomes.size(), 4U);
    EXPECT_TRUE(outcomes[0]);
    EXPECT_EQ(outcomes[1].error().code, Code::Auth);
    EXPECT_EQ(outcomes[1].error().where, "b<");
    EXPECT_EQ(outcomes[2].error().code, Code::Usage);
    EXPECT_TRUE(outcomes[3]);
    ASSERT_EQ(server.requests().size(), 1U);
    EXPECT_EQ(server.requests()[0].target(), "/bucket?delete=");
    EXPECT_NE(server.requests()[0].body.find("<Key>run/b&lt;</Key>"), std::string::npos);
    EXPECT_EQ(server.requests()[0].header("Content-MD5").size(), 24U);
}

TEST(S3Remove, ABatchThatFailsFailsForAll)
{
    ScriptedServer server(
        [](const Seen&, Connection& connection) { connection.send(answerText(200, errorBody("InternalError"))); });
    for (const Result<void>& outcome : storeAt(settingsFor(server))->remove({ "a", "b" }, anyTask()))
        EXPECT_EQ(outcome.error().code, Code::Transient);
}

TEST(S3Remove, AnIdentityIsAConditionWhereTheServerKeepsIt)
{
    ScriptedServer server([](const Seen& request, Connection& connection) {
        connection.send(answerText(request.header("If-Match") == "\"e1\"" ? 204 : 412, ""));
    });
    S3Settings settings = settingsFor(server);
    settings.hasConditionalRemove = true;
    const auto store = storeAt(settings);
    EXPECT_TRUE(store->traits().conditionalRemove);
    const ObjectInfo same { "a", 10, "e1", 0 };
    const ObjectInfo replaced { "b", 10, "e2", 0 };
    const auto outcomes = store->remove({ same, replaced }, anyTask());
    EXPECT_TRUE(outcomes[0]);
    ASSERT_FALSE(outcomes[1]);
    EXPECT_EQ(outcomes[1].error().code, Code::Rewritten);
    EXPECT_EQ(outcomes[1].error().where, "b");
    EXPECT_EQ(server.requests().size(), 2U);
}

TEST(S3Remove, AnIdentityIsComparedWhereTheServerMayIgnoreTheCondition)
{
    ScriptedServer server([](const Seen& request, Connection& connection) {
        if (request.method() == "HEAD")
            connection.send(request.target() == "/bucket/gone" ? answerText(404, "") : headAnswer("e1", 10));
        else
            connection.send(answerText(200, "<DeleteResult></DeleteResult>"));
    });
    const auto store = storeAt(settingsFor(server));
    EXPECT_FALSE(store->traits().conditionalRemove);
    const ObjectInfo same { "a", 10, "e1", 0 };
    const ObjectInfo alsoTheSame { "d", 10, "e1", 0 };
    const ObjectInfo replaced { "b", 10, "e2", 0 };
    const ObjectInfo gone { "gone", 10, "e1", 0 };
    const auto outcomes = store->remove({ same, replaced, gone, alsoTheSame }, anyTask());
    EXPECT_TRUE(outcomes[0]);
    EXPECT_EQ(outcomes[1].error().code, Code::Rewritten);
    EXPECT_EQ(outcomes[2].error().code, Code::NotFound);
    EXPECT_TRUE(outcomes[3]);
    const Seen last = server.requests().back();
    EXPECT_EQ(last.target(), "/bucket?delete=");
    EXPECT_NE(last.body.find("<Key>a</Key>"), std::string::npos);
    EXPECT_NE(last.body.find("<Key>d</Key>"), std::string::npos);
    EXPECT_EQ(last.body.find("<Key>b</Key>"), std::string::npos);
    EXPECT_EQ(last.body.find("<Key>gone</Key>"), std::string::npos);
}

TEST(S3Remove, OnlyAwsIsKnownToKeepTheCondition)
{
    const Variables none = [](std::string_view) { return std::string(); };
    S3Settings settings;
    settings.bucket = "bucket";
    settings.isAnonymous = true;
    EXPECT_TRUE(completeSettings(settings, none)->hasConditionalRemove);
    for (const auto& [endpoint, keeps] :
         { std::pair("https://s3.eu-west-1.amazonaws.com", true), std::pair("https://s3.example.com", false),
           std::pair("https://amazonaws.com.example.com", false) }) {
        settings.endpoint = endpoint;
        EXPECT_EQ(completeSettings(settings, none)->hasConditionalRemove, keeps) << endpoint;
    }
}

TEST(S3Copy, IsBoundToItsSourceAndSeesErrorsInside)
{
    std::string answer = answerText(200, "<CopyObjectResult><ETag>&quot;e1&quot;</ETag></CopyObjectResult>");
    ScriptedServer server([&](const Seen& request, Connection& connection) {
        connection.send(request.method() == "HEAD" ? headAnswer("e1", 10) : answer);
    });
    const auto store = storeAt(settingsFor(server));
    const ObjectInfo source { "a b", 10, "e1", 0, false };
    const auto copied = store->copy(source, "to", PutMode::Replace, anyTask());
    ASSERT_TRUE(copied);
    EXPECT_EQ(*copied, (ObjectInfo { "to", 10, "e1", ModifiedUs, false }));
    EXPECT_EQ(server.requests()[0].header("x-amz-copy-source"), "/bucket/a%20b");
    EXPECT_EQ(server.requests()[0].header("x-amz-copy-source-if-match"), "\"e1\"");
    const ObjectInfo stale { "a b", 10, "e0", 0, false }; // a server that ignores the condition
    EXPECT_EQ(store->copy(stale, "to", PutMode::Replace, anyTask()).error().code, Code::Rewritten);
    answer = answerText(200, errorBody("InternalError"));
    EXPECT_EQ(store->copy(source, "to", PutMode::Replace, anyTask()).error().code, Code::Transient);
    answer = answerText(412, errorBody("PreconditionFailed"));
    EXPECT_EQ(store->copy(source, "to", PutMode::Replace, anyTask()).error().code, Code::Rewritten);
    answer = answerText(200, "<CopyObjectResult/>");
    EXPECT_EQ(store->copy(source, "to", PutMode::Replace, anyTask()).error().code, Code::Hostile);
}

} // namespace
} // namespace deltascope::s3
