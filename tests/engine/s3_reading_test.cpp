#include "s3_fixture.h"

#include <atomic>
#include <fmt/format.h>

// Reads and listings before a server that lies, breaks off, and changes its objects.

namespace deltascope::s3 {
namespace {

using test::answerObject;
using test::answerText;
using test::anyTask;
using test::Connection;
using test::countOf;
using test::errorBody;
using test::ModifiedUs;
using test::ScriptedServer;
using test::Seen;
using test::ServedObject;
using test::settingsFor;
using test::storeAt;
using test::textOf;

constexpr const char* CrcHeaders = "x-amz-checksum-crc64nvme: Ffmx7kz9nB0=\r\nx-amz-checksum-type: FULL_OBJECT\r\n";
const ObjectInfo TenBytes { "key", 10, "e1", ModifiedUs, false };

/// A server with one object, which a test may change.
class S3Reading : public testing::Test {
protected:
    ServedObject object { "0123456789" };
    ScriptedServer server { [this](const Seen& request, Connection& connection) {
        connection.send(answerObject(request, object));
    } };
    std::shared_ptr<S3Store> store = storeAt(settingsFor(server));
};

std::string answerOf(const std::string& answer, const ObjectRef& wanted = TenBytes)
{
    ScriptedServer server([&](const Seen&, Connection& connection) { connection.send(answer); });
    return textOf(*storeAt(settingsFor(server)), wanted, 2, 4);
}

std::string partAnswer(std::string_view body, std::string_view range, std::string_view etag = "\"e1\"")
{
    return answerText(206, body, fmt::format("Content-Range: bytes {}\r\nETag: {}\r\n", range, etag));
}

TEST_F(S3Reading, StatSaysWhatHeadSays)
{
    EXPECT_EQ(*store->stat("key", anyTask()), TenBytes);
    EXPECT_EQ(server.requests()[0].header("x-amz-checksum-mode"), "ENABLED");
}

TEST_F(S3Reading, ReadsAreBoundToTheirIdentity)
{
    EXPECT_EQ(textOf(*store, TenBytes, 2, 4), "2345");
    EXPECT_EQ(server.requests()[0].header("If-Match"), "\"e1\"");
    EXPECT_EQ(server.requests()[0].header("Range"), "bytes=2-5");
    object = { "other text", "e2" };
    EXPECT_EQ(textOf(*store, TenBytes, 2, 4), "DS-REWRITTEN");
    EXPECT_EQ(textOf(*store, "key", 2, 4), "her ");
}

TEST(S3Answers, AWholeObjectInPlaceOfARangeIsAskedForAgain)
{
    const ServedObject object { "0123456789" };
    std::atomic<int> asks = 0;
    ScriptedServer server([&](const Seen& request, Connection& connection) {
        connection.send(asks++ == 0 ? answerText(200, object.bytes, "ETag: \"e1\"\r\n")
                                    : answerObject(request, object));
    });
    EXPECT_EQ(textOf(*storeAt(settingsFor(server)), TenBytes, 2, 4), "2345");
    EXPECT_EQ(countOf(server, "GET"), 2U);
}

TEST(S3Answers, OnesOfOtherBytesNeverPass)
{
    EXPECT_EQ(answerOf(partAnswer("2345", "2-5/10")), "2345"); // what a right one looks like
    EXPECT_EQ(answerOf(answerText(200, "0123456789", "ETag: \"e1\"\r\n")), "DS-UNSUPPORTED");
    EXPECT_EQ(answerOf(answerText(200, "2345", "ETag: \"e1\"\r\n")), "DS-UNSUPPORTED");
    EXPECT_EQ(answerOf(answerText(206, "2345", "ETag: \"e1\"\r\n")), "DS-UNSUPPORTED");
    EXPECT_EQ(answerOf(partAnswer("1234", "1-4/10")), "DS-UNSUPPORTED");
    EXPECT_EQ(answerOf(partAnswer("3456", "3-6/10")), "DS-UNSUPPORTED");
    EXPECT_EQ(answerOf(partAnswer("23456", "2-6/10")), "DS-UNSUPPORTED");
    EXPECT_EQ(answerOf(partAnswer("2345", "2-5/*")), "DS-UNSUPPORTED");
    EXPECT_EQ(answerOf(partAnswer("234", "2-4/10")), "DS-NETWORK"); // fewer than there are
    EXPECT_EQ(answerOf(partAnswer("234", "2-5/10")), "DS-NETWORK"); // and than it says
    EXPECT_EQ(answerOf(partAnswer("23", "2-3/4")), "DS-TRUNCATED");
    EXPECT_EQ(answerOf(partAnswer("2345", "2-5/10", "\"e2\"")), "DS-REWRITTEN"); // If-Match was ignored
    EXPECT_EQ(answerOf(answerText(206, "2345", "Content-Range: bytes 2-5/10\r\n")), "DS-UNSUPPORTED"); // no ETag
    EXPECT_EQ(answerOf(answerText(206, "2345", "Content-Range: bytes 2-5/10\r\n"), "key"),
              "2345"); // none was asked for
    EXPECT_EQ(answerOf(answerText(416, errorBody("InvalidRange"), "Content-Range: bytes */1\r\n")), "DS-TRUNCATED");
}

TEST_F(S3Reading, AnOverwrittenVersionIsReadByItsId)
{
    object.lines = "x-amz-version-id: v1\r\n";
    ASSERT_TRUE(store->stat("key", anyTask()));
    ScriptedServer versions([&](const Seen& request, Connection& connection) {
        const bool isOld = request.target().find("versionId=v1") != std::string::npos;
        connection.send(
            answerObject(request, isOld || request.method() == "HEAD" ? object : ServedObject { "new", "e2" }));
    });
    const auto other = storeAt(settingsFor(versions));
    EXPECT_EQ(textOf(*other, TenBytes, 2, 4), "DS-REWRITTEN"); // its id is not known
    ASSERT_TRUE(other->stat("key", anyTask()));
    EXPECT_EQ(textOf(*other, TenBytes, 2, 4), "2345");
}

TEST_F(S3Reading, NeighboursShareARequest)
{
    object.bytes.assign(1'000'000, 'x');
    for (std::size_t i = 0; i < object.bytes.size(); ++i)
        object.bytes[i] = static_cast<char>('a' + i * 7 % 26);
    const ObjectInfo info { "key", 1'000'000, "e1", 0, false };
    std::vector<std::string> room(6, std::string(1000, '?'));
    std::vector<RangeRead> reads;
    for (const std::uint64_t offset : { 500'000U, 0U, 1000U, 30'000U, 30'500U, 900'000U })
        reads.push_back({ info, offset, std::as_writable_bytes(std::span(room[reads.size()])) });
    for (const Result<void>& outcome : store->readMany(reads, anyTask()))
        EXPECT_TRUE(outcome);
    for (std::size_t i = 0; i < room.size(); ++i)
        EXPECT_EQ(room[i], object.bytes.substr(reads[i].offset, 1000)) << i;
    EXPECT_EQ(countOf(server, "GET"), 3U);
}

TEST_F(S3Reading, LargeReadsAreCutAndStayOfOneObject)
{
    object.bytes.assign((std::size_t { 20 } << 20) + 3, 'a');
    object.bytes.back() = 'z';
    const std::string got = textOf(*store, "key", 1, object.bytes.size() - 1);
    EXPECT_TRUE(got == object.bytes.substr(1));
    EXPECT_EQ(countOf(server, "GET"), 3U);
    for (const Seen& request : server.requests()) {
        if (request.method() == "GET") {
            EXPECT_EQ(request.header("If-Match"), "\"e1\"");
        }
    }
}

TEST_F(S3Reading, EachReadOfABatchHasItsOwnOutcome)
{
    std::vector<std::string> room(3, "??");
    const auto out = [&](std::size_t i) { return std::as_writable_bytes(std::span(room[i])); };
    const auto outcomes =
        store->readMany({ { TenBytes, 9, out(0) }, { TenBytes, 4, out(1) }, { "a//b", 0, out(2) } }, anyTask());
    EXPECT_EQ(outcomes[0].error().code, Code::Truncated);
    EXPECT_TRUE(outcomes[1]);
    EXPECT_EQ(room[1], "45");
    EXPECT_EQ(outcomes[2].error().code, Code::Usage);
}

TEST_F(S3Reading, WhatWasReadIsProvenByTheChecksumOfTheStore)
{
    object.lines = CrcHeaders;
    EXPECT_EQ(store->proofOf(TenBytes), ReadProof::Partial);
    EXPECT_EQ(textOf(*store, TenBytes, 4, 6), "456789");
    EXPECT_EQ(store->proofOf(TenBytes), ReadProof::Partial);
    EXPECT_EQ(textOf(*store, TenBytes, 0, 5), "01234");
    EXPECT_EQ(store->proofOf(TenBytes), ReadProof::Proven);
    EXPECT_EQ(countOf(server, "HEAD"), 0U);
}

TEST_F(S3Reading, AFlippedBitIsFoundByTheReadThatCompletesTheObject)
{
    object.lines = CrcHeaders;
    EXPECT_EQ(textOf(*store, TenBytes, 4, 6), "456789");
    object.bytes[2] = '3';
    EXPECT_EQ(textOf(*store, TenBytes, 0, 4), "DS-DIGEST");
    EXPECT_EQ(store->proofOf(TenBytes), ReadProof::Partial);
}

TEST_F(S3Reading, WhatIsReadAgainIsComparedAgain)
{
    object.lines = CrcHeaders;
    EXPECT_EQ(textOf(*store, TenBytes, 0, 10), "0123456789");
    EXPECT_EQ(store->proofOf(TenBytes), ReadProof::Proven);
    object.bytes[2] = '3';
    EXPECT_EQ(textOf(*store, TenBytes, 0, 4), "0133");
    EXPECT_EQ(store->proofOf(TenBytes), ReadProof::Partial);
    object.bytes[2] = '2';
    EXPECT_EQ(textOf(*store, TenBytes, 4, 6), "DS-DIGEST");
    EXPECT_EQ(textOf(*store, TenBytes, 0, 10), "0123456789");
    EXPECT_EQ(store->proofOf(TenBytes), ReadProof::Proven);
}

/// One object of ten bytes; a bit of byte 2 is turned in the first answers that hold it.
class S3Flips : public S3Reading {
protected:
    std::shared_ptr<S3Store> storeThatFlips(int times)
    {
        object.lines = CrcHeaders;
        flips = times;
        return storeAt(settingsFor(flipping));
    }

