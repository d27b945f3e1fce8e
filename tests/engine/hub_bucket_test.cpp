#include "store/hub/bucket_api.h"

#include "engine/hub_fixture.h"
#include "store/hub/hub_access.h"
#include "support/any_task.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <thread>

// The routes of a bucket against a server that answers by hand; the same against the official clients' Hub are the
// conformance tests.

namespace deltascope::hub {
namespace {

using test::answerText;
using test::anyTask;

const std::string HashA(64, 'a');

std::string fileJson(const std::string& path, std::uint64_t size = 1)
{
    return nlohmann::json { { "type", "file" }, { "path", path }, { "size", size }, { "xetHash", HashA } }.dump();
}

std::string pageOf(const std::vector<std::string>& paths)
{
    std::string all;
    for (const std::string& path : paths)
        all += (all.empty() ? "" : ",") + fileJson(path);
    return "[" + all + "]";
}

std::vector<std::string> pathsOf(const std::vector<HubFile>& files)
{
    std::vector<std::string> paths;
    for (const HubFile& file : files)
        paths.push_back(file.path);
    return paths;
}

TEST(HubBucket, ListsAllPagesInByteOrderWithoutRepeats)
{
    std::string base;
    ScriptedHub hub([&](const ScriptedHub::Request& request) {
        if (request.target().find("cursor") == std::string::npos)
            return answerText(200, pageOf({ "z", "run/b", "run/c" }),
                              "Link: <" + base + "/api/buckets/me/runs/tree?cursor=1>; rel=\"next\"\r\n");
        return answerText(200, pageOf({ "run/c", "run/a", "run" }));
    });
    base = hub.url();
    const BucketApi bucket(hub.api(), "me", "runs");
    const auto files = bucket.tree("", 100, anyTask());
    ASSERT_TRUE(files) << files.error().text;
    EXPECT_EQ(pathsOf(*files), (std::vector<std::string> { "run", "run/a", "run/b", "run/c", "z" }));
    const auto below = bucket.tree("run/", 100, anyTask());
    ASSERT_TRUE(below);
    EXPECT_EQ(pathsOf(*below), (std::vector<std::string> { "run/a", "run/b", "run/c" }));
    EXPECT_EQ(hub.targets().front(), "GET /api/buckets/me/runs/tree?recursive=true&limit=1000");
    EXPECT_EQ(hub.targets().at(2), "GET /api/buckets/me/runs/tree/run?recursive=true&limit=1000");
    EXPECT_EQ(hub.server().requests().front().header("Authorization"), "Bearer hf_very_secret");
}

TEST(HubBucket, AFailedPageIsAFailedListing)
{
    std::string base;
    ScriptedHub hub([&](const ScriptedHub::Request& request) {
        if (request.target().find("cursor") == std::string::npos)
            return answerText(200, pageOf({ "a" }), "Link: <" + base + "/next?cursor=1>; rel=\"next\"\r\n");
        return answerText(404, "{}", "X-Error-Code: RepoNotFound\r\n");
    });
    base = hub.url();
    const auto files = BucketApi(hub.api(), "me", "runs").tree("", 100, anyTask());
    ASSERT_FALSE(files);
    EXPECT_EQ(files.error().code, Code::NotFound);
}

TEST(HubBucket, TheTokenGoesToNoOtherHost)
{
    ScriptedHub other([](const ScriptedHub::Request&) { return answerText(200, "[]"); });
    ScriptedHub hub([&](const ScriptedHub::Request&) {
        return answerText(200, pageOf({ "a" }), "Link: <" + other.url("/next") + ">; rel=\"next\"\r\n");
    });
    const auto files = BucketApi(hub.api(), "me", "runs").tree("", 100, anyTask());
    ASSERT_FALSE(files);
    EXPECT_EQ(files.error().code, Code::Hostile);
    EXPECT_TRUE(other.server().requests().empty());
    EXPECT_TRUE(isDiscreet(files.error()));
}

TEST(HubBucket, PagesWithoutEndAndTooManyFilesAreRefused)
{
    std::string base;
    ScriptedHub hub([&](const ScriptedHub::Request&) {
        return answerText(200, pageOf({ "a", "b", "c" }), "Link: <" + base + "/next>; rel=\"next\"\r\n");
    });
    base = hub.url();
    const BucketApi bucket(hub.api(), "me", "runs");
    const auto endless = bucket.tree("", 100, anyTask());
    ASSERT_FALSE(endless);
    EXPECT_EQ(endless.error().code, Code::ListSuspect);
    const auto many = bucket.tree("", 2, anyTask());
    ASSERT_FALSE(many);
    EXPECT_EQ(many.error().code, Code::Hostile);
}

TEST(HubBucket, AsksForPrefixesThatAUrlKeeps)
{
    const std::vector<std::pair<std::string, std::string>> cases {
        { "", "" },        { "a", "a" },  { "a/", "a" }, { "/", "" },    { "a//b", "a" },
        { "a/..", "a" },   { "./a", "" }, { "..", "" },  { ".h", ".h" }, { "a/.h/b.", "a/.h/b." },
        { "a/../b", "a" },
    };
    for (const auto& [prefix, listed] : cases)
        EXPECT_EQ(listedPrefix(prefix), listed) << prefix;
}

TEST(HubBucket, RefusesPathsThatTheHubCannotHold)
{
    for (const char* path : { "a\\b", "\xff", "a/\xc3", "\xed\xa0\x80", "\xc0\xaf", "\xf4\x90\x80\x80", "", "../a" })
        EXPECT_FALSE(checkHubPath(path)) << path;
    for (const char* path : { "a/b", "\xc3\xa4\xe6\xbc\xa2\xf0\x9f\x98\x80", "a b\n%" })
        EXPECT_TRUE(checkHubPath(path)) << path;
}

/// Answers batches with what a test has prepared, then with success.
class BatchHub {
public:
    explicit BatchHub(std::vector<std::string> answers)
        : m_answers(std::move(answers))
        , m_hub([this](const ScriptedHub::Request& request) { return answer(request); })
    {
    }

