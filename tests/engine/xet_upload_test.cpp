#include "hash/crc.h"
#include "store/xet/shard.h"
#include "store/xet/upload.h"
#include "store/xet/xorb_record.h"

#include "engine/xet_fixture.h"
#include "support/any_task.h"
#include "support/scripted_server.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>

// Uploading, to a server that keeps what came and looks at it with nothing but the known form of xorbs and shards.

namespace deltascope::xet {
namespace {

using namespace test;
using deltascope::test::answerText;
using deltascope::test::anyTask;
using deltascope::test::ScriptedServer;
using Seen = ScriptedServer::Request;
using Connection = ScriptedServer::Connection;

/// Pauses take no time.
class NoPause final : public http::RetryClock {
public:
    std::chrono::steady_clock::time_point now() const override { return {}; }
    std::chrono::system_clock::time_point date() const override { return {}; }
    double chance() override { return 0; }
    Result<void> pause(std::chrono::milliseconds, TaskContext& task) override
    {
        ++pauses;
        return task.checkpoint();
    }
    int pauses = 0;
};

class KeepingStore {
public:
    KeepingStore()
        : server([this](const Seen& request, Connection& connection) { connection.send(answer(request)); })
    {
    }

    /// The next `times` requests like this are answered so.
    void fail(const std::string& prefix, int times, const std::string& text)
    {
        const std::lock_guard lock(m_mutex);
        m_faults[prefix] = { times, text };
    }
    std::size_t count(std::string_view prefix) const
    {
        const auto requests = server.requests();
        return static_cast<std::size_t>(std::count_if(requests.begin(), requests.end(), [prefix](const Seen& request) {
            return request.target().starts_with(prefix);
        }));
    }
    std::vector<std::string> bodies(std::string_view prefix) const
    {
        std::vector<std::string> found;
        for (const Seen& request : server.requests()) {
            if (request.target().starts_with(prefix))
                found.push_back(request.body);
        }
        return found;
    }
    int sins() const
    {
        const std::lock_guard lock(m_mutex);
        return m_sins;
    }

    bool hasGrants = true;

private:
    std::string answer(const Seen& request)
    {
        const std::lock_guard lock(m_mutex);
        const std::string target = request.target();
        const bool isSigned = target.starts_with("/signed/");
        if (isSigned != request.header("Authorization").empty()
            || (!isSigned && !request.header("Authorization").starts_with("Bearer write-token-")))
            ++m_sins;
        if (isSigned && (request.method() != "PUT" || request.header("if-none-match") != "*"))
            ++m_sins;
        for (auto& [prefix, fault] : m_faults) {
            if (target.starts_with(prefix) && fault.first > 0) {
                --fault.first;
                return fault.second;
            }
        }
        if (target.starts_with("/v1/xorb-grants/default/"))
            return grant(target.substr(24));
        if (target == "/v2/shards")
            return answerText(
                200,
                "{\"type\":\"validating\",\"verified\":1,\"total\":2}\n{\"type\":\"later\"}\n{\"type\":\"result\"}");
        return answerText(200, "{\"was_inserted\":true,\"result\":1}");
    }
    std::string grant(const std::string& xorb)
    {
        if (!hasGrants)
            return answerText(404, "no grants");
        const nlohmann::json body = { { "id", "0-" + std::to_string(++m_grants) },
                                      { "method", "PUT" },
                                      { "url", server.url("/signed/" + xorb + "?Signature=secret") },
                                      { "headers", { { "if-none-match", "*" } } } };
        return answerText(201, body.dump());
    }