    std::atomic<int> flips = 0;
    ScriptedServer flipping { [this](const Seen& request, Connection& connection) {
        ServedObject sent = object;
        const bool holdsIt = request.method() == "GET" && request.header("Range").starts_with("bytes=0-");
        if (holdsIt && flips-- > 0)
            sent.bytes[2] = static_cast<char>(sent.bytes[2] ^ 1);
        connection.send(answerObject(request, sent));
    } };
    TaskContext task;
    std::string text = std::string(10, '?');

    Result<void> read(S3Store& from, std::uint64_t offset = 0, std::size_t bytes = 10)
    {
        return from.read(TenBytes, offset, std::as_writable_bytes(std::span(text)).first(bytes), task);
    }
};

TEST_F(S3Flips, BytesThatCameWrongAreFetchedAgainAndNoted)
{
    for (const int times : { 0, 1, 2, 3 }) {
        SCOPED_TRACE(times);
        TaskContext fresh;
        const auto store = storeThatFlips(times);
        ASSERT_TRUE(store->read(TenBytes, 0, std::as_writable_bytes(std::span(text)), fresh));
        EXPECT_EQ(text, "0123456789");
        EXPECT_EQ(store->proofOf(TenBytes), ReadProof::Proven);
        ASSERT_EQ(fresh.notices().size(), times == 0 ? 0U : 1U);
        if (times > 0) {
            EXPECT_EQ(fresh.notices().front().where, "key");
        }
    }
}

TEST_F(S3Flips, TheSameWrongBytesEachTimeAreDamage)
{
    const auto store = storeThatFlips(1000);
    const Result<void> outcome = read(*store);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Code::Digest);
    EXPECT_NE(outcome.error().text.find("the same wrong bytes each time"), std::string::npos) << outcome.error().text;
    EXPECT_TRUE(task.notices().empty());
    EXPECT_EQ(countOf(flipping, "GET"), 4U);
}

TEST_F(S3Flips, OnlyTheReadThatCompletesIsMended)
{
    const auto store = storeThatFlips(1);
    ASSERT_TRUE(read(*store, 5, 5)); // right, and given away before
    ASSERT_TRUE(read(*store, 0, 5));
    EXPECT_EQ(text.substr(0, 5), "01234");
    EXPECT_EQ(store->proofOf(TenBytes), ReadProof::Proven);
}

TEST_F(S3Flips, WhatWasGivenAwayBeforeIsAnErrorThatSaysThatItPasses)
{
    const auto store = storeThatFlips(1);
    ASSERT_TRUE(read(*store, 0, 5)); // wrong, and nothing shows it yet
    const Result<void> outcome = read(*store, 5, 5);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Code::Digest);
    EXPECT_NE(outcome.error().text.find("comes right now"), std::string::npos) << outcome.error().text;
    EXPECT_EQ(task.notices().size(), 1U);
    ASSERT_TRUE(read(*store));
    EXPECT_EQ(text, "0123456789");
}

