#include "deltascope/engine/http_retry.h"
#include "store/xet/reader.h"
#include "store/xet/upload.h"

#include "engine/xet_fixture.h"
#include "support/any_task.h"

#include <cstdlib>
#include <gtest/gtest.h>

// Against a content-addressed store that others wrote. Runs where the environment names one: DELTASCOPE_TEST_CAS is the
// id of a bucket there ("user/name") that may be written to, HF_ENDPOINT and HF_TOKEN lead to its Hub. With
// DELTASCOPE_TEST_CAS_READ = "HASH:BYTES:SEED" a file of randomBytes is read that the official client uploaded. What is
// uploaded here is left in the folder DELTASCOPE_TEST_CAS_FILES under its hash, for that client to download and
// compare.

namespace deltascope::xet {
namespace {

using namespace test;
using deltascope::test::anyTask;

std::string environmentText(const char* name)
{
    const char* const value = std::getenv(name);
    return value ? value : "";
}

/// Asks the Hub that the environment names.
class HubAccess final : public AccessSource {
public:
    HubAccess(std::shared_ptr<http::Sender> sender, std::string bucket)
        : m_sender(std::move(sender))
        , m_bucket(std::move(bucket))
    {
    }
    Result<Access> access(Scope scope, bool, TaskContext& task) override
    {
        const std::lock_guard lock(m_mutex);
        std::optional<Access>& known = m_known[scope == Scope::Write ? 1 : 0];
        if (known)
            return *known;
        http::Request request;
        request.url = environmentText("HF_ENDPOINT") + "/api/buckets/" + m_bucket
            + (scope == Scope::Write ? "/xet-write-token" : "/xet-read-token");
        request.headers.add("Authorization", "Bearer " + environmentText("HF_TOKEN"));
        DS_TRY(const http::Response response, m_sender->send(request, task));
        if (!response.isGood())
            return fail(http::errorOfStatus(response.status, request.url));
        const auto answer = nlohmann::json::parse(response.body);
        known =
            Access { answer["accessToken"], std::chrono::system_clock::from_time_t(answer["exp"]), answer["casUrl"] };
        return *known;
    }

private:
    const std::shared_ptr<http::Sender> m_sender;
    const std::string m_bucket;
    std::mutex m_mutex;
    std::optional<Access> m_known[2];
};

class XetServer : public testing::Test {
protected:
    void SetUp() override
    {
        const std::string bucket = environmentText("DELTASCOPE_TEST_CAS");
        if (bucket.empty())
            GTEST_SKIP() << "DELTASCOPE_TEST_CAS names no bucket";
        access = std::make_shared<HubAccess>(sender, bucket);
    }
    FileEntry add(Upload& upload, std::string_view bytes)
    {
        const auto entry = upload.add(MemoryPayload(asBytes(bytes)), anyTask());
        EXPECT_TRUE(entry) << entry.error().text;
        return entry.value_or(FileEntry {});
    }
    void readBack(const FileEntry& entry, std::string_view bytes)
    {
        if (const std::string folder = environmentText("DELTASCOPE_TEST_CAS_FILES"); !folder.empty())
            std::ofstream(folder + "/" + entry.hash.text(), std::ios::binary) << bytes;
        Reader reader(sender, access);
        ASSERT_EQ(entry.bytes, bytes.size());
        std::string out(bytes.size(), 'x');
        const auto outcome = reader.read(entry.hash, entry.bytes, 0, std::as_writable_bytes(std::span(out)), anyTask());
        ASSERT_TRUE(outcome) << outcome.error().text << outcome.error().where;
        EXPECT_TRUE(out == bytes);
        EXPECT_EQ(reader.proofOf(entry.hash, entry.bytes), Proof::Proven);
    }