    mutable std::mutex m_mutex; ///< guards what follows
    std::map<std::string, std::pair<int, std::string>> m_faults;
    int m_grants = 0;
    int m_sins = 0;

public:
    ScriptedServer server; ///< last: it uses all of the above
};

std::string unpacked(const std::string& xorb, std::vector<Chunk>& chunks)
{
    std::string all;
    ByteSpan rest = asBytes(xorb);
    RecordDecoder decoder;
    while (true) {
        const auto record = nextRecord(rest);
        EXPECT_TRUE(record);
        if (!record || !*record)
            return all;
        std::string text((*record)->bytes, '\0');
        EXPECT_TRUE(decoder.decode(**record, std::as_writable_bytes(std::span(text))));
        chunks.push_back({ chunkHash(asBytes(text)), (*record)->bytes });
        all += text;
        rest = rest.subspan(serializedBytes(**record));
    }
}

class XetUpload : public testing::Test {
protected:
    Result<FileEntry> addTo(Upload& upload, std::string_view bytes)
    {
        return upload.add(MemoryPayload(asBytes(bytes)), anyTask());
    }
    /// Uploads one file; what came of commit().
    Result<void> uploadOne(std::string_view bytes)
    {
        Upload upload(sender, access, known, options);
        DS_CHECK(addTo(upload, bytes));
        return upload.commit(anyTask());
    }
    Shard lastShard() const
    {
        const auto bodies = store.bodies("/v2/shards");
        return bodies.empty() ? Shard {} : readShard(asBytes(bodies.back())).value_or(Shard {});
    }

