#include "deltascope/base/address.h"

#include "support/temp_dir.h"

#include <filesystem>
#include <gtest/gtest.h>

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
    EXPECT_FALSE(Address("s3://bucket/run/out").isWithin("s3://bucket/run")); // no path here
}

TEST(Address, AbsoluteOnesAreSpelledPlainlyWithoutALookAtTheDisk)
{
    EXPECT_EQ(Address("/a/./b//c/../").absolute().text(), "/a/b");
    EXPECT_EQ(Address("file:///a/b/").absolute().text(), "/a/b");
    EXPECT_EQ(Address("/").absolute().text(), "/");
    EXPECT_EQ(Address("run").absolute().text(), (fs::current_path() / "run").string());
    EXPECT_EQ(Address("s3://bucket/a/../b").absolute().text(), "s3://bucket/a/../b");
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
    EXPECT_EQ(codeOf("s3://bucket/run"), Code::Unsupported);
    EXPECT_EQ(codeOf("gopher://bucket/run"), Code::Unsupported);
}

} // namespace
} // namespace deltascope
