#include "deltascope/engine/http_retry.h"
#include "store/xet/reader.h"
#include "store/xet/reconstruction.h"

#include "engine/xet_fixture.h"
#include "support/any_task.h"
#include "support/scripted_server.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <thread>

// Reading, from a server that answers what the official one answered for the file "repeat", or something worse.

namespace deltascope::xet {
namespace {

using namespace test;
using deltascope::test::answerText;
using deltascope::test::anyTask;
using deltascope::test::ScriptedServer;
using Seen = ScriptedServer::Request;
using Connection = ScriptedServer::Connection;

/// A store and the host of its signed addresses. Members are set before requests.
class GoldenStore {
public:
    GoldenStore()
        : server([this](const Seen& request, Connection& connection) { answer(request, connection); })
    {
    }

    std::string url() const { return server.url("/cas/"); }
    std::size_t count(std::string_view prefix) const
    {
        const auto requests = server.requests();
        return static_cast<std::size_t>(std::count_if(requests.begin(), requests.end(), [prefix](const Seen& request) {
            return request.target().starts_with(prefix);
        }));
    }

    std::string xorb = goldenBytes("repeat/xorb.bin");
    std::string v1 = goldenBytes("repeat/repeat.bin.reconstruction-v1.json");
    std::string v2 = goldenBytes("repeat/repeat.bin.reconstruction-v2.json");
    int v2Status = 200;
    int v1Status = 200;
    std::atomic<int> unauthorized = 0; ///< that many calls of the store answer 401
    std::atomic<int> refused = 0; ///< that many signed addresses answer 403
    std::function<void(Connection&, const std::string& bytes, const std::string& range)> sendBytes; ///< instead of 206
    std::atomic<int> sins = 0; ///< requests that carry what they must not, or lack what they must have
    ScriptedServer server; ///< last: it uses all of the above

private:
    void answer(const Seen& request, Connection& connection)
    {
        const std::string target = request.target();
        if (target.starts_with("/cas/"))
            describe(request, connection);
        else
            fetch(request, connection);
    }
    void describe(const Seen& request, Connection& connection)
    {
        if (!request.header("Authorization").starts_with("Bearer read-token-"))
            ++sins;
        if (unauthorized-- > 0) {
            connection.send(answerText(401, "who are you"));
            return;
        }
        const bool isSecondForm = request.target().starts_with("/cas/v2/");
        std::string text = isSecondForm ? v2 : v1;
        const std::string host = "http://cas.invalid";
        for (std::size_t at = text.find(host); at != std::string::npos; at = text.find(host))
            text.replace(at, host.size(), server.url(""));
        const int status = isSecondForm ? v2Status : v1Status;
        connection.send(answerText(status, status == 200 ? text : "no"));
    }
    void fetch(const Seen& request, Connection& connection)
    {
        if (!request.header("Authorization").empty())
            ++sins;
        if (refused-- > 0) {
            connection.send(answerText(403, "expired"));
            return;
        }
        const std::string range = request.header("Range").substr(6);
        const std::size_t first = std::stoull(range);
        const std::size_t last = std::stoull(range.substr(range.find('-') + 1));
        const std::string bytes = xorb.substr(first, last - first + 1);
        if (sendBytes)
            sendBytes(connection, bytes, range);
        else
            connection.send(answerText(206, bytes, "Content-Range: bytes " + range + "/*\r\n"));
    }
};

class XetReader : public testing::Test {
protected:
    /// All of the file, in one read.
    Result<void> readAll(Reader& reader)
    {
        out.assign(plain.size(), ' ');
        return reader.read(file, plain.size(), 0, std::as_writable_bytes(std::span(out)), anyTask());
    }
    /// Changes a byte that LZ4 took over as it is, so that only a hash can tell. Twice: nothing is changed.
    void flipLiteral()
    {
        constexpr std::size_t At = 580'000;
        store.xorb[At] = static_cast<char>(store.xorb[At] ^ 1);
    }
    Code codeOfAll()
    {
        Reader reader(sender, access);
        const auto outcome = readAll(reader);
        return outcome ? Code::Internal : outcome.error().code;
    }

