#include "store/hub/hub_json.h"

#include "store/hub/hub_error.h"
#include "store/hub/hub_object.h"

#include <gtest/gtest.h>

namespace deltascope::hub {
namespace {

const std::string Hash(64, 'a');

TEST(HubJson, ReadsFilesOfBucketsAndRepositories)
{
    const auto files =
        parseHubFiles(R"([{"type":"file","path":"a/b","size":7,"xetHash":")" + Hash
                      + R"(","uploadedAt":"2026-08-21T12:34:56.789Z","mtime":"2026-08-20T00:00:00Z","more":{"x":[1]}},)"
                        R"({"type":"directory","path":"a","uploadedAt":"2026-08-21T12:34:56.789Z"},)"
                        R"({"type":"file","path":"m","size":9,"oid":"0123456789abcdef0123456789abcdef01234567",)"
                        R"("lfs":{"oid":")"
                      + std::string(64, 'B') + R"(","size":9,"pointerSize":134},"xetHash":null}])");
    ASSERT_TRUE(files) << files.error().text;
    ASSERT_EQ(files->size(), 2U);
    const HubFile bucket { "a/b", 7, Hash, "", "", "2026-08-21T12:34:56.789Z", "2026-08-20T00:00:00Z" };
    EXPECT_EQ(files->at(0), bucket);
    EXPECT_EQ(files->at(1).gitId, "0123456789abcdef0123456789abcdef01234567");
    EXPECT_EQ(files->at(1).lfsSha256, std::string(64, 'b'));
    EXPECT_TRUE(parseHubFiles("[]")->empty());
}

