#include "deltascope/base/address.h"

#include "support/temp_dir.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

namespace deltascope {
namespace {

namespace fs = std::filesystem;
using test::TempDir;

TEST(Address, APathAndItsFileAddressAreOnePlace)
{
    const TempDir folder;
    fs::create_directories(folder.path("with space %/run"));
    fs::create_directory_symlink(folder.path("with space %"), folder.path("link"));
    const std::string plain = folder.path("with space %/run");
    const std::string uri = "file://" + folder.path("with%20space%20%25/run");
    EXPECT_EQ(*Address(uri).path(), plain);
    const Address canonical = Address(plain).canonical();
    for (const std::string& spelling :
         { plain, uri, plain + "/", plain + "//.", folder.path("link/run"), folder.path("link/../with space %/run"),
           fs::relative(plain).string(), "FILE://localhost" + uri.substr(7) + "/" })
        EXPECT_EQ(Address(spelling).canonical(), canonical) << spelling;
    EXPECT_EQ(canonical.canonical(), canonical);
    EXPECT_FALSE(Address(plain) == Address(uri)) << "the text is kept as it was given";
}

TEST(Address, WhatLiesInAFolderLiesInItUnderEverySpelling)
{
    const TempDir folder;
    fs::create_directories(folder.path("run/deltas"));
    fs::create_directories(folder.path("run-2"));
    fs::create_directory_symlink(folder.path("run"), folder.path("link"));
    for (const std::string& run : { folder.path("run"), folder.path("run/"), "file://" + folder.path("run"),
                                    "file://" + folder.path("run/"), folder.path("link") }) {
        for (const char* inside :
             { "run", "run/", "run/out", "run/deltas/not/there", "link/out", "run-2/../run/out" }) {
            EXPECT_TRUE(Address(folder.path(inside)).isWithin(run)) << inside << " in " << run;
            EXPECT_TRUE(Address("file://" + folder.path(inside)).isWithin(run)) << inside << " in " << run;
        }
        for (const char* outside : { "", "run-2", "run-2/out", "runs", "link/../run-2" })
            EXPECT_FALSE(Address(folder.path(outside)).isWithin(run)) << outside << " in " << run;
    }
    EXPECT_FALSE(Address("s3://bucket/run/out").isWithin(folder.path("run")));
}

TEST(Address, NamesPlacesInObjectStores)
{
    using Kind = RemotePlace::Kind;
    const auto placeOf = [](const char* text) { return Address(text).remote().value_or(RemotePlace {}); };
    EXPECT_EQ(placeOf("s3://bucket"), (RemotePlace { Kind::S3, "bucket", "", "", "" }));
    EXPECT_EQ(placeOf("S3://bucket/a b%40c/d/"), (RemotePlace { Kind::S3, "bucket", "a b@c/d", "", "" }));
    EXPECT_EQ(placeOf("s3://bucket/run?endpoint=http://127.0.0.1:9000/"),
              (RemotePlace { Kind::S3, "bucket", "run", "http://127.0.0.1:9000", "" }));
    EXPECT_EQ(placeOf("hf://buckets/acme/wordle"), (RemotePlace { Kind::HubBucket, "acme/wordle", "", "", "" }));
    EXPECT_EQ(placeOf("hf://buckets/acme/wordle/a/b"), (RemotePlace { Kind::HubBucket, "acme/wordle", "a/b", "", "" }));
    EXPECT_EQ(placeOf("hf://acme/model?revision=refs/pr/1"),
              (RemotePlace { Kind::HubModel, "acme/model", "", "", "refs/pr/1" }));
    EXPECT_FALSE(Address("/s3/bucket").remote());
    EXPECT_EQ(Address("s3://bucket/run").path().error().code, Code::Usage);
}

TEST(Address, APlaceInAnObjectStoreHasOneSpelling)
{
    const std::vector<std::pair<const char*, const char*>> spellings = {
        { "S3://bucket/run/", "s3://bucket/run" },
        { "s3://bucket/a%2Db", "s3://bucket/a-b" },
        { "s3://bucket/a%40b c", "s3://bucket/a%40b%20c" },
        { "s3://bucket/a%3fb%25", "s3://bucket/a%3Fb%25" },
        { "hf://buckets/me/runs/a%25b%3F%23/", "hf://buckets/me/runs/a%25b%3F%23" },
        { "hf://org/model/sub?revision=refs%2Fpr%2F1", "hf://org/model/sub?revision=refs/pr/1" },
        { "s3://b/r?endpoint=http%3A%2F%2Flocalhost:9%2Fx/", "s3://b/r?endpoint=http://localhost:9/x" },
        { "hf://o/m?endpoint=http://h&revision=v1.0", "hf://o/m?revision=v1.0&endpoint=http://h" },
    };
    for (const auto& [given, plain] : spellings) {
        EXPECT_EQ(Address(given).canonical().text(), plain);
        EXPECT_EQ(Address(given).absolute().text(), plain);
        EXPECT_EQ(Address(plain).remote(), Address(given).remote());
    }
}

TEST(Address, WhatLiesBelowAPlaceStandsInFrontOfItsOptions)
{
    EXPECT_EQ(Address("s3://b/run?endpoint=http://h:9").below("x/model.safetensors").text(),
              "s3://b/run/x/model.safetensors?endpoint=http://h:9");
    EXPECT_EQ(Address("s3://b").below("a").text(), "s3://b/a");
    EXPECT_EQ(Address("/runs/a").below("b/c").text(), "/runs/a/b/c");
}

TEST(Address, PlacesInOneBucketLieInEachOther)
{
    EXPECT_TRUE(Address("s3://bucket/run/out").isWithin("s3://bucket/run"));
    EXPECT_TRUE(Address("s3://bucket/run").isWithin("S3://bucket/run/"));
    EXPECT_TRUE(Address("hf://buckets/a/b/run").isWithin("hf://buckets/a/b"));
    for (const char* other : { "s3://bucket/run-2", "s3://bucket", "s3://other/run/out", "hf://bucket/run/out",
                               "s3://bucket/run/out?endpoint=http://h" })
        EXPECT_FALSE(Address(other).isWithin("s3://bucket/run")) << other;
}

TEST(Address, RefusesWhatNamesNoPlace)
{
    for (const char* wrong :
         { "s3://", "s3:///run", "hf://", "hf://model", "hf://buckets/owner", "s3://b//run", "s3://b/a/../b",
           "s3://b/%2e%2e/c", "s3://b/a%2Fb", "s3://b/a%", "s3://b/r?endpoint=ftp://h", "s3://b/r?endpoint=http://",
           "s3://b/r?endpoint=", "s3://b/r?revision=1", "s3://b/r?secret=1", "hf://o/m?revision=" }) {
        EXPECT_FALSE(Address(wrong).remote()) << wrong;
        EXPECT_EQ(Address(wrong).path().error().code, Code::Usage) << wrong;
    }
    const Address withKey("s3://b/r?endpoint=http://name:secret@h");
    EXPECT_FALSE(withKey.remote());
    const Error& told = withKey.path().error();
    EXPECT_EQ((told.text + told.where + told.action).find("secret"), std::string::npos);
}

TEST(Address, AbsoluteOnesAreSpelledPlainlyWithoutALookAtTheDisk)
{
    EXPECT_EQ(Address("/a/./b//c/../").absolute().text(), "/a/b");
    EXPECT_EQ(Address("file:///a/b/").absolute().text(), "/a/b");
    EXPECT_EQ(Address("/").absolute().text(), "/");
    EXPECT_EQ(Address("run").absolute().text(), (fs::current_path() / "run").string());
    EXPECT_EQ(Address("s3://bucket/a/../b").absolute().text(), "s3://bucket/a/../b"); // wrong
}

TEST(Address, RelativeOnesMeanAnotherPlaceElsewhere)
{
    for (const char* address : { "/run", "file:///run", "s3://bucket/run" })
        EXPECT_TRUE(Address(address).isAbsolute()) << address;
    for (const char* address : { "", "run", "./run", "../run", ":///run" })
        EXPECT_FALSE(Address(address).isAbsolute()) << address;
}

TEST(Address, TellsWhatItCannotMean)
{
    const auto codeOf = [](const std::string& text) {
        return Address(text).path() ? Code::Internal : Address(text).path().error().code;
    };
    EXPECT_EQ(codeOf(""), Code::Usage);
    EXPECT_EQ(Address().path().error().code, Code::Usage);
    EXPECT_TRUE(Address().isEmpty());
    EXPECT_EQ(codeOf(std::string("/a\0b", 4)), Code::Usage);
    EXPECT_EQ(codeOf("file://host/run"), Code::Usage);
    EXPECT_EQ(codeOf("file:///run%2"), Code::Usage);
    EXPECT_EQ(codeOf("file:///run%00"), Code::Usage);
    EXPECT_EQ(codeOf("gopher://bucket/run"), Code::Unsupported);
}

} // namespace
} // namespace deltascope
