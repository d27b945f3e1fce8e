#include "base/percent_code.h"
#include "store/s3/encoding.h"
#include "store/s3/sigv4.h"

#include <gtest/gtest.h>

// Signatures of version 4: AWS's published examples, and what botocore 1.40 signs (S3SigV4Auth, SigV4Auth).

namespace deltascope::s3 {
namespace {

std::chrono::system_clock::time_point at(std::time_t seconds)
{
    return std::chrono::system_clock::from_time_t(seconds);
}

constexpr std::time_t May2013 = 1'369'353'600; // 2013-05-24T00:00:00Z
constexpr std::time_t March2025 = 1'741'493'106; // 2025-03-09T04:05:06Z

const Credentials Published { "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "" };
const Credentials Botocore { "AKIDEXAMPLEKEY000000", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "" };
constexpr const char* OddKey = "odd/a b#c?d%e+f=g(h)!'i*/\u00fc\u6f22~.bin";

std::string authorization(const SignedParts& parts, const SigningScope& scope, const Credentials& keys)
{
    const Result<http::Headers> headers = signRequest(parts, scope, keys);
    return headers ? std::string(headers->find("Authorization").value_or("")) : headers.error().text;
}

std::string signatureOf(const SignedParts& parts, const SigningScope& scope, const Credentials& keys)
{
    const std::string text = authorization(parts, scope, keys);
    return text.substr(text.find("Signature=") + 10);
}

TEST(S3SigV4, MatchesThePublishedExamplesOfS3)
{
    const std::string host = "examplebucket.s3.amazonaws.com";
    const SigningScope scope { "us-east-1", "s3", at(May2013) };
    const std::string empty(EmptyPayloadHash);
    EXPECT_EQ(authorization({ "GET", host, "/test.txt", {}, { { "Range", "bytes=0-9" } }, empty }, scope, Published),
              "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
              "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
              "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
    EXPECT_EQ(
        signatureOf({ "PUT",
                      host,
                      "/test%24file.text",
                      {},
                      { { "Date", "Fri, 24 May 2013 00:00:00 GMT" }, { "x-amz-storage-class", "REDUCED_REDUNDANCY" } },
                      sha256Hex("Welcome to Amazon S3.") },
                    scope, Published),
        "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
    EXPECT_EQ(signatureOf({ "GET", host, "/", { { "lifecycle", "" } }, {}, empty }, scope, Published),
              "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
    EXPECT_EQ(
        signatureOf({ "GET", host, "/", { { "prefix", "J" }, { "max-keys", "2" } }, {}, empty }, scope, Published),
        "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST(S3SigV4, SignsOddKeysAsBotocoreDoes)
{
    const SigningScope scope { "eu-west-3", "s3", at(March2025) };
    const std::string path = "/bucket/" + percentEncode(OddKey, "/");
    EXPECT_EQ(path, "/bucket/odd/a%20b%23c%3Fd%25e%2Bf%3Dg%28h%29%21%27i%2A/%C3%BC%E6%BC%A2~.bin");
    EXPECT_EQ(percentDecode(path.substr(8)), OddKey);
    EXPECT_EQ(authorization({ "GET", "127.0.0.1:9000", path, {}, {}, std::string(EmptyPayloadHash) }, scope, Botocore),
              "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLEKEY000000/20250309/eu-west-3/s3/aws4_request, "
              "SignedHeaders=host;x-amz-content-sha256;x-amz-date, "
              "Signature=979e6aa637cb1e17a5f2e8d8d9ea01617384fbcc2e842afde1db34f1c5d6234b");
}

TEST(S3SigV4, SignsASessionTokenAndThePathOfAnEndpoint)
{
    Credentials keys = Botocore;
    keys.sessionToken = "token/with+signs==";
    const SignedParts parts { "PUT",
                              "s3.hf.co",
                              "/team/bucket/" + percentEncode(OddKey, "/"),
                              {},
                              { { "Content-MD5", "jZWkGZ6Fdq9AAmUbSDYC8Q==" }, { "If-None-Match", "*" } },
                              sha256Hex("data") };
    const Result<http::Headers> headers = signRequest(parts, { "eu-west-3", "s3", at(March2025) }, keys);
    ASSERT_TRUE(headers);
    EXPECT_EQ(headers->find("Authorization"),
              "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLEKEY000000/20250309/eu-west-3/s3/aws4_request, "
              "SignedHeaders=content-md5;host;if-none-match;x-amz-content-sha256;x-amz-date;x-amz-security-token, "
              "Signature=db28e6261f86fc9f713eb35abcafd729195a4fca4c39ed44e16d2a9336c22944");
    EXPECT_EQ(headers->find("X-Amz-Security-Token"), "token/with+signs==");
    EXPECT_EQ(headers->find("x-amz-date"), "20250309T040506Z");
}

TEST(S3SigV4, SignsQueriesInOrderAndEncoded)
{
    const SigningScope scope { "eu-west-3", "s3", at(March2025) };
    const Query listing {
        { "start-after", "a b/\u00fc" }, { "prefix", "a b/+" }, { "list-type", "2" }, { "encoding-type", "url" }
    };
    EXPECT_EQ(queryText(listing), "encoding-type=url&list-type=2&prefix=a%20b%2F%2B&start-after=a%20b%2F%C3%BC");
    EXPECT_EQ(
        signatureOf({ "GET", "bucket.s3.eu-west-3.amazonaws.com", "/", listing, {}, std::string(EmptyPayloadHash) },
                    scope, Botocore),
        "dbecc4659fc60f9971da366b6db3582b83eefa8487d5b14d1bf6b2ac5276df85");
    EXPECT_EQ(signatureOf({ "POST",
                            "localhost:1234",
                            "/bucket/k",
                            { { "uploads", "" } },
                            { { "x-amz-checksum-algorithm", "CRC64NVME" } },
                            std::string(EmptyPayloadHash) },
                          scope, Botocore),
              "39431d26183189d198f1b2d06ce8193bc7577382518e450aab03744a69980358");
}

TEST(S3SigV4, SignsOtherServicesWithoutAHashHeader)
{
    const SignedParts parts { "POST",
                              "sts.eu-west-3.amazonaws.com",
                              "/",
                              {},
                              { { "Content-Type", "application/x-www-form-urlencoded; charset=utf-8" } },
                              sha256Hex("Action=AssumeRole&Version=2011-06-15") };
    const Result<http::Headers> headers = signRequest(parts, { "eu-west-3", "sts", at(March2025) }, Botocore);
    ASSERT_TRUE(headers);
    EXPECT_EQ(headers->find("Authorization"),
              "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLEKEY000000/20250309/eu-west-3/sts/aws4_request, "
              "SignedHeaders=content-type;host;x-amz-date, "
              "Signature=c4f0fa9551bfd46401048b50a55307b4d0d8de7b119812c7aa1497ffdec52920");
    EXPECT_FALSE(headers->find("x-amz-content-sha256"));
}

TEST(S3Encoding, Base64GoesBothWaysAndRefusesTheRest)
{
    for (const auto& [plain, encoded] : { std::pair("", ""), std::pair("f", "Zg=="), std::pair("fo", "Zm8="),
                                          std::pair("foo", "Zm9v"), std::pair("foobar", "Zm9vYmFy") }) {
        EXPECT_EQ(base64Of(asBytes(plain)), encoded);
        const auto parsed = parseBase64(encoded);
        ASSERT_TRUE(parsed) << encoded;
        EXPECT_EQ(asText(*parsed), plain);
    }
    for (const char* bad : { "Zg", "Zg=", "Zh==", "Zg==x", "Z g=", "====", "Zm9v-3" })
        EXPECT_FALSE(parseBase64(bad)) << bad;
    for (const char* bad : { "%", "%4", "%zz", "a%2" })
        EXPECT_FALSE(percentDecode(bad)) << bad;
}

} // namespace
} // namespace deltascope::s3