TEST_F(S3Flips, AReadOfAnyIdentityIsMendedToo)
{
    const auto store = storeThatFlips(1);
    EXPECT_EQ(textOf(*store, "key", 0, 10), "0123456789");
}

TEST_F(S3Flips, ASha256OfTheWholeIsComparedToo)
{
    const auto store = storeThatFlips(1);
    object.lines = "x-amz-checksum-sha256: hNiYd/DUBB77a/kaFvAkjy/Vc+avBcGflr7bn4gveII=\r\n";
    ASSERT_TRUE(read(*store));
    EXPECT_EQ(text, "0123456789");
    EXPECT_EQ(task.notices().size(), 1U);
}

TEST(S3LateChecksums, AreAskedForOnceWhereRangesDoNotTellThem)
{
    for (const auto& [line, expected] :
         { std::pair(std::string(CrcHeaders), "0123456789"),
           std::pair(std::string("x-amz-checksum-crc64nvme: AAAAAAAAAAA=\r\n"), "DS-DIGEST") }) {
        ServedObject object { "0123456789" };
        ScriptedServer server([&, told = line](const Seen& request, Connection& connection) {
            object.lines = request.method() == "HEAD" ? told : "";
            connection.send(answerObject(request, object));
        });
        const auto store = storeAt(settingsFor(server));
        EXPECT_EQ(textOf(*store, TenBytes, 0, 10), expected);
        EXPECT_EQ(countOf(server, "HEAD"), 1U);
    }
}

