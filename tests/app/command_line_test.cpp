#include "deltascope/app/command_line.h"

#include "support/temp_dir.h"

#include <cstdlib>
#include <gtest/gtest.h>

// Words that are shown to be pasted: a shell hands over just these.

namespace deltascope::app {
namespace {

class CommandLine : public testing::Test {
protected:
    /// What bash makes of the word.
    std::string byBash(const std::string& word) const
    {
        folder.write("script", "printf %s " + word + " > " + folder.path("said"));
        EXPECT_EQ(std::system(("bash " + folder.path("script")).c_str()), 0) << word;
        return folder.read("said");
    }

    test::TempDir folder;
};

TEST_F(CommandLine, AShellTakesAWordAsItWas)
{
    for (const std::string& text :
         { std::string("plain/path@15"), std::string(""), std::string("a b"), std::string("it's"), std::string("$HOME"),
           std::string("~/x"), std::string("a\nb"), std::string("a\n'b\\c\"d"),
           std::string("\t\x01\x7f"
                       "9f"),
           std::string("größe\n"), std::string("*?[a]!&;|<>(){}#`") })
        EXPECT_EQ(byBash(quoted(text)), text);
    EXPECT_EQ(quoted("plain/path@15"), "plain/path@15");
    EXPECT_EQ(quoted("a b"), "'a b'");
    EXPECT_EQ(quoted("a\nb").find('\n'), std::string::npos); // stays one line
}

TEST_F(CommandLine, ADepthIsShownWhereItIsNotTheUsualOne)
{
    SourceRequest source;
    EXPECT_EQ(sourceOptions(source), "");
    source.layout = "hf";
    source.searchDepth = 7;
    EXPECT_EQ(sourceOptions(source), " --layout hf --depth 7");
}

TEST_F(CommandLine, APathThatBeginsWithADashIsNoOption)
{
    EXPECT_EQ(quotedPath("-run@3"), "./-run@3");
    EXPECT_EQ(byBash(quotedPath("-a\nb")), "./-a\nb");
    EXPECT_EQ(quotedPath("/runs/-a"), "/runs/-a");
    EXPECT_EQ(quotedPath("s3://bucket/x"), "s3://bucket/x");
}

} // namespace
} // namespace deltascope::app
