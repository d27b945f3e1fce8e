#include "cli/examples.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli_fixture.h"
#include "deltascope/engine/layout.h"

#include <CLI/CLI.hpp>

// Help and examples.

namespace deltascope::cli {
namespace {

using namespace cli_test;

TEST_F(CliTest, HelpAndVersionGoToStdout)
{
    const Outcome help = call({ "--help" });
    EXPECT_EQ(help.status, 0);
    for (const char* command : { "log", "show", "ls", "verify", "materialize", "diff", "stats", "digest", "cost",
                                 "watch", "gui", "leftovers", "discard", "doctor", "completion" })
        EXPECT_NE(help.out.find(command), std::string::npos) << command;
    const Outcome ofCommand = call({ "verify", "--help" });
    EXPECT_EQ(ofCommand.status, 0);
    EXPECT_NE(ofCommand.out.find("--level"), std::string::npos);
    EXPECT_TRUE(call({ "--version" }).out.starts_with("deltascope "));
}

/// The folder is called as an option is.
TEST_F(CliTest, ASuggestedCommandCanBePasted)
{
    const std::string before = fs::current_path();
    fs::copy(bucket("trl-v2-gap"), folder.path("-run"), fs::copy_options::recursive);
    fs::current_path(folder.path());
    const Outcome log = call({ "log", "--", "-run" });
    fs::current_path(before);
    EXPECT_EQ(log.status, 0);
    EXPECT_NE(log.err.find("next: deltascope materialize ./-run@15 -o DIR"), std::string::npos) << log.err;
}

TEST_F(CliTest, WithoutACommandItShowsHowToBegin)
{
    const Outcome bare = call({});
    EXPECT_EQ(bare.status, 0);
    EXPECT_EQ(bare.err, "");
    for (const Example& example : firstExamples())
        EXPECT_NE(bare.out.find(example.line), std::string::npos) << example.line;
    EXPECT_NE(bare.out.find("\n  materialize  write the full checkpoint"), std::string::npos) << bare.out;
    EXPECT_EQ(call({ "help" }).out, bare.out);
    EXPECT_EQ(call({ "help", "log" }).out, call({ "log", "--help" }).out);
    EXPECT_EQ(call({ "help", "lgo" }).status, UsageError);
}

/// Each line of each example, as a shell would hand it over.
TEST_F(CliTest, EveryCommandHasExamplesThatItUnderstands)
{
    const auto expectUnderstood = [](const Example& example, std::string_view command) {
        Options options;
        CLI::App program("", "deltascope");
        describe(program, options);
        std::string line(example.line.substr(std::string_view("deltascope ").size()));
        EXPECT_NO_THROW(program.parse(line)) << example.line;
        ASSERT_EQ(program.get_subcommands().size(), 1U) << example.line;
        EXPECT_EQ(program.get_subcommands().front()->get_name(), command);
        EXPECT_TRUE(options.expectFit(command)) << example.line;
        EXPECT_FALSE(example.meaning.empty());
    };
    Options options;
    CLI::App program("", "deltascope");
    describe(program, options);
    for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
        const std::string name = command->get_name();
        const std::string help = call({ name, "--help" }).out;
        EXPECT_FALSE(examplesOf(name).empty()) << name;
        for (const Example& example : examplesOf(name)) {
            EXPECT_NE(help.find(example.line), std::string::npos) << name;
            expectUnderstood(example, name);
        }
    }
    for (const auto& [example, command] : { std::pair(0, "demo"), std::pair(1, "log"), std::pair(2, "materialize") })
        expectUnderstood(firstExamples().at(static_cast<std::size_t>(example)), command);
}

TEST_F(CliTest, CompletionsKnowEveryCommandAndOption)
{
    for (const char* shell : { "bash", "zsh", "fish" }) {
        const Outcome outcome = call({ "completion", shell });
        EXPECT_EQ(outcome.status, 0);
        EXPECT_NE(outcome.out.find("materialize"), std::string::npos) << shell;
        EXPECT_NE(outcome.out.find("shard-size"), std::string::npos) << shell;
    }
}

TEST_F(CliTest, TheBashCompletionIsValidBash)
{
    folder.write("completion.bash", call({ "completion", "bash" }).out);
    EXPECT_EQ(std::system(("bash -n " + folder.path("completion.bash")).c_str()), 0);
}

TEST_F(CliTest, EveryCommandSearchesAsDeepAsItIsTold)
{
    const std::string source = folder.path("run");
    const std::string deep = source + "/step_7/a/b/c/d/e";
    fs::create_directories(deep);
    fs::copy(bucket("hf-single"), deep, fs::copy_options::recursive);
    for (const Arguments& command : { Arguments { "log" }, Arguments { "ls" }, Arguments { "verify" },
                                      Arguments { "digest" }, Arguments { "cost" }, Arguments { "doctor" } }) {
        Arguments words { command.front(), source };
        EXPECT_EQ(call(words).status == 0, command.front() == "ls") << command.front(); // it lists what it cannot read
        words.insert(words.end(), { "--depth", "5" });
        const Outcome found = call(words);
        EXPECT_EQ(found.status, 0) << command.front() << ": " << found.err;
    }
    EXPECT_NE(call({ "log", source }).err.find("--depth 5"), std::string::npos);
    EXPECT_EQ(call({ "ls", source, "--json", "--depth", "5" }).json()["layout"], "hf");
    EXPECT_TRUE(call({ "ls", source, "--json" }).json()["layout"].is_null());
    for (const char* depth : { "0", "17", "-1", "x", "4.5" })
        EXPECT_EQ(call({ "log", source, "--depth", depth }).status, 2) << depth;
}

TEST_F(CliTest, CompletionsKnowTheWordsOfAnOption)
{
    const LayoutRegistry layouts = builtinLayouts();
    for (const char* shell : { "bash", "zsh", "fish" }) {
        const std::string script = call({ "completion", shell }).out;
        for (const auto& layout : layouts.all())
            EXPECT_NE(script.find(layout->word()), std::string::npos) << shell << " " << layout->word();
        EXPECT_NE(script.find("served trained"), std::string::npos) << shell;
    }
}

/// As bash calls it: the words of the line, and which of them is completed.
TEST_F(CliTest, BashCompletesTheWordsOfAnOption)
{
    folder.write("completion.bash", call({ "completion", "bash" }).out);
    const auto completed = [&](const std::string& words) {
        const std::string command = "bash -c 'source " + folder.path("completion.bash") + "; COMP_WORDS=(" + words
            + "); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _deltascope; echo ${COMPREPLY[*]}' > " + folder.path("answer");
        EXPECT_EQ(std::system(command.c_str()), 0) << command;
        return folder.read("answer");
    };
    EXPECT_EQ(completed("deltascope log run --layout trl"), "trl-v1.0 trl-v1.1 trl-v1.2 trl-v2 trl-adapter\n");
    EXPECT_EQ(completed("deltascope log run --layout = slime-v2"), "slime-v2\n");
    EXPECT_EQ(completed("deltascope publish --layout \"\""), "trl-v2 slime-v2\n");
    EXPECT_EQ(completed("deltascope materialize run --state t"), "trained\n");
    EXPECT_EQ(completed("deltascope log --head"), "--headers-only\n");
}

TEST_F(CliTest, QuotesInDescriptionsDoNotBreakTheFishCompletion)
{
    const std::string script = call({ "completion", "fish" }).out;
    std::istringstream lines(script);
    for (std::string line; std::getline(lines, line);)
        EXPECT_EQ(std::count(line.begin(), line.end(), '\'') % 2, 0) << line;
}

} // namespace
} // namespace deltascope::cli
