#include "store/s3/replies.h"
#include "store/s3/s3_settings.h"

#include "support/temp_dir.h"

#include <gtest/gtest.h>
#include <map>

// What environment and config files make of a bucket's address.

namespace deltascope::s3 {
namespace {

using test::TempDir;

class S3Configuration : public testing::Test {
protected:
    Variables variables()
    {
        return [this](std::string_view name) {
            const auto found = set.find(name);
            return found == set.end() ? std::string() : found->second;
        };
    }
    S3Settings complete(S3Settings given = named("bucket"))
    {
        const Result<S3Settings> settings = completeSettings(std::move(given), variables());
        EXPECT_TRUE(settings) << settings.error().text;
        return settings ? *settings : S3Settings {};
    }
    static S3Settings named(std::string bucket)
    {
        S3Settings settings;
        settings.bucket = std::move(bucket);
        return settings;
    }
    void config(std::string_view text) { home.write(".aws/config", text); }

    TempDir home;
    std::map<std::string, std::string, std::less<>> set { { "HOME", home.path() } };
};

TEST_F(S3Configuration, NothingMeansAwsInItsFirstRegion)
{
    const S3Settings settings = complete();
    EXPECT_EQ(settings.region, "us-east-1");
    EXPECT_EQ(settings.endpoint, "");
    EXPECT_EQ(settings.profile, "default");
    EXPECT_EQ(settings.addressing, Addressing::VirtualHost);
    EXPECT_EQ(complete(named("with.dots")).addressing, Addressing::Path); // no certificate has such a host
    EXPECT_EQ(complete(named("Old_Bucket")).addressing, Addressing::Path);
}

TEST_F(S3Configuration, TheNearerSettingCountsMore)
{
    config("[default]\nregion = eu-west-1\nendpoint_url = http://profile\nservices = local\n"
           "[services local]\ns3 =\n  endpoint_url = http://section:9000/\n");
    EXPECT_EQ(complete().region, "eu-west-1");
    EXPECT_EQ(complete().endpoint, "http://section:9000");
    EXPECT_EQ(complete().addressing, Addressing::Path);
    set["AWS_DEFAULT_REGION"] = "eu-west-2";
    set["AWS_ENDPOINT_URL"] = "http://all";
    EXPECT_EQ(complete().region, "eu-west-2");
    EXPECT_EQ(complete().endpoint, "http://all");
    set["AWS_REGION"] = "eu-west-3";
    set["AWS_ENDPOINT_URL_S3"] = "http://s3.local:1";
    EXPECT_EQ(complete().region, "eu-west-3");
    EXPECT_EQ(complete().endpoint, "http://s3.local:1");
    S3Settings given = named("bucket");
    given.region = "here";
    given.endpoint = "https://given/team";
    EXPECT_EQ(complete(given).region, "here");
    EXPECT_EQ(complete(given).endpoint, "https://given/team");
    set["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"] = "true";
    EXPECT_EQ(complete().endpoint, "");
}

TEST_F(S3Configuration, ProfilesHoldTheirOwn)
{
    config("# a comment\n[default]\nregion = eu-west-1\n\n[profile other]\nregion = ap-1 ; a remark\n"
           "endpoint_url = http://other\ns3 =\n    addressing_style = virtual\n    max_concurrent_requests = 2\n"
           "ca_bundle = /ca.pem\n[plain]\nregion = no\n");
    set["AWS_PROFILE"] = "other";
    const S3Settings settings = complete();
    EXPECT_EQ(settings.region, "ap-1");
    EXPECT_EQ(settings.addressing, Addressing::VirtualHost);
    EXPECT_EQ(settings.caFile, "/ca.pem");
    set["AWS_CA_BUNDLE"] = "/mine.pem";
    set["AWS_EC2_METADATA_DISABLED"] = "true";
    EXPECT_EQ(complete().caFile, "/mine.pem");
    EXPECT_TRUE(complete().isMetadataDisabled);
    set["AWS_PROFILE"] = "plain"; // a section of the config file needs the word "profile"
    EXPECT_EQ(completeSettings(named("bucket"), variables()).error().code, Code::Usage);
}

TEST_F(S3Configuration, ServersThatIgnoreConditionsAreKnown)
{
    EXPECT_TRUE(complete().hasConditionalPut);
    S3Settings given = named("bucket");
    given.endpoint = "https://storage.googleapis.com";
    EXPECT_FALSE(complete(given).hasConditionalPut);
    given.endpoint = "https://storage.googleapis.com.example";
    EXPECT_TRUE(complete(given).hasConditionalPut);
}

TEST_F(S3Configuration, FilesMayBeElsewhere)
{
    set["AWS_CONFIG_FILE"] = home.write("config", "[default]\nregion = r1\n[profile a]\nregion=r2\n");
    set["AWS_SHARED_CREDENTIALS_FILE"] = home.write("credentials", "[a]\nregion = r3\naws_access_key_id = k\n");
    EXPECT_EQ(complete().region, "r1");
    set["AWS_PROFILE"] = "a";
    EXPECT_EQ(complete().region, "r3"); // the credentials file counts more
}

TEST_F(S3Configuration, WhatIsWrongIsToldWithoutItsContent)
{
    for (const char* text : { "[default\nkey = secret", "[default]\njust-secret\n", "[default]\n = secret\n" }) {
        config(text);
        const auto settings = completeSettings(named("bucket"), variables());
        ASSERT_FALSE(settings) << text;
        EXPECT_EQ(settings.error().code, Code::Usage);
        EXPECT_EQ(settings.error().text.find("secret"), std::string::npos) << settings.error().text;
        EXPECT_NE(settings.error().where.find("config"), std::string::npos);
    }
    config("");
    const auto refused = [&](const S3Settings& given) {
        const auto settings = completeSettings(given, variables());
        return !settings && settings.error().code == Code::Usage;
    };
    for (const char* bucket : { "", "a/b", "a?b", "..", "a b", "a%62" })
        EXPECT_TRUE(refused(named(bucket))) << bucket;
    for (const char* endpoint : { "ftp://x", "x.example", "https://user:secret@host", "https://host/?q", "https://" }) {
        S3Settings given = named("bucket");
        given.endpoint = endpoint;
        EXPECT_TRUE(refused(given)) << endpoint;
    }
    S3Settings given = named("bucket");
    given.region = "evil.example/";
    EXPECT_TRUE(refused(given));
    given = named("bucket");
    given.prefix = "a//b";
    EXPECT_TRUE(refused(given));
}

TEST_F(S3Configuration, TheCanonicalAddressNamesTheEndpoint)
{
    S3Settings settings = named("bucket");
    EXPECT_EQ(canonicalUri(settings), "s3://bucket");
    settings.prefix = "runs/a b/100%";
    EXPECT_EQ(canonicalUri(settings), "s3://bucket/runs/a%20b/100%25");
    settings.endpoint = "http://[::1]:9000/team&x+y";
    EXPECT_EQ(canonicalUri(settings), "s3://bucket/runs/a%20b/100%25?endpoint=http://[::1]:9000/team%26x%2By");
}

TEST(S3Times, AreReadInBothForms)
{
    const auto seconds = [](const auto& time) { return time ? std::chrono::system_clock::to_time_t(*time) : -1; };
    EXPECT_EQ(seconds(parseHttpDate("Sun, 06 Nov 1994 08:49:37 GMT")), 784'111'777);
    EXPECT_EQ(seconds(parseIsoTime("1994-11-06T08:49:37Z")), 784'111'777);
    EXPECT_EQ(seconds(parseIsoTime("1994-11-06T08:49:37.999Z")), 784'111'777);
    EXPECT_EQ(seconds(parseIsoTime("1994-11-06T08:49:37+00:00")), 784'111'777);
    EXPECT_EQ(seconds(parseIsoTime("9999-12-31T23:59:59Z")), 7'258'118'400); // the clock of the system ends before
    for (const char* bad :
         { "", "1994-11-06", "1994-13-06T08:49:37Z", "1994-02-30T08:49:37Z", "1994-11-06T24:49:37Z",
           "1994-11-06T08:49:37", "1994-11-06T08:49:37+02:00", "1969-11-06T08:49:37Z", "199x-11-06T08:49:37Z" })
        EXPECT_FALSE(parseIsoTime(bad)) << bad;
    for (const char* bad :
         { "", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08-49-37 GMT" })
        EXPECT_FALSE(parseHttpDate(bad)) << bad;
}

TEST(S3Etags, LoseTheirQuotes)
{
    EXPECT_EQ(etagOf("\"abc-3\""), "abc-3");
    EXPECT_EQ(etagOf("abc"), "abc");
    EXPECT_EQ(etagOf("W/\"abc\""), "W/abc");
    for (const char* bad : { "", "\"\"", "a b", "a\"b", "\"\x01\"" })
        EXPECT_EQ(etagOf(bad), "") << bad;
    EXPECT_EQ(etagOf(std::string(300, 'a')), "");
}

} // namespace
} // namespace deltascope::s3