    TaskContext task; ///< outlives the threads of the store
    GoldenStore store;
    std::shared_ptr<http::Sender> sender = std::make_shared<http::Client>();
    std::shared_ptr<FixedAccess> access = std::make_shared<FixedAccess>(store.url());
    const std::string plain = repeatBytes();
    const Hash file = *Hash::parse(goldenJson("repeat/hashes.json")["files"]["repeat.bin"].get<std::string>());
    std::string out;
};

TEST_F(XetReader, ReadsAndProvesAFile)
{
    Reader reader(sender, access);
    EXPECT_EQ(reader.proofOf(file, plain.size()), Proof::Unread);
    const auto outcome = readAll(reader);
    ASSERT_TRUE(outcome) << outcome.error().text;
    EXPECT_TRUE(out == plain);
    EXPECT_EQ(reader.proofOf(file, plain.size()), Proof::Proven);
    EXPECT_EQ(store.sins, 0);
}

TEST_F(XetReader, FetchesNeighbouringTermsOnce)
{
    Reader reader(sender, access);
    ASSERT_TRUE(readAll(reader));
    const auto pieces = parseReconstruction(store.v2, ReconstructionForm::V2);
    ASSERT_TRUE(pieces);
    EXPECT_EQ(pieces->terms.size(), 3U);
    EXPECT_EQ(store.count("/v1/fetch_term"), 1U);
}

TEST_F(XetReader, AnEmptyFileNeedsNoRequest)
{
    Reader reader(sender, access);
    EXPECT_TRUE(reader.read(Hash(), 0, 0, {}, anyTask()));
    EXPECT_EQ(reader.proofOf(Hash(), 0), Proof::Proven);
    EXPECT_TRUE(reader.read(file, plain.size(), 5, {}, anyTask()));
    EXPECT_EQ(store.server.requests().size(), 0U);
    std::byte byte {};
    EXPECT_EQ(reader.read(Hash(), 0, 0, { &byte, 1 }, anyTask()).error().code, Code::Truncated);
    EXPECT_EQ(reader.read(Hash(), 1, 0, { &byte, 1 }, anyTask()).error().code,
              Code::Digest); // zero is that of no bytes
    EXPECT_EQ(reader.read(file, plain.size(), plain.size(), { &byte, 1 }, anyTask()).error().code, Code::Truncated);
}

TEST_F(XetReader, AFlippedBitIsNeverSilent)
{
    std::size_t digests = 0;
    for (const std::size_t at : { std::size_t { 0 }, std::size_t { 5 }, std::size_t { 40'000 }, std::size_t { 300'001 },
                                  store.xorb.size() / 2, store.xorb.size() - 9 }) {
        store.xorb[at] = static_cast<char>(store.xorb[at] ^ 4);
        Reader reader(sender, access);
        const auto outcome = readAll(reader);
        ASSERT_FALSE(outcome) << at;
        if (outcome.error().code == Code::Digest) {
            ++digests;
            EXPECT_EQ(reader.proofOf(file, plain.size()), Proof::Refuted);
        }
        EXPECT_NE(reader.proofOf(file, plain.size()), Proof::Proven);
        store.xorb[at] = static_cast<char>(store.xorb[at] ^ 4);
    }
    EXPECT_GE(digests, 1U); // others are no frames any more
}

TEST_F(XetReader, ARefutedFileIsReadAgain)
{
    flipLiteral();
    Reader reader(sender, access);
    ASSERT_EQ(readAll(reader).error().code, Code::Digest);
    EXPECT_EQ(readAll(reader).error().code, Code::Digest);
    flipLiteral();
    EXPECT_TRUE(readAll(reader));
    EXPECT_EQ(reader.proofOf(file, plain.size()), Proof::Proven);
}

TEST_F(XetReader, AProvenFileTellsWhichReadIsBad)
{
    Reader reader(sender, access);
    ASSERT_TRUE(readAll(reader));
    flipLiteral();
    EXPECT_EQ(readAll(reader).error().code, Code::Digest);
    flipLiteral();
    EXPECT_EQ(reader.proofOf(file, plain.size()), Proof::Proven);
    EXPECT_TRUE(readAll(reader));
}

TEST_F(XetReader, PartsAreUnprovenUntilTheyCoverTheFile)
{
    store.v2 = goldenBytes("repeat/repeat.bin.reconstruction-v2-range.json");
    Reader reader(sender, access);
    std::string part(40, ' ');
    const std::size_t middle = plain.size() / 2 - 20;
    const auto outcome = reader.read(file, plain.size(), middle, std::as_writable_bytes(std::span(part)), anyTask());
    ASSERT_TRUE(outcome) << outcome.error().text;
    EXPECT_EQ(part, plain.substr(middle, 40));
    EXPECT_EQ(reader.proofOf(file, plain.size()), Proof::Partial);
    const Seen asked = store.server.requests().front();
    EXPECT_EQ(asked.header("Range"), "bytes=1572844-1572883");
    store.v2 = goldenBytes("repeat/repeat.bin.reconstruction-v2.json");
    ASSERT_TRUE(readAll(reader));
    EXPECT_EQ(reader.proofOf(file, plain.size()), Proof::Proven);
}

TEST_F(XetReader, APartThatWasWrongRefutesTheFileLater)
{
    store.v2 = goldenBytes("repeat/repeat.bin.reconstruction-v2-range.json");
    flipLiteral(); // in the one chunk of the part
    Reader reader(sender, access);
    std::string part(40, ' ');
    const auto outcome =
        reader.read(file, plain.size(), plain.size() / 2 - 20, std::as_writable_bytes(std::span(part)), anyTask());
    ASSERT_TRUE(outcome) << outcome.error().text;
    EXPECT_EQ(reader.proofOf(file, plain.size()), Proof::Partial);
    store.xorb = goldenBytes("repeat/xorb.bin");
    store.v2 = goldenBytes("repeat/repeat.bin.reconstruction-v2.json");
    TaskContext task;
    std::string text(plain.size(), '?');
    const auto whole = reader.read(file, plain.size(), 0, std::as_writable_bytes(std::span(text)), task);
    ASSERT_FALSE(whole);
    EXPECT_EQ(whole.error().code, Code::Digest);
    EXPECT_NE(whole.error().text.find("comes right now"), std::string::npos) << whole.error().text;
    EXPECT_EQ(task.notices().size(), 1U);
    EXPECT_EQ(reader.proofOf(file, plain.size()), Proof::Proven);
}

TEST_F(XetReader, ManyRangesShareWhatTheyNeed)
{
    Reader reader(sender, access);
    const std::vector<std::pair<std::size_t, std::size_t>> wanted = {
        { 0, plain.size() }, { 5, 1 }, { 1'000'000, 400'000 }, { plain.size() - 7, 7 }, { 0, 0 }, { 99, 1'500'000 }
    };
    std::vector<std::string> outs;
    for (const auto& [offset, size] : wanted)
        outs.emplace_back(size, ' ');
    std::vector<FileRange> ranges;
    for (std::size_t i = 0; i < wanted.size(); ++i)
        ranges.push_back({ file, plain.size(), wanted[i].first, std::as_writable_bytes(std::span(outs[i])) });
    ranges.push_back({ file, plain.size(), plain.size(), std::as_writable_bytes(std::span(outs[1])) });
    const auto outcomes = reader.readMany(ranges, anyTask());
    ASSERT_EQ(outcomes.size(), ranges.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        ASSERT_TRUE(outcomes[i]) << outcomes[i].error().text;
        EXPECT_TRUE(outs[i] == plain.substr(wanted[i].first, wanted[i].second)) << i;
    }
    EXPECT_EQ(outcomes.back().error().code, Code::Truncated);
    EXPECT_EQ(store.count("/cas/v2/"), 1U);
    EXPECT_EQ(store.count("/v1/fetch_term"), 1U);
}

TEST_F(XetReader, ForgetsFilesThatItHasNoRoomFor)
{
    ReaderOptions options;
    options.ledgerChunks = 44; // the file has 45
    Reader reader(sender, access, options);
    ASSERT_TRUE(readAll(reader));
    EXPECT_TRUE(out == plain);
    EXPECT_NE(reader.proofOf(file, plain.size()), Proof::Refuted);
}

TEST_F(XetReader, FallsBackToTheFirstForm)
{
    for (const int status : { 404, 501 }) {
        store.v2Status = status;
        Reader reader(sender, access);
        ASSERT_TRUE(readAll(reader));
        EXPECT_TRUE(out == plain);
        const std::size_t asked = store.count("/cas/v2/");
        ASSERT_TRUE(readAll(reader));
        EXPECT_EQ(store.count("/cas/v2/"), asked); // it is not asked again
    }
    store.v1Status = 404;
    EXPECT_EQ(codeOfAll(), Code::NotFound);
    store.v1Status = 500;
    EXPECT_EQ(codeOfAll(), Code::Transient);
    store.v2Status = 416;
    EXPECT_EQ(codeOfAll(), Code::Truncated);
    store.v2Status = 400;
    EXPECT_EQ(codeOfAll(), Code::Io);
}

TEST_F(XetReader, RefreshesItsAccessOnce)
{
    store.unauthorized = 1;
    Reader reader(sender, access);
    ASSERT_TRUE(readAll(reader));
    EXPECT_EQ(access->refreshes(), 1);
    store.unauthorized = 2;
    EXPECT_EQ(readAll(reader).error().code, Code::Auth);
    EXPECT_EQ(access->refreshes(), 2);
}

TEST_F(XetReader, AsksAgainWhenAddressesExpire)
{
    Reader reader(sender, access);
    store.refused = 3;
    const auto outcome = readAll(reader);
    ASSERT_TRUE(outcome) << outcome.error().text;
    EXPECT_TRUE(out == plain);
    EXPECT_EQ(store.count("/cas/v2/"), 2U);
    EXPECT_EQ(store.count("/cas/v1/"), 2U); // signs each range by itself
    store.refused = 4;
    const auto failed = readAll(reader);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, Code::Auth);
    EXPECT_EQ((failed.error().text + failed.error().where).find("term="), std::string::npos);
}

TEST_F(XetReader, OtherBytesThanAskedForAreRefused)
{
    store.sendBytes = [](Connection& connection, const std::string& bytes, const std::string&) {
        connection.send(answerText(200, bytes)); // the whole, where a range was asked for
    };
    EXPECT_EQ(codeOfAll(), Code::Hostile);
    store.sendBytes = [](Connection& connection, const std::string& bytes, const std::string& range) {
        const std::string first = range.substr(0, range.find('-') + 1);
        connection.send(answerText(206, bytes.substr(0, bytes.size() - 1),
                                   "Content-Range: bytes " + first + std::to_string(bytes.size() - 2) + "/*\r\n"));
    };
    EXPECT_EQ(codeOfAll(), Code::Truncated);
    store.sendBytes = [](Connection& connection, const std::string& bytes, const std::string& range) {
        const std::string text = answerText(206, bytes, "Content-Range: bytes " + range + "/*\r\n");
        connection.send(text.substr(0, text.size() / 2));
        connection.close();
    };
    EXPECT_EQ(codeOfAll(), Code::Transient);
    store.sendBytes = [](Connection& connection, const std::string& bytes, const std::string& range) {
        connection.send(answerText(206, bytes + "more", "Content-Range: bytes " + range + "/*\r\n"));
    };
    EXPECT_EQ(codeOfAll(), Code::Hostile);
    store.sendBytes = [](Connection& connection, const std::string&, const std::string&) {
        connection.send(answerText(410, "gone"));
    };
    EXPECT_EQ(codeOfAll(), Code::NotFound);
}

TEST_F(XetReader, ADescriptionMustCoverWhatWasAskedFor)
{
    const auto with = [this](const std::function<void(nlohmann::json&)>& change) {
        auto document = goldenJson("repeat/repeat.bin.reconstruction-v2.json");
        change(document);
        store.v2 = document.dump();
        return codeOfAll();
    };
    EXPECT_EQ(with([](auto& document) { document["terms"].erase(2); }), Code::Truncated);
    EXPECT_EQ(with([](auto& document) { document["terms"] = nlohmann::json::array(); }), Code::Truncated);
    EXPECT_EQ(with([](auto& document) { document["xorbs"] = nlohmann::json::object(); }), Code::Hostile);
    EXPECT_EQ(with([](auto& document) { document["offset_into_first_range"] = 1; }), Code::Hostile);
    EXPECT_EQ(with([](auto& document) { document["terms"][0]["range"]["end"] = 25; }), Code::Hostile); // length differs
    EXPECT_EQ(with([](auto& document) { document["terms"][2] = document["terms"][1]; }), Code::Truncated); // too long
    EXPECT_EQ(with([](auto& document) {
                  document["terms"][1]["range"] = { { "start", 0 }, { "end", 1 } };
                  document["terms"][1]["unpacked_length"] = 131'072;
              }),
              Code::Truncated);
    EXPECT_EQ(with([](auto& document) {
                  for (auto& xorb : document["xorbs"])
                      xorb[0]["url"] = "file:///etc/passwd";
              }),
              Code::Hostile);
    EXPECT_EQ(with([](auto& document) {
                  for (auto& xorb : document["xorbs"])
                      xorb[0]["ranges"][0]["chunks"]["end"] = 28; // of 27
              }),
              Code::Truncated);
}

TEST_F(XetReader, StopsWhenItIsAskedTo)
{
    store.sendBytes = [this](Connection& connection, const std::string&, const std::string&) {
        task.requestStop();
        connection.hold();
    };
    Reader reader(sender, access);
    out.assign(plain.size(), ' ');
    const auto outcome = reader.read(file, plain.size(), 0, std::as_writable_bytes(std::span(out)), task);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Code::Canceled);
}

TEST(XetReconstruction, BothFormsOfTheOfficialServerSayTheSame)
{
    const auto first =
        parseReconstruction(goldenBytes("repeat/repeat.bin.reconstruction-v1.json"), ReconstructionForm::V1);
    const auto second =
        parseReconstruction(goldenBytes("repeat/repeat.bin.reconstruction-v2.json"), ReconstructionForm::V2);
    ASSERT_TRUE(first && second);
    ASSERT_EQ(first->terms.size(), 3U);
    EXPECT_EQ(first->terms[1].first, 4U);
    EXPECT_EQ(first->terms[1].end, 22U);
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(first->terms[i].bytes, second->terms[i].bytes);
        EXPECT_EQ(first->terms[i].xorb, second->terms[i].xorb);
        bytes += first->terms[i].bytes;
    }
    EXPECT_EQ(bytes, repeatBytes().size());
}