    std::shared_ptr<http::Client> client = std::make_shared<http::Client>();
    std::shared_ptr<http::Sender> sender = std::make_shared<http::RetryingSender>(*client);
    std::shared_ptr<AccessSource> access;
};

TEST_F(XetServer, TakesFilesAndGivesThemBack)
{
    std::vector<std::string> files = { "",
                                       "a",
                                       countedBytes(8192),
                                       countedBytes(131'072),
                                       countedBytes(131'073),
                                       std::string(300'000, '\0'),
                                       hundredBytes(),
                                       repeatBytes(),
                                       randomBytes(42, 4'194'304) };
    files.push_back(files[8].substr(0, 3'000'000) + "between" + files[8].substr(3'000'000)); // one of its chunks is new
    files.push_back(files[8]);
    Upload upload(sender, access);
    std::vector<FileEntry> entries;
    for (const std::string& file : files)
        entries.push_back(add(upload, file));
    const auto committed = upload.commit(anyTask());
    ASSERT_TRUE(committed) << committed.error().text;
    EXPECT_LT(upload.sentBytes(), 7'000'000U); // what repeats went once
    EXPECT_EQ(entries[7].hash.text(), goldenJson("repeat/hashes.json")["files"]["repeat.bin"]);
    for (std::size_t i = 0; i < files.size(); ++i) {
        EXPECT_EQ(entries[i].hash, fileHash(chunksOf(files[i]))) << i;
        readBack(entries[i], files[i]);
    }
}

TEST_F(XetServer, TakesALargeFileInSeveralXorbsAndSendsItOnlyOnce)
{
    const std::string bytes = gapBytes(11, 20'000'000) + randomBytes(12, 220'000'000);
    const auto known = std::make_shared<KnownChunks>();
    FileEntry entry;
    {
        Upload upload(sender, access, known);
        for (std::string_view rest = bytes; !rest.empty();
             rest.remove_prefix(std::min(rest.size(), std::size_t { 999'983 })))
            ASSERT_TRUE(upload.append(asBytes(rest.substr(0, 999'983)), anyTask()));
        const auto finished = upload.finish(anyTask());
        ASSERT_TRUE(finished) << finished.error().text;
        entry = *finished;
        const auto committed = upload.commit(anyTask());
        ASSERT_TRUE(committed) << committed.error().text;
        EXPECT_LT(upload.sentBytes(), 270'000'000U);
        EXPECT_GT(upload.sentBytes(), 220'000'000U);
    }
    readBack(entry, bytes);

    Upload again(sender, access, known);
    const std::string more = bytes + "and a little more";
    const FileEntry longer = add(again, more);
    const auto committed = again.commit(anyTask());
    ASSERT_TRUE(committed) << committed.error().text;
    EXPECT_LT(again.sentBytes(), 400'000U);
    readBack(longer, more);
}

TEST_F(XetServer, GivesPartsOfFilesThatTheOfficialClientSent)
{
    const std::string wanted = environmentText("DELTASCOPE_TEST_CAS_READ");
    if (wanted.empty())
        GTEST_SKIP() << "DELTASCOPE_TEST_CAS_READ names no file";
    const std::size_t second = wanted.rfind(':');
    const std::size_t first = wanted.rfind(':', second - 1);
    const auto hash = Hash::parse(wanted.substr(0, first));
    ASSERT_TRUE(hash);
    const std::size_t size = std::stoull(wanted.substr(first + 1, second - first - 1));
    const std::string bytes = randomBytes(std::stoull(wanted.substr(second + 1)), size);
    EXPECT_EQ(fileHash(chunksOf(bytes)), *hash);
    readBack({ *hash, size }, bytes);

    Reader reader(sender, access);
    std::vector<std::string> outs = { std::string(1, ' '), std::string(70'000, ' '), std::string(1000, ' '),
                                      std::string(std::min<std::size_t>(size, 5'000'000), ' ') };
    const std::vector<std::uint64_t> offsets = { size - 1, size / 3, size / 3 + 1'000'000, 0 };
    std::vector<FileRange> ranges;
    for (std::size_t i = 0; i < outs.size(); ++i)
        ranges.push_back({ *hash, size, offsets[i], std::as_writable_bytes(std::span(outs[i])) });
    const auto outcomes = reader.readMany(ranges, anyTask());
    for (std::size_t i = 0; i < outs.size(); ++i) {
        ASSERT_TRUE(outcomes[i]) << i << outcomes[i].error().text;
        EXPECT_TRUE(outs[i] == bytes.substr(offsets[i], outs[i].size())) << i;
    }
    EXPECT_EQ(reader.proofOf(*hash, size), Proof::Partial);
}

} // namespace
} // namespace deltascope::xet