TEST(HubJson, RefusesFilesThatAreNone)
{
    for (const std::string& text :
         { std::string(), std::string("{}"), std::string("[1]"), std::string("<html>login</html>"),
           std::string(R"([{"type":"file","path":"a"}])"), std::string(R"([{"type":"file","path":"","size":1}])"),
           std::string(R"([{"type":"file","path":"a","size":-1}])"),
           std::string(R"([{"type":"file","path":"a","size":1.5}])"),
           std::string(R"([{"type":"file","path":"a","size":18446744073709551615}])"),
           std::string(R"([{"type":"file","path":"a","size":1,"xetHash":"abc"}])"),
           std::string(R"([{"type":"file","path":7,"size":1}])"),
           std::string(R"([{"type":"file","path":"a","size":1})"),
           R"([{"type":"file","path":")" + std::string(5000, 'a') + R"(","size":1}])", std::string(100'000, '[') }) {
        const auto files = parseHubFiles(text);
        ASSERT_FALSE(files) << text.substr(0, 80);
        EXPECT_EQ(files.error().code, Code::Hostile);
    }
}

TEST(HubJson, ReadsTimes)
{
    EXPECT_EQ(isoTimeUs("1970-01-01T00:00:00Z"), 0);
    EXPECT_EQ(isoTimeUs("2026-08-21T12:34:56.789Z"), 1'787'315'696'789'000);
    EXPECT_EQ(isoTimeUs("2026-08-21T12:34:56.123456789+00:00"), 1'787'315'696'123'456);
    EXPECT_EQ(isoTimeUs("2024-02-29T23:59:59Z"), 1'709'251'199'000'000);
    for (const char* text :
         { "", "2026", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-08-21T24:00:00Z", "2026-08-21T12:34:56",
           "2026-08-21T12:34:56+02:00", "1969-01-01T00:00:00Z", "2026-08-21T12:34:5xZ" })
        EXPECT_FALSE(isoTimeUs(text)) << text;
}

TEST(HubJson, ReadsAnswersToBatches)
{
    const auto reply =
        parseBatchReply(R"({"success":false,"processed":3,"succeeded":2,"failed":[{"path":"a","error":"no"}]})");
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->success, false);
    EXPECT_EQ(reply->processed, 3U);
    EXPECT_EQ(reply->succeeded, 2U);
    ASSERT_EQ(reply->failed.size(), 1U);
    EXPECT_EQ(reply->failed[0].path, "a");
    for (const char* text :
         { "", "[]", "{}", R"({"failed":1})", R"({"failed":[1]})", R"({"success":true,"processed":-1})" })
        EXPECT_FALSE(parseBatchReply(text)) << text;
}

TEST(HubJson, ReadsTokensAndRevisions)
{
    const auto token = parseXetToken(R"({"accessToken":"t","exp":1767225600,"casUrl":"https://cas"})");
    ASSERT_TRUE(token);
    EXPECT_EQ(token->expiresAtSeconds, 1'767'225'600);
    for (const char* text :
         { "{}", R"({"accessToken":"","exp":1,"casUrl":"https://cas"})",
           R"({"accessToken":"t","exp":"1","casUrl":"https://cas"})", R"({"accessToken":"t","exp":1})" })
        EXPECT_FALSE(parseXetToken(text)) << text;
    EXPECT_TRUE(parseRevisionInfo(R"({"id":"o/m","sha":"0123456789abcdef0123456789abcdef01234567"})"));
    EXPECT_FALSE(parseRevisionInfo(R"({"id":"o/m","sha":"main"})"));
    EXPECT_FALSE(parseRevisionInfo(R"({"id":"o/m"})"));
}

TEST(HubIdentity, IsTextAndBack)
{
    for (const std::string& text : { "xet:" + Hash + ":7:2026-08-21T12:34:56.789Z", "lfs:" + Hash + ":0:",
                                     "git:" + std::string(40, '1') + ":12:", std::string("file::5:2026") }) {
        const auto identity = HubIdentity::parse(text);
        ASSERT_TRUE(identity) << text;
        EXPECT_EQ(identity->text(), text);
    }
    for (const char* text : { "", "xet", "xet:abc:7:", "etag:abc:7:", "file:x:5:", "file::x:" })
        EXPECT_FALSE(HubIdentity::parse(text)) << text;
}

TEST(HubIdentity, TellsRewritesWithEqualBytesApart)
{
    HubFile file { "a", 7, Hash, "", "", "2026-08-21T12:34:56.789Z", "" };
    const std::string first = HubIdentity::of(file).text();
    file.uploadedAt = "2026-08-21T12:34:56.790Z";
    EXPECT_NE(HubIdentity::of(file).text(), first);
}

http::Response answerOf(int status, http::Headers headers = {}, std::string body = {})
{
    http::Response answer;
    answer.status = status;
    answer.headers = std::move(headers);
    answer.body = std::move(body);
    return answer;
}

TEST(HubError, NamesCauseAndRemedy)
{
    const Subject bucket { "bucket me/runs", "key" };
    const Error none = hubError(answerOf(401), bucket, false);
    EXPECT_EQ(none.code, Code::Auth);
    EXPECT_NE(none.text.find("no token was sent"), std::string::npos);
    EXPECT_NE(none.action.find("HF_TOKEN"), std::string::npos);
    EXPECT_EQ(none.where, "key");

    const Error wrong = hubError(answerOf(401), bucket, true);
    EXPECT_EQ(wrong.code, Code::Auth);
    EXPECT_NE(wrong.text.find("does not know the token"), std::string::npos);

    const Error hidden = hubError(answerOf(404, { { "X-Error-Code", "RepoNotFound" } }), bucket, true);
    EXPECT_EQ(hidden.code, Code::NotFound);
    EXPECT_NE(hidden.text.find("may not see it"), std::string::npos);

    EXPECT_NE(hubError(answerOf(404), bucket, false).text.find("no token was sent"), std::string::npos);
    EXPECT_EQ(hubError(answerOf(404, { { "X-Error-Code", "EntryNotFound" } }), bucket, true).code, Code::NotFound);
    EXPECT_NE(hubError(answerOf(404, { { "X-Error-Code", "RevisionNotFound" } }), bucket, true).text.find("revision"),
              std::string::npos);
    EXPECT_EQ(hubError(answerOf(403, { { "X-Error-Code", "GatedRepo" } }), bucket, true).code, Code::Auth);
    EXPECT_EQ(hubError(answerOf(403), bucket, true).code, Code::Auth);
    EXPECT_EQ(hubError(answerOf(429), bucket, true).code, Code::Transient);
    EXPECT_EQ(hubError(answerOf(503), bucket, true).code, Code::Transient);
    EXPECT_EQ(hubError(answerOf(501), bucket, true).code, Code::Unsupported);
}

TEST(HubError, RepeatsTheServersWordsOnOneLine)
{
    const Error error = hubError(answerOf(400, { { "X-Request-Id", "r-1" } }, "{\"error\":\"bad\\nthing\\u001b[31m\"}"),
                                 { "bucket me/runs", "" }, true);
    EXPECT_EQ(error.text.find('\n'), std::string::npos);
    EXPECT_EQ(error.text.find('\x1b'), std::string::npos);
    EXPECT_NE(error.text.find("bad thing"), std::string::npos);
    EXPECT_NE(error.text.find("r-1"), std::string::npos);
    const Error cut =
        hubError(answerOf(400, {}, "{\"error\":\"" + std::string(10'000, 'x') + "\"}"), { "bucket", "" }, true);
    EXPECT_LT(cut.text.size(), 400U);
}

} // namespace
} // namespace deltascope::hub