TEST_F(S3Reading, AStoreWithoutChecksumsIsNotAskedForEver)
{
    for (int i = 0; i < 20; ++i) {
        object.etag = "e" + std::to_string(i);
        EXPECT_EQ(textOf(*store, ObjectInfo { "key", 10, object.etag, 0, false }, 0, 10), "0123456789");
        EXPECT_EQ(store->proofOf(ObjectInfo { "key", 10, object.etag, 0, false }), ReadProof::None);
    }
    EXPECT_EQ(countOf(server, "HEAD"), 8U);
}

TEST(S3OptionalHeaders, AreLeftOutWhereTheServerRefusesThem)
{
    ServedObject object { "0123456789" };
    for (const int status : { 400, 501 }) {
        ScriptedServer server([&](const Seen& request, Connection& connection) {
            const bool isRefused = !request.header("x-amz-checksum-mode").empty();
            const bool isSilent = request.method() == "HEAD";
            connection.send(isRefused ? answerText(status, isSilent ? "" : errorBody("InvalidArgument"))
                                      : answerObject(request, object));
        });
        const auto store = storeAt(settingsFor(server));
        for (int i = 0; i < 2; ++i) {
            const auto info = store->stat("key", anyTask());
            ASSERT_TRUE(info) << info.error().text;
            EXPECT_EQ(textOf(*store, *info, 0, 10), "0123456789");
        }
        std::size_t refused = 0;
        for (const Seen& request : server.requests())
            refused += request.header("x-amz-checksum-mode").empty() ? 0 : 1;
        EXPECT_EQ(refused, 1U); // the store remembers it
    }
}

