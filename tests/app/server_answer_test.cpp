#include "server/answer.h"

#include "server/compression.h"
#include "server/target.h"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

// Addresses taken apart, and answers as they go out.

namespace deltascope::server {
namespace {

std::string ungzip(const std::string& zipped, std::size_t size)
{
    std::string out(size, '\0');
    z_stream stream {};
    inflateInit2(&stream, 15 + 16);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(zipped.data()));
    stream.avail_in = uInt(zipped.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = uInt(out.size());
    const int status = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    return status == Z_STREAM_END ? out : "broken";
}

HttpResponse json(std::size_t bytes, std::string etag = {})
{
    HttpResponse response;
    for (std::size_t i = 0; i < bytes; ++i)
        response.body += char('a' + i % 7);
    response.etag = std::move(etag);
    return response;
}

TEST(Target, DecodesPathAndQuery)
{
    const auto target = parseTarget("/api/v1/runs/a%20b/steps?to=12&name=%3Cx%3E+y&flag&&to=13");
    ASSERT_TRUE(target);
    EXPECT_EQ(target->path, "/api/v1/runs/a b/steps");
    EXPECT_EQ(
        target->query,
        (std::map<std::string, std::string, std::less<>> { { "to", "13" }, { "name", "<x> y" }, { "flag", "" } }));
    EXPECT_EQ(parseTarget("/a+b")->path, "/a+b");
    EXPECT_EQ(parseTarget("/?")->path, "/");
}

TEST(Target, RefusesWhatNoClientSends)
{
    for (const char* text : { "", "api", "http://x/", "*", "/%", "/%2", "/%zz", "/a%00b", "/a%0ab", "/a%2Fb",
                              "/..%2f..", "/?a=%", "/?a=%01", "/?%gg=1" })
        EXPECT_FALSE(parseTarget(text)) << text;
}

TEST(Answer, KnowsWhatIsAccepted)
{
    EXPECT_TRUE(accepts("gzip", "gzip"));
    EXPECT_TRUE(accepts("br, gzip;q=0.5 , zstd", "gzip"));
    EXPECT_TRUE(accepts("gzip;q=0.001", "gzip"));
    EXPECT_FALSE(accepts("gzip;q=0", "gzip"));
    EXPECT_FALSE(accepts("gzip; q=0.000", "gzip"));
    EXPECT_FALSE(accepts("xgzip, gzi", "gzip"));
    EXPECT_FALSE(accepts("", "gzip"));
}

TEST(Answer, CompressesWhatIsLargeEnough)
{
    const std::string plain = json(5'000).body;
    const HttpResponse gzip = prepared(json(5'000), { "gzip", "" });
    EXPECT_EQ(headerOf(gzip, "Content-Encoding"), "gzip");
    EXPECT_EQ(ungzip(gzip.body, plain.size()), plain);
    const HttpResponse zstd = prepared(json(5'000), { "gzip, zstd", "" });
    EXPECT_EQ(headerOf(zstd, "Content-Encoding"), "zstd");
    std::string out(plain.size(), '\0');
    EXPECT_EQ(ZSTD_decompress(out.data(), out.size(), zstd.body.data(), zstd.body.size()), plain.size());
    EXPECT_EQ(out, plain);
    EXPECT_EQ(headerOf(gzip, "Vary"), "Accept-Encoding");
    EXPECT_EQ(prepared(json(5'000), {}).body, plain);
    EXPECT_EQ(prepared(json(1'000), { "gzip", "" }).body, json(1'000).body);
}

TEST(Answer, LeavesAloneWhatIsCompressedAlready)
{
    HttpResponse image = json(5'000);
    image.contentType = "image/png";
    EXPECT_EQ(prepared(image, { "gzip", "" }).body.size(), 5'000U);
    HttpResponse zipped = json(5'000);
    zipped.headers.emplace_back("Content-Encoding", "gzip");
    EXPECT_EQ(prepared(zipped, { "zstd", "" }).body.size(), 5'000U);
    HttpResponse tile = json(65'536);
    tile.contentType = "application/octet-stream";
    EXPECT_LT(prepared(tile, { "gzip", "" }).body.size(), 5'000U);
}

TEST(Answer, SendsNothingThatTheClientHas)
{
    for (const char* tags : { "W/\"e1\"", "\"e1\"", "\"other\", W/\"e1\"", "*" }) {
        const HttpResponse same = prepared(json(5'000, "e1"), { "gzip", tags });
        EXPECT_EQ(same.status, 304) << tags;
        EXPECT_TRUE(same.body.empty());
        EXPECT_EQ(headerOf(same, "ETag"), "W/\"e1\"");
    }
    EXPECT_EQ(prepared(json(10, "e1"), { "", "W/\"e2\"" }).status, 200);
    HttpResponse failed = json(10, "e1");
    failed.status = 404;
    EXPECT_EQ(prepared(failed, { "", "W/\"e1\"" }).status, 404);
}

TEST(Answer, SaysWhatMayBeKept)
{
    EXPECT_EQ(headerOf(prepared(json(10), {}), "Cache-Control"), "no-store");
    EXPECT_EQ(headerOf(prepared(json(10, "e"), {}), "Cache-Control"), "private, no-cache");
    HttpResponse forever = json(10, "e");
    forever.headers.emplace_back("Cache-Control", "private, max-age=31536000, immutable");
    EXPECT_EQ(headerOf(prepared(forever, {}), "Cache-Control"), "private, max-age=31536000, immutable");
}

}
}