TEST(XetReconstruction, HostileTextsAreRefused)
{
    const std::string sound = goldenBytes("hundred/hundred.bin.reconstruction-v2.json");
    ASSERT_TRUE(parseReconstruction(sound, ReconstructionForm::V2));
    const auto isRefused = [](const std::string& text, ReconstructionForm form) {
        const auto outcome = parseReconstruction(text, form);
        return !outcome && outcome.error().code == Code::Hostile;
    };
    EXPECT_TRUE(isRefused(sound, ReconstructionForm::V1));
    for (std::size_t length = 0; length + 3 < sound.size(); length += 7)
        EXPECT_TRUE(isRefused(sound.substr(0, length), ReconstructionForm::V2)) << length;
    const std::vector<std::pair<std::string, std::vector<nlohmann::json>>> lies = {
        { "/offset_into_first_range", { -1, 100, 1.5, "0", nullptr } },
        { "/terms", { nullptr, "x", { 1 }, { { { "hash", 1 } } } } },
        { "/terms/0/hash", { "xyz", 7, std::string(64, 'A') } },
        { "/terms/0/unpacked_length", { 0, -1, 131'073, 1e30 } },
        { "/terms/0/range/start", { 1, -1, 8193 } },
        { "/terms/0/range/end", { 0, 8193, 18'446'744'073'709'551'615U } },
        { "/xorbs", { nullptr, nlohmann::json::array(), { { "xyz", nlohmann::json::array() } } } },
    };
    for (const auto& [place, values] : lies) {
        for (const nlohmann::json& value : values) {
            nlohmann::json document = nlohmann::json::parse(sound);
            document[nlohmann::json::json_pointer(place)] = value;
            EXPECT_TRUE(isRefused(document.dump(), ReconstructionForm::V2)) << place << value;
        }
    }
    for (const nlohmann::json& bytes : { nlohmann::json { { "start", 5 }, { "end", 4 } },
                                         { { "start", 0 }, { "end", 7 } },
                                         { { "start", 0 }, { "end", 67'108'864 } },
                                         { { "start", 0 } } }) {
        nlohmann::json document = nlohmann::json::parse(sound);
        for (auto& xorb : document["xorbs"])
            xorb[0]["ranges"][0]["bytes"] = bytes;
        EXPECT_TRUE(isRefused(document.dump(), ReconstructionForm::V2)) << bytes;
    }
    EXPECT_TRUE(isRefused(std::string(100'000, '['), ReconstructionForm::V2));
}

} // namespace
} // namespace deltascope::xet