    std::vector<Result<void>> apply(const std::vector<std::string>& paths)
    {
        std::vector<BatchOperation> operations;
        for (const std::string& path : paths)
            operations.push_back({ BatchOperation::Kind::Add, path, HashA, 1'767'225'600'000 });
        return BucketApi(m_hub.api(), "me", "runs").apply(operations, task);
    }
    /// The paths of each request.
    std::vector<std::vector<std::string>> sent() const
    {
        const std::lock_guard lock(m_mutex);
        return m_sent;
    }
    ScriptedHub& hub() { return m_hub; }

    TaskContext task;

private:
    std::string answer(const ScriptedHub::Request& request)
    {
        const std::lock_guard lock(m_mutex);
        std::vector<std::string> paths;
        std::string_view rest = request.body;
        while (!rest.empty()) {
            const auto line = nlohmann::json::parse(rest.substr(0, rest.find('\n')));
            paths.push_back(line["path"]);
            rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
        }
        m_sent.push_back(paths);
        if (!m_answers.empty()) {
            std::string next = m_answers.front();
            m_answers.erase(m_answers.begin());
            return next;
        }
        return done(paths.size());
    }
    static std::string done(std::size_t count)
    {
        return answerText(200,
                          nlohmann::json { { "success", true },
                                           { "processed", count },
                                           { "succeeded", count },
                                           { "failed", nlohmann::json::array() } }
                              .dump());
    }

