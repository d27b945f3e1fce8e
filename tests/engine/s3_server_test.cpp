#include "s3_fixture.h"

#include "support/temp_dir.h"

#include <cstdlib>
#include <random>
#include <vector>

// What the conformance of stores does not ask of S3, before a real server. Only where the environment names one
// (AWS_ENDPOINT_URL_S3 and S3_BUCKET, with DELTASCOPE_TEST_STORES).

namespace deltascope::s3 {
namespace {

using test::anyTask;
using test::TempDir;
using test::textOf;

std::string bucketOfServer()
{
    const auto value = [](const char* name) {
        const char* const text = std::getenv(name);
        return std::string(text ? text : "");
    };
    const bool isWanted = !value("DELTASCOPE_TEST_STORES").empty() && !value("AWS_ENDPOINT_URL_S3").empty();
    return isWanted ? value("S3_BUCKET") : std::string();
}

std::vector<std::string> servers()
{
    return bucketOfServer().empty() ? std::vector<std::string> {} : std::vector { bucketOfServer() };
}

class S3Server : public testing::TestWithParam<std::string> {
protected:
    S3Server()
    {
        S3Settings given;
        given.bucket = GetParam();
        std::random_device device;
        given.prefix = "server/" + std::to_string(device()) + std::to_string(device());
        given.journalFolder = folder.path("journal");
        settings = *completeSettings(given, processVariables());
        const auto sender = std::make_shared<http::Client>(http::ClientOptions { 16, settings.caFile });
        store = std::make_shared<S3Store>(settings, sender, *findCredentials(settings, processVariables(), sender));
    }
    Result<ObjectInfo> put(std::string_view key, const std::string& text, PutMode mode = PutMode::Replace)
    {
        const MemoryPayload body(asBytes(text));
        return store->put(key, body, mode, anyTask());
    }

    TempDir folder;
    S3Settings settings;
    std::shared_ptr<S3Store> store;
};

std::string varied(std::size_t bytes)
{
    std::string text(bytes, '\0');
    std::mt19937 random(1);
    for (char& byte : text)
        byte = static_cast<char>(random());
    return text;
}

TEST_P(S3Server, PartsBecomeOneObjectThatIsReadBack)
{
    const std::string text = varied((std::size_t { 20 } << 20) + 7);
    const auto object = put("large", text, PutMode::IfAbsent);
    ASSERT_TRUE(object) << object.error().text;
    EXPECT_EQ(object->sizeBytes, text.size());
    EXPECT_EQ(*store->stat("large", anyTask()), *object);
    EXPECT_EQ(store->list({}, anyTask())->objects, std::vector { *object });
    EXPECT_TRUE(textOf(*store, *object, 0, text.size()) == text);
    EXPECT_EQ(textOf(*store, *object, (std::size_t { 8 } << 20) - 10, 20),
              text.substr((std::size_t { 8 } << 20) - 10, 20));
    const auto again = put("large", text, PutMode::IfAbsent);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, Code::Exists);
    const std::string shorter = text.substr(1);
    EXPECT_TRUE(put("large", shorter));
    EXPECT_EQ(textOf(*store, *object, 0, 10), "DS-REWRITTEN");
}

TEST_P(S3Server, CopiesAndRemoves)
{
    const auto source = put("a b+c/%41", "text");
    ASSERT_TRUE(source);
    const auto copied = store->copy(*source, "copy", PutMode::Replace, anyTask());
    ASSERT_TRUE(copied) << copied.error().text;
    EXPECT_EQ(copied->identity, source->identity);
    EXPECT_EQ(textOf(*store, *copied, 0, 4), "text");
    ASSERT_TRUE(put("a b+c/%41", "other"));
    const auto stale = store->copy(*source, "copy", PutMode::Replace, anyTask());
    ASSERT_FALSE(stale);
    EXPECT_EQ(stale.error().code, Code::Rewritten);
    EXPECT_EQ(store->copy("missing", "copy", PutMode::Replace, anyTask()).error().code, Code::NotFound);
    for (const Result<void>& outcome : store->remove({ "a b+c/%41", "copy", "never" }, anyTask()))
        EXPECT_TRUE(outcome) << outcome.error().text;
    EXPECT_TRUE(store->list({}, anyTask())->objects.empty());
    EXPECT_EQ(removeOne(*store, "copy", anyTask()).error().code, Code::NotFound);
}

TEST_P(S3Server, MissingBucketAndWrongKeysAreTold)
{
    S3Settings elsewhere = settings;
    elsewhere.bucket = "no-such-bucket-here";
    const auto sender = std::make_shared<http::Client>(http::ClientOptions { 16, settings.caFile });
    const S3Store missing(elsewhere, sender, *findCredentials(settings, processVariables(), sender));
    const auto page = missing.list({}, anyTask());
    ASSERT_FALSE(page);
    EXPECT_EQ(page.error().code, Code::NotFound);
    EXPECT_NE(page.error().text.find("no-such-bucket-here"), std::string::npos);
}

// moto keeps no checksums; S3_KEEPS_NO_CHECKSUMS says so.
TEST_P(S3Server, WhatIsReadIsProvenWhereTheServerKeepsChecksums)
{
    const auto object = put("small", "0123456789");
    ASSERT_TRUE(object);
    EXPECT_EQ(textOf(*store, *object, 0, 4), "0123");
    EXPECT_EQ(store->proofOf(*object), ReadProof::Partial);
    EXPECT_EQ(textOf(*store, *object, 4, 6), "456789");
    const char* const kind = std::getenv("S3_KEEPS_NO_CHECKSUMS");
    EXPECT_EQ(store->proofOf(*object), kind ? ReadProof::None : ReadProof::Proven);
    const std::string text = varied(std::size_t { 17 } << 20);
    const auto large = put("large", text);
    ASSERT_TRUE(large);
    EXPECT_TRUE(textOf(*store, *large, 0, text.size()) == text);
    EXPECT_EQ(store->proofOf(*large), kind ? ReadProof::None : ReadProof::Proven);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(S3Server);
INSTANTIATE_TEST_SUITE_P(Servers, S3Server, testing::ValuesIn(servers()));

} // namespace
} // namespace deltascope::s3