    KeepingStore store;
    std::shared_ptr<http::Sender> sender = std::make_shared<http::Client>();
    std::shared_ptr<FixedAccess> access = std::make_shared<FixedAccess>(store.server.url(""));
    std::shared_ptr<KnownChunks> known = std::make_shared<KnownChunks>();
    std::shared_ptr<NoPause> clock = std::make_shared<NoPause>();
    UploadOptions options { 2, 2, std::uint32_t { 16 } << 20, true, std::size_t { 16 } << 20, clock };
};

TEST_F(XetUpload, SendsTheShardsOfTheOfficialClient)
{
    for (const auto& [name, bytes] : { std::pair("empty", std::string()), std::pair("hundred", hundredBytes()),
                                       std::pair("repeat", repeatBytes()) }) {
        known->clear();
        ASSERT_TRUE(uploadOne(bytes)) << name;
        EXPECT_EQ(store.bodies("/v2/shards").back(), goldenBytes(std::string(name) + "/shard.bin")) << name;
    }
    EXPECT_EQ(store.sins(), 0);
}

TEST_F(XetUpload, AsksForGrantsAsTheOfficialClientDoes)
{
    ASSERT_TRUE(uploadOne(hundredBytes()));
    const std::string golden = goldenBytes("hundred/grant.json");
    EXPECT_EQ(store.bodies("/v1/xorb-grants/").back(), golden.substr(0, golden.find('\n')));
    EXPECT_EQ(store.bodies("/signed/").back(), goldenBytes("hundred/xorb.bin"));
    EXPECT_EQ(store.count("/v1/xorb-commits/default/" + goldenJson("hundred/hashes.json")["xorb"].get<std::string>()
                          + "/grant/0-1"),
              1U);
    EXPECT_EQ(store.count("/v1/xorbs/"), 0U);
}

TEST_F(XetUpload, PacksFilesIntoXorbsThatHoldTheirBytes)
{
    options.xorbBytes = 1 << 20;
    const std::string first = randomBytes(5, 2'000'000);
    const std::string second = gapBytes(6, 300'000);
    Upload upload(sender, access, known, options);
    const auto entry = addTo(upload, first);
    ASSERT_TRUE(entry);
    EXPECT_EQ(*entry, (FileEntry { fileHash(chunksOf(first)), first.size() }));
    ASSERT_TRUE(addTo(upload, second));
    ASSERT_TRUE(upload.commit(anyTask()));
    std::map<Hash, std::vector<Chunk>> xorbs;
    std::string all;
    for (const Seen& request : store.server.requests()) {
        if (!request.target().starts_with("/signed/"))
            continue;
        std::vector<Chunk> chunks;
        all += unpacked(request.body, chunks);
        xorbs[*Hash::parse(request.target().substr(8, 64))] = chunks;
        EXPECT_EQ(xorbHash(chunks).text(), request.target().substr(8, 64));
    }
    EXPECT_EQ(xorbs.size(), 4U);
    EXPECT_EQ(all.size(), first.size() + second.size());
    const Shard shard = lastShard();
    ASSERT_EQ(shard.xorbs.size(), xorbs.size());
    for (const ShardXorb& xorb : shard.xorbs)
        EXPECT_EQ(xorb.chunks, xorbs[xorb.hash]);
    ASSERT_EQ(shard.files.size(), 2U);
    for (const ShardFile& file : shard.files) {
        std::vector<Chunk> chunks;
        for (const ShardTerm& term : file.terms) {
            const auto& of = xorbs[term.xorb];
            ASSERT_LE(term.end, of.size());
            chunks.insert(chunks.end(), of.begin() + term.first, of.begin() + term.end);
        }
        EXPECT_EQ(fileHash(chunks), file.hash);
    }
    EXPECT_EQ(upload.sentBytes(),
              store.bodies("/signed/")[0].size() + store.bodies("/signed/")[1].size()
                  + store.bodies("/signed/")[2].size() + store.bodies("/signed/")[3].size());
}

TEST_F(XetUpload, AFileMayComeInPieces)
{
    const std::string bytes = randomBytes(8, 20'000'000); // three blocks
    Upload upload(sender, access, known, options);
    std::string_view rest = bytes;
    for (std::size_t size = 1; !rest.empty(); size = size * 3 + 1) {
        ASSERT_TRUE(upload.append(asBytes(rest.substr(0, size)), anyTask()));
        rest.remove_prefix(std::min(size, rest.size()));
    }
    EXPECT_EQ(upload.commit(anyTask()).error().code, Code::Usage); // and that ends the session

    Upload again(sender, access, known, options);
    ASSERT_TRUE(again.append(asBytes(bytes).first(7), anyTask()));
    ASSERT_TRUE(again.append(asBytes(bytes).subspan(7), anyTask()));
    const auto entry = again.finish(anyTask());
    ASSERT_TRUE(entry);
    EXPECT_EQ(*entry, (FileEntry { fileHash(chunksOf(bytes)), bytes.size() }));
    const auto empty = again.finish(anyTask());
    ASSERT_TRUE(empty);
    EXPECT_EQ(*empty, FileEntry {});
    ASSERT_TRUE(again.commit(anyTask()));
    EXPECT_EQ(lastShard().files.size(), 2U);
    const std::size_t shards = store.count("/v2/shards");
    ASSERT_TRUE(again.commit(anyTask())); // nothing is left to register
    EXPECT_EQ(store.count("/v2/shards"), shards);
}

TEST_F(XetUpload, UsesLongRunsOfKnownChunksOnly)
{
    const std::string bytes = randomBytes(9, 3'000'000);
    ASSERT_TRUE(uploadOne(bytes));
    const std::vector<Chunk> chunks = chunksOf(bytes);
    const auto lengthOf = [&chunks](std::size_t count) {
        std::size_t length = 0;
        for (std::size_t i = 0; i < count; ++i)
            length += chunks[i].bytes;
        return length;
    };
    // All of it, from an earlier session.
    const std::size_t before = store.count("/signed/");
    ASSERT_TRUE(uploadOne(bytes));
    EXPECT_EQ(store.count("/signed/"), before);
    EXPECT_EQ(lastShard().xorbs.size(), 0U);
    ASSERT_EQ(lastShard().files.size(), 1U);
    EXPECT_EQ(lastShard().files[0].terms.size(), 1U);
    // Seven chunks and something else are sent, eight and something else are not.
    const std::string seven = bytes.substr(0, lengthOf(7)) + randomBytes(10, 200'000);
    ASSERT_TRUE(uploadOne(seven));
    EXPECT_EQ(lastShard().files[0].terms.size(), 1U);
    EXPECT_GT(lastShard().xorbs.at(0).chunks.size(), 7U);
    const std::string eight = bytes.substr(0, lengthOf(8)) + randomBytes(11, 200'000);
    ASSERT_TRUE(uploadOne(eight));
    EXPECT_EQ(lastShard().files[0].terms.size(), 2U);
    EXPECT_EQ(lastShard().files[0].terms[0].end, 8U);
    // A whole file of three chunks is not sent again.
    const std::size_t sent = store.count("/signed/");
    ASSERT_TRUE(uploadOne(bytes.substr(0, lengthOf(3))));
    EXPECT_EQ(store.count("/signed/"), sent);
    EXPECT_EQ(lastShard().files[0].hash, fileHash(std::span(chunks).first(3)));
}

TEST_F(XetUpload, EqualBytesOfOneSessionGoOnce)
{
    const std::string bytes = randomBytes(13, 2'000'000);
    Upload upload(sender, access, nullptr, options);
    for (int i = 0; i < 3; ++i)
        ASSERT_TRUE(addTo(upload, bytes));
    ASSERT_TRUE(upload.commit(anyTask()));
    EXPECT_LT(upload.sentBytes(), 2'001'000U);
    EXPECT_EQ(lastShard().files.size(), 1U);
}

TEST_F(XetUpload, KnownChunksAreBoundedAndForgotten)
{
    KnownChunks few(4);
    const auto xorbOf = [](std::uint64_t seed, std::size_t count) {
        auto xorb = std::make_shared<KnownXorb>();
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::uint64_t value = seed + i;
            xorb->chunks.push_back({ chunkHash(std::as_bytes(std::span(&value, 1))), 8 });
        }
        xorb->hash = xorbHash(xorb->chunks);
        return xorb;
    };
    const auto old = xorbOf(0, 2);
    const auto young = xorbOf(100, 2);
    few.add(old);
    few.add(young);
    few.add(young);
    ASSERT_TRUE(few.find(old->chunks[1].hash));
    EXPECT_EQ(few.find(old->chunks[1].hash)->index, 1U);
    few.add(xorbOf(200, 1));
    EXPECT_FALSE(few.find(old->chunks[1].hash));
    EXPECT_TRUE(few.find(young->chunks[0].hash));
    few.add(xorbOf(300, 5)); // more than all of the room
    EXPECT_FALSE(few.find(xorbOf(300, 1)->chunks[0].hash));
    few.clear();
    EXPECT_FALSE(few.find(young->chunks[0].hash));
}

TEST_F(XetUpload, WithoutGrantsItPostsXorbs)
{
    store.hasGrants = false;
    options.xorbBytes = 1 << 20;
    ASSERT_TRUE(uploadOne(randomBytes(14, 2'000'000)));
    EXPECT_EQ(lastShard().xorbs.size(), 3U);
    EXPECT_EQ(store.count("/v1/xorbs/default/"), 3U);
    EXPECT_LE(store.count("/v1/xorb-grants/"), 2U); // two were on their way when the first answer came
    EXPECT_EQ(store.sins(), 0);
}

TEST_F(XetUpload, ABadGrantIsAskedForAgainThenNotUsed)
{
    for (const int status : { 400, 403, 409 }) {
        store.fail("/signed/", 1, answerText(status, "no"));
        ASSERT_TRUE(uploadOne(randomBytes(static_cast<std::uint64_t>(status), 9000)));
        EXPECT_EQ(store.count("/v1/xorbs/"), 0U) << status;
    }
    store.fail("/v1/xorb-commits/", 1, answerText(404, "no"));
    ASSERT_TRUE(uploadOne("once more"));
    EXPECT_EQ(store.count("/v1/xorbs/"), 0U);
    store.fail("/signed/", 3, answerText(403, "no"));
    ASSERT_TRUE(uploadOne("by post"));
    EXPECT_EQ(store.count("/v1/xorbs/"), 1U);
    store.fail("/signed/", 1, answerText(412, "there already"));
    ASSERT_TRUE(uploadOne("there"));
    EXPECT_EQ(store.count("/v1/xorbs/"), 1U);
    store.fail("/signed/", 1, answerText(500, "no"));
    ASSERT_TRUE(uploadOne("five hundred"));
    EXPECT_EQ(store.count("/v1/xorbs/"), 2U);
    store.fail("/v1/xorb-grants/", 1, answerText(200, "{}")); // it is in the store
    const std::size_t puts = store.count("/signed/");
    ASSERT_TRUE(uploadOne("known to the store"));
    EXPECT_EQ(store.count("/signed/"), puts);
    store.fail("/v1/xorb-grants/", 1, answerText(201, R"({"id":"../x","method":"PUT","url":"http://a/"})"));
    ASSERT_TRUE(uploadOne("hostile grant"));
    EXPECT_EQ(store.count("/v1/xorbs/"), 3U);
}

TEST_F(XetUpload, FailsWithItsXorbsAndRegistersNothing)
{
    store.hasGrants = false;
    store.fail("/v1/xorbs/", 1, answerText(400, "bad"));
    Upload upload(sender, access, known, options);
    ASSERT_TRUE(addTo(upload, hundredBytes()));
    const auto outcome = upload.commit(anyTask());
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Code::Io);
    EXPECT_EQ(store.count("/v2/shards") + store.count("/v1/shards"), 0U);
    EXPECT_EQ(addTo(upload, "more").error(), outcome.error());
    EXPECT_EQ(upload.commit(anyTask()).error(), outcome.error());
    EXPECT_FALSE(known->find(chunksOf(hundredBytes())[0].hash));
}

TEST_F(XetUpload, RefreshesItsAccessOnce)
{
    store.fail("/v2/shards", 1, answerText(401, "expired"));
    ASSERT_TRUE(uploadOne(hundredBytes()));
    EXPECT_EQ(access->refreshes(), 1);
    store.fail("/v2/shards", 2, answerText(401, "expired"));
    EXPECT_EQ(uploadOne("other").error().code, Code::Auth);
}

TEST_F(XetUpload, FallsBackToTheFirstFormOfShards)
{
    for (const int status : { 404, 501 }) {
        store.fail("/v2/shards", 1, answerText(status, "no"));
        ASSERT_TRUE(uploadOne(std::to_string(status)));
    }
    EXPECT_EQ(store.count("/v1/shards"), 2U);
    EXPECT_EQ(store.bodies("/v1/shards"), store.bodies("/v2/shards"));
}

TEST_F(XetUpload, AnErrorLineIsAnErrorAlthoughTheStatusIsGood)
{
    const auto outcomeOf = [this](const std::string& lines, int times) {
        store.fail("/v2/shards", times, answerText(200, lines));
        known->clear();
        const auto outcome = uploadOne(hundredBytes());
        return outcome ? Code::Internal : outcome.error().code;
    };
    const std::string final = "{\"type\":\"error\",\"message\":\"no \\u001b[1m\",\"retryable\":false}\n";
    const std::string passing =
        "{\"type\":\"committing\"}\n{\"type\":\"error\",\"message\":\"busy\",\"retryable\":true}\n";
    EXPECT_EQ(outcomeOf(final, 1), Code::Io);
    EXPECT_EQ(clock->pauses, 0);
    EXPECT_EQ(outcomeOf(passing, 2), Code::Internal); // good in the end
    EXPECT_EQ(clock->pauses, 2);
    EXPECT_EQ(outcomeOf(passing, 3), Code::Transient);
    EXPECT_EQ(outcomeOf("{\"type\":\"validating\"}\n", 3), Code::Transient); // ends without a word
    EXPECT_EQ(outcomeOf("", 3), Code::Transient);
    EXPECT_EQ(outcomeOf("no json\n[]\n{\"type\":7}\n", 3), Code::Transient);
    EXPECT_EQ(outcomeOf(std::string((1 << 20) + 1, 'x'), 1), Code::Hostile);
    EXPECT_EQ(outcomeOf("{\"type\":\"result\"}\n" + final, 1), Code::Io);
}

TEST_F(XetUpload, ForgetsWhatTheStoreHasLost)
{
    const std::string bytes = randomBytes(15, 1'000'000);
    ASSERT_TRUE(uploadOne(bytes));
    store.fail("/v2/shards", 1, answerText(400, "missing xorb"));
    const auto lost = uploadOne(bytes);
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().code, Code::Transient);
    const std::size_t sent = store.count("/signed/");
    ASSERT_TRUE(uploadOne(bytes));
    EXPECT_GT(store.count("/signed/"), sent);
    store.fail("/v2/shards", 1, answerText(400, "bad shard")); // not for lost xorbs: nothing known is used
    EXPECT_EQ(uploadOne("new").error().code, Code::Io);
}

TEST_F(XetUpload, ShardsOfLargeSessionsAreCut)
{
    options.shardBytes = 1000; // some 20 rows
    options.xorbBytes = 1 << 20;
    const std::string large = randomBytes(16, 30'000'000);
    Upload upload(sender, access, known, options);
    ASSERT_TRUE(addTo(upload, large));
    ASSERT_TRUE(addTo(upload, hundredBytes()));
    ASSERT_TRUE(upload.commit(anyTask()));
    std::map<Hash, std::vector<Chunk>> xorbs;
    std::vector<Hash> files;
    for (const std::string& body : store.bodies("/v2/shards")) {
        const auto shard = readShard(asBytes(body));
        ASSERT_TRUE(shard);
        for (const ShardXorb& xorb : shard->xorbs)
            xorbs[xorb.hash] = xorb.chunks;
        for (const ShardFile& file : shard->files) {
            std::vector<Chunk> chunks;
            for (const ShardTerm& term : file.terms) {
                ASSERT_TRUE(xorbs.contains(term.xorb)); // an earlier shard, or this one, holds it
                const auto& of = xorbs[term.xorb];
                chunks.insert(chunks.end(), of.begin() + term.first, of.begin() + term.end);
            }
            EXPECT_EQ(fileHash(chunks), file.hash);
            files.push_back(file.hash);
        }
    }
    EXPECT_EQ(files, (std::vector { fileHash(chunksOf(large)), fileHash(chunksOf(hundredBytes())) }));
    EXPECT_GT(store.count("/v2/shards"), 2U);
}

TEST_F(XetUpload, StopsWhenItIsAskedTo)
{
    TaskContext task;
    store.fail("/v1/xorb-grants/", 1, "HTTP/1.1 201 OK\r\nContent-Length: 9\r\n\r\n"); // and then nothing
    Upload upload(sender, access, known, options);
    ASSERT_TRUE(addTo(upload, hundredBytes()));
    task.requestStop();
    EXPECT_EQ(upload.commit(task).error().code, Code::Canceled);
    EXPECT_EQ(store.count("/v2/shards"), 0U);
}

TEST_F(XetUpload, WhatCannotBeReadEndsTheSession)
{
    class Short final : public Payload {
    public:
        std::uint64_t sizeBytes() const noexcept override { return 10; }
        Result<std::size_t> read(std::uint64_t, MutableByteSpan) const override { return std::size_t { 0 }; }
    };
    Upload upload(sender, access, known, options);
    EXPECT_EQ(upload.add(Short(), anyTask()).error().code, Code::Truncated);
    EXPECT_EQ(upload.commit(anyTask()).error().code, Code::Truncated);
    EXPECT_EQ(store.server.requests().size(), 0U);
}

} // namespace
} // namespace deltascope::xet