    mutable std::mutex m_mutex; ///< guards what follows
    std::vector<std::string> m_answers;
    std::vector<std::vector<std::string>> m_sent;
    ScriptedHub m_hub;
};

using Sent = std::vector<std::vector<std::string>>;

const char* const OneFailed =
    R"({"success":false,"processed":3,"succeeded":2,"failed":[{"path":"b","error":"try again"}]})";

TEST(HubBatch, SendsAgainWhatA200SaysIsNotDone)
{
    BatchHub hub({ answerText(200, OneFailed) });
    const auto outcomes = hub.apply({ "a", "b", "c" });
    for (const Result<void>& outcome : outcomes)
        EXPECT_TRUE(outcome);
    EXPECT_EQ(hub.sent(), (Sent { { "a", "b", "c" }, { "b" } }));
    const auto line = nlohmann::json::parse(hub.hub().server().requests().back().body);
    EXPECT_EQ(line["type"], "addFile");
    EXPECT_EQ(line["xetHash"], HashA);
    EXPECT_EQ(line["mtime"], 1'767'225'600'000);
    EXPECT_EQ(hub.hub().server().requests().back().header("Content-Type"), "application/x-ndjson");
    EXPECT_EQ(hub.hub().clock->pauses(), (std::vector<std::chrono::milliseconds> { std::chrono::seconds(2) }));
}

TEST(HubBatch, GivesUpAfterThreeTriesAndNamesWhatFailed)
{
    const std::string failed =
        R"({"success":false,"processed":1,"succeeded":0,"failed":[{"path":"b","error":"no\nspace"}]})";
    BatchHub hub({ answerText(200, OneFailed), answerText(422, failed), answerText(422, failed) });
    const auto outcomes = hub.apply({ "a", "b", "c" });
    EXPECT_TRUE(outcomes[0]);
    EXPECT_TRUE(outcomes[2]);
    ASSERT_FALSE(outcomes[1]);
    EXPECT_EQ(outcomes[1].error().where, "b");
    EXPECT_NE(outcomes[1].error().text.find("no space"), std::string::npos);
    EXPECT_EQ(hub.sent().size(), 3U);
}

TEST(HubBatch, DoesNotBelieveAnAnswerThatDoesNotAddUp)
{
    for (const char* reply : {
             R"({"success":true,"processed":1,"succeeded":1,"failed":[]})", // of two
             R"({"success":true,"processed":2,"succeeded":1,"failed":[]})",
             R"({"success":false,"processed":2,"succeeded":2,"failed":[]})",
         }) {
        BatchHub again({ answerText(200, reply) });
        for (const Result<void>& outcome : again.apply({ "a", "b" }))
            EXPECT_TRUE(outcome) << reply;
        EXPECT_EQ(again.sent(), (Sent { { "a", "b" }, { "a", "b" } })) << reply;
        BatchHub never({ answerText(200, reply), answerText(200, reply), answerText(200, reply) });
        for (const Result<void>& outcome : never.apply({ "a", "b" }))
            EXPECT_FALSE(outcome) << reply;
    }
}

TEST(HubBatch, AnswersThatAreNoneAreErrorsOfAll)
{
    for (const std::string& answer : { answerText(200, "<html>"), answerText(200, "{}"), answerText(403, "{}"),
                                       answerText(200,
                                                  R"({"success":false,"processed":2,"succeeded":1,)"
                                                  R"("failed":[{"path":"other","error":"x"}]})") }) {
        BatchHub hub({ answer });
        for (const Result<void>& outcome : hub.apply({ "a", "b" })) {
            ASSERT_FALSE(outcome);
            EXPECT_TRUE(isDiscreet(outcome.error()));
        }
        EXPECT_EQ(hub.sent().size(), 1U);
    }
}

TEST(HubBatch, RepeatsAfterTheServersTroubleAndKeepsRequestsSmall)
{
    BatchHub hub({ answerText(503, ""), answerText(429, "", "RateLimit: \"api\";r=0;t=3\r\n") });
    std::vector<std::string> paths;
    for (int i = 0; i < 1200; ++i)
        paths.push_back("p" + std::to_string(i));
    for (const Result<void>& outcome : hub.apply(paths))
        ASSERT_TRUE(outcome);
    const Sent sent = hub.sent();
    ASSERT_EQ(sent.size(), 5U);
    EXPECT_EQ(sent[2].size(), 500U);
    EXPECT_EQ(sent[3].size(), 500U);
    EXPECT_EQ(sent[4].size(), 200U);
    const auto pauses = hub.hub().clock->pauses();
    ASSERT_EQ(pauses.size(), 2U);
    EXPECT_GE(pauses[1], std::chrono::seconds(4)); // t + 1
}

TEST(HubBatch, EndsWhenItsTaskIsStopped)
{
    BatchHub hub({ answerText(200, OneFailed), answerText(200, OneFailed) });
    hub.task.requestStop();
    for (const Result<void>& outcome : hub.apply({ "a", "b", "c" })) {
        ASSERT_FALSE(outcome);
        EXPECT_EQ(outcome.error().code, Code::Canceled);
    }
}

TEST(HubBucket, CreatingWhatExistsIsNoError)
{
    for (const int status : { 200, 409 }) {
        ScriptedHub hub([=](const ScriptedHub::Request&) { return answerText(status, "{}"); });
        EXPECT_TRUE(BucketApi(hub.api(), "me", "runs").create(true, anyTask())) << status;
        EXPECT_EQ(nlohmann::json::parse(hub.server().requests().front().body)["visibility"], "private");
    }
    ScriptedHub refusing(
        [](const ScriptedHub::Request& request) { return answerText(request.method() == "POST" ? 403 : 404, "{}"); });
    const auto refused = BucketApi(refusing.api(), "me", "runs").create(true, anyTask());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::Auth);
    ScriptedHub existing(
        [](const ScriptedHub::Request& request) { return answerText(request.method() == "POST" ? 403 : 200, "{}"); });
    EXPECT_TRUE(BucketApi(existing.api(), "me", "runs").create(true, anyTask()));
}

// -- tokens for the Xet servers

std::string tokenAnswer(int number, std::int64_t lifeSeconds, const std::string& cas = "http://127.0.0.1:1/cas")
{
    const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    return answerText(200,
                      nlohmann::json { { "accessToken", "xet" + std::to_string(number) },
                                       { "exp", now + lifeSeconds },
                                       { "casUrl", cas } }
                          .dump());
}

TEST(HubAccess, AsksOnceAndAgainAMinuteBeforeTheEnd)
{
    std::atomic<int> asked = 0;
    ScriptedHub hub([&](const ScriptedHub::Request&) { return tokenAnswer(++asked, 900); });
    HubAccess access(hub.api(), "/api/buckets/me/runs", "", { "bucket me/runs", "" });
    EXPECT_EQ(access.access(xet::Scope::Read, false, anyTask())->accessToken, "xet1");
    EXPECT_EQ(access.access(xet::Scope::Read, false, anyTask())->accessToken, "xet1");
    EXPECT_EQ(access.access(xet::Scope::Write, false, anyTask())->accessToken, "xet2");
    hub.clock->goOn(std::chrono::seconds(830));
    EXPECT_EQ(access.access(xet::Scope::Read, false, anyTask())->accessToken, "xet1");
    hub.clock->goOn(std::chrono::seconds(15));
    EXPECT_EQ(access.access(xet::Scope::Read, false, anyTask())->accessToken, "xet3");
    EXPECT_EQ(access.access(xet::Scope::Read, true, anyTask())->accessToken, "xet4");
    EXPECT_EQ(hub.targets(),
              (std::vector<std::string> {
                  "GET /api/buckets/me/runs/xet-read-token", "GET /api/buckets/me/runs/xet-write-token",
                  "GET /api/buckets/me/runs/xet-read-token", "GET /api/buckets/me/runs/xet-read-token" }));
}

TEST(HubAccess, ManyWhoWaitMakeOneRequest)
{
    std::atomic<int> asked = 0;
    ScriptedHub hub([&](const ScriptedHub::Request&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        return tokenAnswer(++asked, 900);
    });
    HubAccess access(hub.api(), "/api/buckets/me/runs", "", { "bucket me/runs", "" });
    std::vector<std::thread> threads;
    std::atomic<int> good = 0;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&] {
            TaskContext task;
            const auto got = access.access(xet::Scope::Read, false, task);
            good += got && got->accessToken == "xet1" ? 1 : 0;
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(good, 8);
    EXPECT_EQ(asked, 1);
}

TEST(HubAccess, AClockThatIsAheadDoesNotAskForEachRead)
{
    std::atomic<int> asked = 0;
    ScriptedHub hub([&](const ScriptedHub::Request&) { return tokenAnswer(++asked, 900); });
    hub.clock->goOn(std::chrono::hours(2));
    HubAccess access(hub.api(), "/api/buckets/me/runs", "", { "bucket me/runs", "" });
    for (int i = 0; i < 5; ++i)
        EXPECT_TRUE(access.access(xet::Scope::Read, false, anyTask()));
    EXPECT_EQ(asked, 1);
}

TEST(HubAccess, ATokenNearItsEndGoesOnWhileNoOtherCanBeHad)
{
    std::atomic<int> asked = 0;
    ScriptedHub hub(
        [&](const ScriptedHub::Request&) { return ++asked == 1 ? tokenAnswer(1, 900) : answerText(503, "{}"); });
    HubAccess access(hub.api(), "/api/buckets/me/runs", "", { "bucket me/runs", "" });
    ASSERT_TRUE(access.access(xet::Scope::Read, false, anyTask()));
    hub.clock->goOn(std::chrono::seconds(870));
    EXPECT_EQ(access.access(xet::Scope::Read, false, anyTask())->accessToken, "xet1");
    EXPECT_EQ(access.access(xet::Scope::Read, true, anyTask()).error().code, Code::Transient); // it was refused
    EXPECT_FALSE(access.access(xet::Scope::Read, false, anyTask()));
}

TEST(HubAccess, ServersThatCannotBeAskedSafelyAreRefused)
{
    for (const char* cas : { "ftp://cas", "https://user:pw@cas", "cas", "file:///etc" }) {
        ScriptedHub hub([&](const ScriptedHub::Request&) { return tokenAnswer(1, 900, cas); });
        HubAccess access(hub.api(), "/api/buckets/me/runs", "", { "bucket me/runs", "" });
        const auto got = access.access(xet::Scope::Read, false, anyTask());
        ASSERT_FALSE(got) << cas;
        EXPECT_EQ(got.error().code, Code::Hostile) << cas;
    }
}

TEST(HubAccess, AFailureIsToldAndNotKept)
{
    std::atomic<int> asked = 0;
    ScriptedHub hub(
        [&](const ScriptedHub::Request&) { return ++asked == 1 ? answerText(403, "{}") : tokenAnswer(2, 900); });
    HubAccess access(hub.api(), "/api/buckets/me/runs", "", { "bucket me/runs", "" });
    const auto refused = access.access(xet::Scope::Write, false, anyTask());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::Auth);
    EXPECT_TRUE(isDiscreet(refused.error()));
    EXPECT_TRUE(access.access(xet::Scope::Write, false, anyTask()));
}

} // namespace
} // namespace deltascope::hub