TEST(S3OptionalHeaders, AreKeptWhereTheyAreNotTheReason)
{
    ServedObject object { "0123456789" };
    bool isGood = false;
    ScriptedServer server([&](const Seen& request, Connection& connection) {
        connection.send(isGood ? answerObject(request, object) : answerText(400, errorBody("InvalidRequest")));
    });
    const auto store = storeAt(settingsFor(server));
    EXPECT_NE(textOf(*store, TenBytes, 0, 10), "0123456789");
    isGood = true;
    EXPECT_EQ(textOf(*store, TenBytes, 0, 10), "0123456789");
    EXPECT_EQ(server.requests().back().header("x-amz-checksum-mode"), "ENABLED");
}

TEST_F(S3Reading, ARedirectIsFollowedWithoutTheSignature)
{
    ScriptedServer front([&](const Seen& request, Connection& connection) {
        if (request.method() == "GET")
            connection.send(answerText(302, "", "Location: " + server.url("/cdn/object?token=1") + "\r\n"));
        else
            connection.send(answerObject(request, object));
    });
    const auto gateway = storeAt(settingsFor(front));
    ScriptedServer::Request seen;
    EXPECT_EQ(textOf(*gateway, TenBytes, 2, 4), "2345");
    EXPECT_EQ(server.requests()[0].header("Authorization"), "");
    EXPECT_EQ(server.requests()[0].header("Range"), "bytes=2-5");
    EXPECT_EQ(countOf(front, "HEAD"), 1U); // whether it was still that object
    object.etag = "e2";
    EXPECT_EQ(textOf(*gateway, TenBytes, 2, 4), "DS-REWRITTEN");
}

std::string listing(std::string_view entries, bool more = false)
{
    return answerText(
        200,
        fmt::format("<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
                    "<IsTruncated>{}</IsTruncated><EncodingType>url</EncodingType>{}</ListBucketResult>",
                    more, entries));
}

std::string entry(std::string_view key, std::string_view etag = "&quot;e1&quot;", std::string_view size = "10")
{
    return fmt::format("<Contents><Key>{}</Key><LastModified>2024-05-17T08:11:02.345Z</LastModified><ETag>{}</ETag>"
                       "<Size>{}</Size></Contents>",
                       key, etag, size);
}

Result<ListPage> listed(const std::string& answer, const ListRequest& request = {})
{
    ScriptedServer server([&](const Seen&, Connection& connection) { connection.send(answer); });
    return storeAt(settingsFor(server))->list(request, anyTask());
}

TEST(S3Listing, DecodesKeysAndSkipsWhatIsNoKey)
{
    const Result<ListPage> page =
        listed(listing(entry("a%20b%2B%C3%BC") + entry("a%2F%2Fb") + entry("folder%2F") + entry("x+y")));
    ASSERT_TRUE(page) << page.error().text;
    ASSERT_EQ(page->objects.size(), 2U);
    EXPECT_EQ(page->objects[0], (ObjectInfo { "a b+\u00fc", 10, "e1", ModifiedUs, false }));
    EXPECT_EQ(page->objects[1].key, "x y");
    EXPECT_FALSE(page->more);
}

