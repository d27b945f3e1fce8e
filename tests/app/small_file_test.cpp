#include "service/small_file.h"
#include "support/temp_dir.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>

// Files that are read whole: configurations, plans, tokens.

namespace deltascope::app {
namespace {

class SmallFileTest : public testing::Test {
protected:
    std::string file(const std::string& text) const
    {
        const std::string path = m_folder.path("file");
        std::ofstream(path, std::ios::binary) << text;
        return path;
    }
    test::TempDir m_folder;
};

TEST_F(SmallFileTest, IsReadWholeUpToItsLimit)
{
    EXPECT_EQ(readSmallFile(file(""), "plan", 5).value(), "");
    EXPECT_EQ(readSmallFile(file(std::string("a\0b\n", 4)), "plan", 5).value(), std::string("a\0b\n", 4));
    EXPECT_EQ(readSmallFile(file("12345"), "plan", 5).value(), "12345");
    const auto tooLong = readSmallFile(file("123456"), "plan", 5);
    ASSERT_FALSE(tooLong);
    EXPECT_EQ(tooLong.error().code, Code::Usage);
    EXPECT_EQ(tooLong.error().text, "the plan is longer than 5 bytes");
}

TEST_F(SmallFileTest, MayGrowWhileItIsRead)
{
    const std::string path = file("12");
    SmallFile opened = SmallFile::open(path, "plan").value();
    std::ofstream(path, std::ios::app) << std::string(100, '3');
    EXPECT_EQ(opened.read(1000).value(), "12" + std::string(100, '3'));
    opened = SmallFile::open(path, "plan").value();
    std::ofstream(path, std::ios::app) << std::string(1000, '4');
    EXPECT_EQ(opened.read(1000).error().code, Code::Usage);
}

TEST_F(SmallFileTest, OfUnknownSizeIsReadToItsEnd) // as those of /proc are
{
    const std::string text = readSmallFile("/proc/self/status", "plan", 1 << 20).value();
    EXPECT_NE(text.find("\nPid:"), std::string::npos);
    EXPECT_EQ(text.back(), '\n');
}

TEST_F(SmallFileTest, WhatIsNoFileBlocksNothing)
{
    const std::string pipe = m_folder.path("pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_EQ(readSmallFile(pipe, "plan", 5).error().text, "the plan is no regular file");
    EXPECT_EQ(readSmallFile(m_folder.path("."), "plan", 5).error().code, Code::Usage);
    EXPECT_EQ(readSmallFile(m_folder.path("none"), "plan", 5).error().code, Code::NotFound);
    EXPECT_EQ(readSmallFile(file("x") + "/below", "plan", 5).error().code, Code::NotFound);
}

} // namespace
} // namespace deltascope::app
