#include "server/request_head.h"
#include "server/tls.h"
#include "server/trusted_file.h"
#include "server/trusted_proxies.h"
#include "support/temp_dir.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

// Whose word counts: proxies by where they come from, files by who can write them.

namespace deltascope::server {
namespace {

namespace fs = std::filesystem;
namespace ip = boost::asio::ip;
namespace http = boost::beast::http;

Peer peer(const char* address) { return { plainForm(ip::make_address(address)) }; }

TEST(TrustedProxies, AreThoseOfLoopbackAndTheUnixSocketIfNothingElseIsSaid)
{
    const TrustedProxies proxies = TrustedProxies::make("X-User", {}).value();
    for (const char* address : { "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1" })
        EXPECT_TRUE(proxies.include(peer(address))) << address;
    for (const char* address : { "10.0.0.1", "128.0.0.1", "::2", "::ffff:10.0.0.1" })
        EXPECT_FALSE(proxies.include(peer(address))) << address;
    EXPECT_TRUE(proxies.include({}));
}

TEST(TrustedProxies, ComeFromTheNetworksThatAreNamed)
{
    const TrustedProxies proxies = TrustedProxies::make("X-User", { "10.1.2.3/16", "fd00::/8", "192.0.2.7" }).value();
    for (const char* address : { "10.1.0.0", "10.1.255.255", "fdff::1", "192.0.2.7" })
        EXPECT_TRUE(proxies.include(peer(address))) << address;
    for (const char* address : { "10.2.0.0", "127.0.0.1", "::1", "fe00::1", "192.0.2.8" })
        EXPECT_FALSE(proxies.include(peer(address))) << address;
    EXPECT_TRUE(proxies.include({})) << "only our own user reaches the socket";
}

TEST(TrustedProxies, AreNoneWithoutAHeader)
{
    const TrustedProxies proxies = TrustedProxies::make("", {}).value();
    EXPECT_FALSE(proxies.include(peer("127.0.0.1")));
    EXPECT_FALSE(proxies.include({}));
    EXPECT_EQ(proxies.clientOf(peer("127.0.0.1"), "203.0.113.9"), "127.0.0.1");
}

TEST(TrustedProxies, NonsenseIsRefused)
{
    for (const char* network :
         { "", "proxy.example.org", "10.0.0.0/33", "10.0.0/8", "fd00::/129", "10.0.0.0/", "/8" }) {
        const auto proxies = TrustedProxies::make("X-User", { network });
        ASSERT_FALSE(proxies) << network;
        EXPECT_EQ(proxies.error().code, Code::Usage);
    }
}

TEST(TrustedProxies, TheLastAddressThatAProxyNamesCounts)
{
    const TrustedProxies proxies = TrustedProxies::make("X-User", { "10.0.0.1" }).value();
    const Peer proxy = peer("10.0.0.1");
    EXPECT_EQ(proxies.clientOf(proxy, "198.51.100.1, 203.0.113.9"), "203.0.113.9") << "the rest is the client's word";
    EXPECT_EQ(proxies.clientOf(proxy, "203.0.113.9:4711"), "203.0.113.9");
    EXPECT_EQ(proxies.clientOf(proxy, "[2001:db8:1:2:3::4]:80"), "2001:db8:1:2::/64");
    EXPECT_EQ(proxies.clientOf(proxy, "2001:db8:1:2:5::6"), "2001:db8:1:2::/64") << "one machine has them all";
    for (const char* nothing : { "", "unknown", "198.51.100.1,", "[", "[]", ":", "1.2.3.4:5:6" })
        EXPECT_EQ(proxies.clientOf(proxy, nothing), "10.0.0.1") << nothing;
    EXPECT_EQ(proxies.clientOf(peer("10.0.0.2"), "203.0.113.9"), "10.0.0.2") << "no proxy of ours";
}

RequestHead headOf(const Peer& from, const std::vector<std::pair<std::string, std::string>>& fields)
{
    http::request_header<> header;
    header.method(http::verb::get);
    header.target("/");
    for (const auto& [name, value] : fields)
        header.insert(name, value);
    return requestHead(header, TrustedProxies::make("X-User", { "10.0.0.1" }).value(), from);
}

TEST(RequestHead, AUserCountsWhoAProxyOfOursNames)
{
    EXPECT_EQ(headOf(peer("10.0.0.1"), { { "X-User", "kim" } }).proxyUser, "kim");
    EXPECT_EQ(headOf(peer("10.0.0.2"), { { "X-User", "kim" } }).proxyUser, "");
    EXPECT_EQ(headOf(peer("10.0.0.1"), { { "X-User", "kim" }, { "X-User", "root" } }).proxyUser, "");
}

TEST(RequestHead, FailuresCountByUserElseByAddress)
{
    EXPECT_EQ(headOf(peer("10.0.0.1"), { { "X-User", "kim" }, { "X-Forwarded-For", "1.2.3.4" } }).client, "user kim");
    EXPECT_EQ(headOf(peer("10.0.0.1"), { { "X-User", "<script>" }, { "X-Forwarded-For", "1.2.3.4" } }).client,
              "1.2.3.4");
    EXPECT_EQ(headOf(peer("10.0.0.1"), { { "X-Forwarded-For", "1.2.3.4" }, { "X-Forwarded-For", "5.6.7.8" } }).client,
              "5.6.7.8");
    EXPECT_EQ(headOf(peer("10.0.0.2"), { { "X-User", "kim" }, { "X-Forwarded-For", "1.2.3.4" } }).client, "10.0.0.2");
}

TEST(RequestHead, OnlyChunkedBodiesAreFramed)
{
    const Peer anyone = peer("10.0.0.2");
    EXPECT_TRUE(headOf(anyone, {}).isFramed);
    EXPECT_TRUE(headOf(anyone, { { "Transfer-Encoding", "Chunked" } }).isFramed);
    for (const char* coding : { "gzip", "gzip, chunked", "chunked, gzip", "identity", "xchunked", "" })
        EXPECT_FALSE(headOf(anyone, { { "Transfer-Encoding", coding } }).isFramed) << coding;
    EXPECT_FALSE(headOf(anyone, { { "Transfer-Encoding", "chunked" }, { "Transfer-Encoding", "chunked" } }).isFramed);
}

class TrustedFileTest : public testing::Test {
protected:
    std::string file(const std::string& text, fs::perms mode) const
    {
        const std::string path = m_folder.path("file");
        std::ofstream(path) << text;
        fs::permissions(path, mode);
        return path;
    }
    test::TempDir m_folder;
};

TEST_F(TrustedFileTest, NobodyElseMayWriteIt)
{
    using enum fs::perms;
    EXPECT_EQ(readTrustedFile(file("x", owner_read | owner_write), "file").value(), "x");
    for (const fs::perms open : { group_write, others_write }) {
        const auto refused = readTrustedFile(file("x", owner_read | owner_write | open), "token file");
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, Code::Auth);
        EXPECT_EQ(refused.error().text, "others can write the token file");
    }
}

TEST_F(TrustedFileTest, WhoCanReadASecretIsTold)
{
    using enum fs::perms;
    std::vector<std::string> warnings;
    EXPECT_TRUE(readSecretFile(file("x", owner_read), "token file", warnings));
    EXPECT_TRUE(warnings.empty());
    EXPECT_TRUE(readSecretFile(file("x", owner_read | others_read), "token file", warnings));
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_NE(warnings[0].find("others can read the token file " + m_folder.path("file")), std::string::npos);
}

TEST_F(TrustedFileTest, WhatIsNoSmallFileIsRefused)
{
    std::vector<std::string> warnings;
    EXPECT_EQ(readTrustedFile("/nowhere/tokens", "token file").error().where, "/nowhere/tokens");
    EXPECT_EQ(readTrustedFile("/nowhere/tokens", "token file").error().code, Code::NotFound);
    EXPECT_EQ(readTrustedFile(m_folder.path("."), "token file").error().code, Code::Usage);
    EXPECT_EQ(readTrustedFile(file(std::string(1'000'001, 'x'), fs::perms::owner_read), "token file").error().code,
              Code::Usage);
}

TEST_F(TrustedFileTest, NonsenseIsNoCertificate)
{
    std::vector<std::string> warnings;
    const std::string path = file("nonsense", fs::perms::owner_read);
    const auto tls = makeTls(path, path, warnings);
    ASSERT_FALSE(tls);
    EXPECT_EQ(tls.error().code, Code::Usage);
    EXPECT_EQ(tls.error().where, path);
}

}
}