TEST(S3Listing, GoesOnBehindWhatItSkips)
{
    std::atomic<int> pages = 0;
    ScriptedServer server([&](const Seen&, Connection& connection) {
        connection.send(pages++ == 0 ? listing(entry("p%2Fa%2F"), true) : listing(entry("p%2Fb")));
    });
    S3Settings settings = settingsFor(server);
    settings.prefix = "p";
    const Result<ListPage> page = storeAt(settings)->list({}, anyTask());
    ASSERT_TRUE(page);
    EXPECT_EQ(page->objects.front().key, "b");
    EXPECT_EQ(server.requests()[1].target(),
              "/bucket?encoding-type=url&list-type=2&max-keys=1000&prefix=p%2F&start-after=p%2Fa%2F");
}

TEST(S3Listing, RefusesWhatWasNotAskedFor)
{
    const auto codeOf = [](const Result<ListPage>& page) { return page ? "none" : word(page.error().code); };
    EXPECT_EQ(codeOf(listed(listing(entry("b") + entry("a")))), "DS-LIST-SUSPECT");
    EXPECT_EQ(codeOf(listed(listing(entry("a") + entry("a")))), "DS-LIST-SUSPECT");
    EXPECT_EQ(codeOf(listed(listing(entry("a")), { "", "a", 10 })), "DS-LIST-SUSPECT"); // repeats a page
    EXPECT_EQ(codeOf(listed(listing(entry("b")), { "a", "", 10 })), "DS-LIST-SUSPECT");
    EXPECT_EQ(codeOf(listed(listing(entry("a") + entry("b")), { "", "", 1 })), "DS-LIST-SUSPECT");
    EXPECT_EQ(codeOf(listed(listing("", true))), "DS-LIST-SUSPECT");
}

TEST(S3Listing, RefusesXmlThatIsNoListing)
{
    const std::string whole = listing(entry("a")).substr(listing(entry("a")).find("<?xml"));
    const std::vector<std::string> bodies {
        "",
        "text",
        whole.substr(0, whole.size() - 5),
        whole + "<x/>",
        "<Other/>",
        "<!DOCTYPE a [<!ENTITY x \"y\">]><ListBucketResult><IsTruncated>&x;</IsTruncated></ListBucketResult>",
        "<ListBucketResult><EncodingType>url</EncodingType></ListBucketResult>",
        "<ListBucketResult><IsTruncated>false</IsTruncated><EncodingType>rot13</EncodingType></ListBucketResult>",
        std::string(20, '<'),
        std::string("<a>") + std::string(100'000, 'b'),
    };
    for (const std::string& body : bodies) {
        const Result<ListPage> page = listed(answerText(200, body));
        ASSERT_FALSE(page) << body.substr(0, 100);
        EXPECT_EQ(page.error().code, Code::Hostile) << body.substr(0, 100);
    }
    for (const std::string& bad : { entry("%zz"), entry(""), entry("a", ""), entry("a", "&quot;e1&quot;", "-1"),
                                    entry("a", "&quot;e1&quot;", "99999999999999999999") }) {
        const Result<ListPage> page = listed(listing(bad));
        ASSERT_FALSE(page) << bad;
        EXPECT_EQ(page.error().code, Code::Hostile) << bad;
    }
    std::string deep;
    for (int i = 0; i < 1000; ++i)
        deep += "<a>";
    EXPECT_EQ(listed(answerText(200, deep)).error().code, Code::Hostile);
}

TEST(S3Listing, AsksNothingWhereNoKeyCanBe)
{
    ScriptedServer server([](const Seen&, Connection& connection) { connection.send(listing("")); });
    const auto store = storeAt(settingsFor(server));
    for (const ListRequest& request :
         { ListRequest { "a/", "b", 10 }, ListRequest { "/", "", 10 }, ListRequest { "a//b", "", 10 } })
        EXPECT_TRUE(store->list(request, anyTask()));
    EXPECT_TRUE(server.requests().empty());
}

} // namespace
} // namespace deltascope::s3
