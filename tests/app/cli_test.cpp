#include "cli/cli.h"
#include "cli/examples.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/terminal.h"

#include "deltascope/base/code.h"
#include "deltascope/engine/layout.h"
#include "deltascope/engine/safetensors.h"
#include "support/golden.h"
#include "support/temp_dir.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

// The program as it is called: arguments in, exit status and two streams out.

namespace deltascope::cli {
namespace {

using test::TempDir;

namespace fs = std::filesystem;

using Json = nlohmann::json;
using Arguments = std::vector<std::string>;

/// Sends a descriptor into a file as long as it lives.
class Redirected {
public:
    Redirected(int descriptor, const std::string& path)
        : m_descriptor(descriptor)
        , m_before(::dup(descriptor))
    {
        const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        ::dup2(file, descriptor);
        ::close(file);
    }
    Redirected(const Redirected&) = delete;
    Redirected& operator=(const Redirected&) = delete;
    ~Redirected()
    {
        ::dup2(m_before, m_descriptor);
        ::close(m_before);
    }

private:
    int m_descriptor;
    int m_before;
};

struct Outcome {
    int status = -1;
    std::string out;
    std::string err;

    Json json() const { return Json::parse(out, nullptr, false); }
};

class CliTest : public testing::Test {
protected:
    CliTest()
    {
        const char* before = std::getenv("DELTASCOPE_HOME");
        m_homeBefore = before ? std::optional<std::string>(before) : std::nullopt;
        ::setenv("DELTASCOPE_HOME", folder.path("home").c_str(), 1);
    }
    ~CliTest() override
    {
        m_homeBefore ? ::setenv("DELTASCOPE_HOME", m_homeBefore->c_str(), 1) : ::unsetenv("DELTASCOPE_HOME");
    }

    Outcome call(const Arguments& arguments) const
    {
        Outcome outcome;
        {
            std::fflush(stdout);
            std::fflush(stderr);
            const Redirected out(STDOUT_FILENO, folder.path("stdout"));
            const Redirected err(STDERR_FILENO, folder.path("stderr"));
            outcome.status = run(arguments);
            std::fflush(stdout);
            std::fflush(stderr);
        }
        outcome.out = folder.read("stdout");
        outcome.err = folder.read("stderr");
        return outcome;
    }
    static std::string bucket(const std::string& name) { return test::goldenPath(name + "/bucket"); }
    /// Arguments for a slime bucket, which stands on a base.
    static Arguments onBase(Arguments arguments, const std::string& name)
    {
        arguments.insert(arguments.end(), { "--base", test::goldenPath(name + "/base") });
        return arguments;
    }

    TempDir folder;

private:
    std::optional<std::string> m_homeBefore;
};

// --- exit statuses ---------------------------------------------------------------------------------------------------

TEST_F(CliTest, ReadingASoundRunSucceeds)
{
    EXPECT_EQ(call({ "log", bucket("trl-v2-gap") }).status, 0);
    EXPECT_EQ(call({ "show", bucket("trl-v2-gap") + "@12" }).status, 0);
    EXPECT_EQ(call({ "ls", bucket("trl-v2-gap") }).status, 0);
    EXPECT_EQ(call({ "digest", bucket("trl-v2-gap") + "@latest" }).status, 0);
    EXPECT_EQ(call({ "verify", bucket("trl-v2-gap"), "--level", "4" }).status, 0);
    EXPECT_EQ(call({ "doctor", bucket("trl-v2-gap") }).status, 0);
    EXPECT_EQ(call({ "cost", bucket("trl-v2-gap"), "--lr", "1e-6" }).status, 0);
}

TEST_F(CliTest, WhatTheCommandLineGetsWrongIsTwo)
{
    for (const Arguments& arguments :
         { Arguments { "frobnicate" },
           Arguments { "log" },
           Arguments { "log", "--nope", "x" },
           Arguments { "verify", bucket("trl-v2-gap"), "--level", "9" },
           Arguments { "verify", bucket("trl-v2-gap"), "--level", "x" },
           Arguments { "materialize", bucket("trl-v2-gap") + "@2" },
           Arguments { "show", bucket("trl-v2-gap") + "@..lastest" },
           Arguments { "materialize", bucket("trl-v2-gap") + "@2", "-o", folder.path("o"), "--shard", "2/2" },
           Arguments { "materialize", bucket("trl-v2-gap") + "@2", "-o", folder.path("o"), "--shard", "x" },
           Arguments { "materialize", bucket("trl-v2-gap") + "@2", "-o", folder.path("o"), "--shard-size", "5XB" },
           Arguments { "materialize", bucket("trl-v2-gap") + "@2", "-o", folder.path("o"), "--shard-size", "0" },
           Arguments { "materialize", bucket("trl-v2-gap") + "@2", "-o", folder.path("o"), "--shard-size",
                       "99999999999TB" },
           Arguments { "verify", bucket("trl-v2-gap") + "@9..3" },
           Arguments { "cost", bucket("trl-v2-gap") + "@2" },
           Arguments { "cost", bucket("trl-v2-gap"), "--lr", "nan" },
           Arguments { "cost", bucket("trl-v2-gap"), "--link-gbps", "0" },
           Arguments { "cost", bucket("trl-v2-gap"), "--price-per-gb", "-1" },
           Arguments { "cost", bucket("trl-v2-gap"), "--steps-per-day", "many" },
           Arguments { "log", bucket("trl-v2-gap"), "--color", "pink" },
           Arguments { "log", bucket("trl-v2-gap"), "--compare", "-1" },
           Arguments { "stats", bucket("trl-v2-gap") + "@2", "w", "--history", "0" },
           Arguments { "completion", "tcsh" } }) {
        const Outcome outcome = call(arguments);
        EXPECT_EQ(outcome.err.find("Could not convert"), std::string::npos) << outcome.err;
        EXPECT_EQ(outcome.status, 2) << (arguments.empty() ? "" : arguments.back()) << outcome.err;
        EXPECT_EQ(outcome.out, "");
        EXPECT_FALSE(outcome.err.empty());
    }
    EXPECT_FALSE(fs::exists(folder.path("o")));
}

TEST_F(CliTest, ABackendThatDoesNotExistIsRefusedByEveryCommand)
{
    const std::string source = bucket("trl-v2-gap");
    for (const Arguments& arguments :
         { Arguments { "cost", source }, Arguments { "ls", source }, Arguments { "log", source },
           Arguments { "diff", source + "@11", source + "@12" }, Arguments { "doctor" } }) {
        Arguments refused = arguments;
        refused.insert(refused.end(), { "--backend", "foo" });
        const Outcome outcome = call(refused);
        EXPECT_EQ(outcome.status, 2) << arguments[0];
        EXPECT_NE(outcome.err.find("there is no diff backend \"foo\"; there are: scalar"), std::string::npos)
            << outcome.err;
        refused.back() = "scalar";
        EXPECT_EQ(call(refused).status, 0) << arguments[0];
    }
}

/// An option that would do nothing is refused before anything is read.
TEST_F(CliTest, AnOptionThatDoesNothingIsRefused)
{
    const Arguments between { "publish", "--into", folder.path("into"), "--from", "a", "--to", "b", "--layout" };
    const auto refused = [&](const std::string& layout, const Arguments& options) {
        Arguments arguments = between;
        arguments.push_back(layout);
        arguments.insert(arguments.end(), options.begin(), options.end());
        const Outcome outcome = call(arguments);
        return outcome.status == 2 ? outcome.err : std::string();
    };
    EXPECT_NE(refused("slime-v2", { "--anchor-every", "3" }).find("slime-v2 has no anchors"), std::string::npos);
    EXPECT_EQ(refused("trl-v2", { "--anchor-every", "3" }), "");
    for (const Arguments& options : { Arguments { "--quiet-seconds", "1" }, Arguments { "--settle", "1" },
                                      Arguments { "--marker", "done" }, Arguments { "--once" } })
        EXPECT_NE(refused("trl-v2", options).find(options[0] + " requires --watch"), std::string::npos) << options[0];
    EXPECT_NE(refused("trl-v2", { "--restores", "2" }).find("--anchor-when-cheaper"), std::string::npos);
    EXPECT_EQ(refused("trl-v2", { "--restores", "2", "--anchor-when-cheaper" }), "");
    EXPECT_NE(refused("trl-v2", { "--device-memory", "64MiB" }).find("without --backend cuda"), std::string::npos);
    const Outcome onDevice = call({ "ls", bucket("trl-v2-gap"), "--backend", "cuda", "--device-memory", "64MiB" });
    EXPECT_EQ(onDevice.err.find("--device-memory"), std::string::npos) << onDevice.err;
}

TEST_F(CliTest, ACallThatIsWrongIsNamedInPlainWords)
{
    EXPECT_NE(call({ "log", bucket("trl-v2-gap"), "--compare", "-1" }).err.find("--compare does not take -1"),
              std::string::npos);
    EXPECT_NE(call({ "stats", bucket("trl-v2-gap") + "@2", "w", "--history", "0" })
                  .err.find("0 is no number from 1 to 50, nor all"),
              std::string::npos);
    const Outcome absent = call({ "digest", bucket("trl-v2-gap") + "@2", "--check", folder.path("none.json") });
    EXPECT_NE(absent.err.find("there is no such file"), std::string::npos) << absent.err;
}

/// What was asked for and cannot be loaded is worth knowing; a machine without a device lacks nothing.
TEST_F(CliTest, DoctorMarksAModuleThatCannotBeLoaded)
{
    const auto cudaOf = [&] {
        const Json answer = call({ "doctor", "--json" }).json();
        for (const Json& check : answer["checks"]) {
            if (check["name"] == "cuda")
                return check;
        }
        return Json();
    };
    const char* const before = std::getenv("DELTASCOPE_CUDA_MODULE");
    const std::string kept = before ? before : "";
    ::setenv("DELTASCOPE_CUDA_MODULE", "/etc/passwd", 1);
    EXPECT_EQ(cudaOf()["ok"], false);
    EXPECT_EQ(call({ "doctor" }).status, 0) << "nothing needs it";
    ::unsetenv("DELTASCOPE_CUDA_MODULE");
    EXPECT_EQ(cudaOf()["ok"], true);
    EXPECT_EQ(call({ "doctor" }).status, 0);
    if (before)
        ::setenv("DELTASCOPE_CUDA_MODULE", kept.c_str(), 1);
}

TEST_F(CliTest, WhatIsNotThereIsThree)
{
    EXPECT_EQ(call({ "log", folder.path("nothing") }).status, 3);
    EXPECT_EQ(call({ "show", bucket("trl-v2-gap") + "@99" }).status, 3);
    EXPECT_EQ(call({ "show", bucket("trl-v2-gap") + "@lastest" }).status, 3); // it may be a ref
    fs::create_directory(folder.path("empty"));
    EXPECT_EQ(call({ "log", folder.path("empty") }).status, 3);
}

TEST_F(CliTest, AFailedVerificationIsSix)
{
    EXPECT_EQ(call({ "verify", bucket("trl-v2-truncated") }).status, 6);
    EXPECT_EQ(call(onBase({ "verify", bucket("slime-v2-badchecksum"), "--level", "3" }, "slime-v2-badchecksum")).status,
              6);
    EXPECT_EQ(call(onBase({ "digest", bucket("slime-v2-badchecksum") + "@3" }, "slime-v2-badchecksum")).status, 6);
}

TEST_F(CliTest, ABrokenChainIsSeven)
{
    EXPECT_EQ(call(onBase({ "verify", bucket("slime-v2-gap-in-chain") }, "slime-v2-gap-in-chain")).status, 7);
    EXPECT_EQ(call({ "digest", bucket("trl-v2-gap-in-chain") + "@8" }).status, 7);
    EXPECT_EQ(call({ "digest", bucket("trl-v2-gap-in-chain") + "@6" }).status, 7);
    EXPECT_EQ(call({ "digest", bucket("slime-v2-xor") + "@3" }).status, 7); // no base given
    EXPECT_EQ(call(onBase({ "digest", bucket("slime-v2-wrongbase") + "@1" }, "slime-v2-wrongbase")).status, 7);
}

TEST_F(CliTest, ADestinationThatIsThereIsEight)
{
    fs::create_directory(folder.path("out"));
    const Outcome outcome = call({ "materialize", bucket("trl-v2-raw") + "@2", "-o", folder.path("out") });
    EXPECT_EQ(outcome.status, 8);
    EXPECT_NE(outcome.err.find("DS-EXISTS"), std::string::npos);
}

TEST_F(CliTest, ADifferenceIsOneOnlyOnRequest)
{
    const Arguments diff = { "diff", bucket("trl-v2-gap") + "@11", bucket("trl-v2-gap") + "@12" };
    EXPECT_EQ(call(diff).status, 0);
    Arguments asked = diff;
    asked.emplace_back("--exit-code");
    EXPECT_EQ(call(asked).status, 1);
    EXPECT_EQ(call({ "diff", bucket("trl-v2-gap") + "@11", bucket("trl-v2-gap") + "@11", "--exit-code" }).status, 0);
}

TEST(ExitCodes, FollowTheTable)
{
    const std::map<std::string, int> table = {
        { "DS-USAGE", 2 },         { "DS-NOT-FOUND", 3 },    { "DS-LAYOUT", 3 },     { "DS-AUTH", 4 },
        { "DS-NETWORK", 5 },       { "DS-LIST-SUSPECT", 5 }, { "DS-TRUNCATED", 6 },  { "DS-HOSTILE", 6 },
        { "DS-DIGEST", 6 },        { "DS-REWRITTEN", 6 },    { "DS-CHAIN-GAP", 7 },  { "DS-BASE-MISSING", 7 },
        { "DS-BASE-MISMATCH", 7 }, { "DS-UNFINISHED", 7 },   { "DS-PUBLISHING", 7 }, { "DS-EXISTS", 8 },
        { "DS-NOSPACE", 9 },       { "DS-CANCELED", 10 },    { "DS-IO", 1 },         { "DS-INTERNAL", 1 },
        { "DS-NO-SUCH-WORD", 1 }
    };
    for (const auto& [word, status] : table) {
        EXPECT_EQ(exitFor(word), status) << word;
        EXPECT_EQ(parseCode(word).has_value(), word != "DS-NO-SUCH-WORD") << word;
    }
}

TEST(ExitCodes, OfVerdictsAreZeroUnlessSomethingIsWrong)
{
    app::VerifyView report;
    for (const char* good : { "verified", "consistent", "first_sight", "unverified" }) {
        report.result = good;
        EXPECT_EQ(exitForVerdict(report), 0) << good;
    }
    report.steps.resize(2);
    report.steps[1].problems = { app::ProblemView { "DS-REWRITTEN", 2, {}, {}, {} } };
    EXPECT_EQ(exitForVerdict(report), 6);
    report.result = "incomplete";
    EXPECT_EQ(exitForVerdict(report), 6) << "a rewritten object counts more than a missing one";
    report.steps[1].problems = { app::ProblemView { "DS-FORMS-DIFFER", 2, {}, {}, {} } };
    EXPECT_EQ(exitForVerdict(report), 6);
    report.steps[1].problems = { app::ProblemView { "DS-UNFINISHED", 2, {}, {}, {} } };
    EXPECT_EQ(exitForVerdict(report), 7);
    report.result = "damaged";
    EXPECT_EQ(exitForVerdict(report), 6);
}

TEST(ExitCodes, OfStrictVerdictsAreSixForWhatIsMoreThanANotice)
{
    app::VerifyView report;
    report.result = "verified";
    report.steps.resize(1);
    EXPECT_EQ(exitForVerdict(report, true), 0);
    report.steps[0].problems = { app::ProblemView { "DS-STRAY", 1, {}, {}, {} } };
    EXPECT_EQ(exitForVerdict(report, true), 0);
    report.problems = { app::ProblemView { "DS-CLAIM", 1, {}, {}, {} } };
    EXPECT_EQ(exitForVerdict(report), 0);
    EXPECT_EQ(exitForVerdict(report, true), 6);
    report.result = "incomplete";
    EXPECT_EQ(exitForVerdict(report, true), 7);
}

TEST(Coverage, IsSaidInWords)
{
    app::CoverageView coverage;
    coverage.tensors = 25;
    coverage.digest = 16;
    coverage.base = 9;
    EXPECT_EQ(app::coverageText(coverage),
              "16 of 25 tensors by digest, 9 only as in the base you gave, whose bytes nothing vouches for");
    app::CoverageView one;
    one.tensors = one.none = 1;
    EXPECT_EQ(app::coverageText(one), "1 of 1 tensor compared with nothing");
}

TEST(Coverage, OfTheBaseAloneIsCountedApart)
{
    app::VerifyView report;
    report.steps.resize(2);
    report.steps[0].step = 8;
    report.steps[1].step = 9;
    report.steps[1].coverage = app::CoverageView { 25, 25, 0, 0, 0, 0, 0, 0, {} };
    EXPECT_EQ(app::baseAloneText(report), "");
    report.steps[0].coverage = report.steps[1].coverage = app::CoverageView { 25, 16, 0, 0, 9, 0, 0, 0, {} };
    EXPECT_EQ(app::baseAloneText(report),
              "at step 9, 9 of 25 tensors are only as in the base you gave, whose bytes nothing vouches for");
}

// --- messages --------------------------------------------------------------------------------------------------------

TEST_F(CliTest, AnUnknownCommandIsNamed)
{
    const Outcome near = call({ "lgo", "x" });
    EXPECT_EQ(near.status, 2);
    EXPECT_NE(near.err.find("lgo is no command, did you mean log?"), std::string::npos) << near.err;
    EXPECT_NE(call({ "frobnicate" }).err.find("frobnicate is no command"), std::string::npos);
}

TEST_F(CliTest, AWholeRunIsAskedForWithoutAStep)
{
    for (const char* command : { "log", "ls", "watch" }) {
        const Outcome outcome = call({ command, bucket("trl-v2-gap") + "@3" });
        EXPECT_EQ(outcome.status, 2) << command;
        EXPECT_NE(outcome.err.find("deltascope show"), std::string::npos) << outcome.err;
    }
}

TEST_F(CliTest, APartIsNotCommittedInTheSameBreath)
{
    const Outcome outcome =
        call({ "materialize", bucket("trl-v2-gap") + "@3", "-o", folder.path("out"), "--shard", "0/2", "--commit" });
    EXPECT_EQ(outcome.status, 2) << outcome.err;
}

TEST_F(CliTest, AForcedLayoutThatFitsNothingIsRefused)
{
    const Outcome outcome = call({ "log", bucket("trl-v2-gap"), "--layout", "slime-v2" });
    EXPECT_EQ(outcome.status, 3) << outcome.err;
    EXPECT_NE(outcome.err.find("slime-v2"), std::string::npos);
}

TEST_F(CliTest, PlainDrawsNoBars)
{
    EXPECT_NE(call({ "log", bucket("trl-v2-gap") }).out.find("█"), std::string::npos);
    EXPECT_EQ(call({ "log", bucket("trl-v2-gap"), "--plain" }).out.find("█"), std::string::npos);
}

TEST_F(CliTest, ARefusalNamesWordObjectStepAndRemedy)
{
    const Outcome outcome = call(onBase(
        { "materialize", bucket("slime-v2-gap-in-chain") + "@6", "-o", folder.path("out") }, "slime-v2-gap-in-chain"));
    EXPECT_EQ(outcome.status, 7);
    EXPECT_EQ(outcome.out, "");
    for (const char* part : { "DS-CHAIN-GAP", "weight_v000005", "step 4", "→" })
        EXPECT_NE(outcome.err.find(part), std::string::npos) << part << " in " << outcome.err;
    EXPECT_FALSE(fs::exists(folder.path("out")));
}

TEST_F(CliTest, AnErrorIsOneDocumentWithJson)
{
    const Outcome outcome = call({ "digest", bucket("trl-v2-gap-in-chain") + "@8", "--json" });
    EXPECT_EQ(outcome.status, 7);
    const Json json = outcome.json();
    ASSERT_TRUE(json.is_object()) << outcome.out;
    EXPECT_EQ(json["error"]["code"], "DS-CHAIN-GAP");
    EXPECT_EQ(json["error"]["step"], 7);
    for (const char* key : { "where", "text", "remedy" })
        EXPECT_FALSE(json["error"][key].get<std::string>().empty()) << key;
    EXPECT_NE(outcome.err.find("DS-CHAIN-GAP"), std::string::npos);
}

TEST_F(CliTest, AUsageErrorIsOneDocumentWithJsonToo)
{
    const Outcome outcome = call({ "lgo", "x", "--json" });
    EXPECT_EQ(outcome.status, 2);
    ASSERT_TRUE(outcome.json().is_object()) << outcome.out;
    EXPECT_EQ(outcome.json()["error"]["code"], "DS-USAGE");
}

TEST_F(CliTest, AMistypedCommandIsGuessed)
{
    EXPECT_NE(call({ "materialise", "x" }).err.find("did you mean materialize?"), std::string::npos);
    EXPECT_NE(call({ "lgo", "x" }).err.find("did you mean log?"), std::string::npos);
}

TEST_F(CliTest, AMistypedOptionIsGuessed)
{
    EXPECT_NE(call({ "verify", "x", "--levle", "3" }).err.find("did you mean --level?"), std::string::npos);
    EXPECT_NE(call({ "log", "x", "--header-only" }).err.find("did you mean --headers-only?"), std::string::npos);
}

TEST_F(CliTest, AWordThatIsNearNothingIsNotGuessed)
{
    EXPECT_EQ(call({ "xyzzyplugh", "x" }).err.find("did you mean"), std::string::npos);
}

TEST_F(CliTest, ADiffOfSomeTensorsSaysThatItIsOfThese)
{
    const auto diff = [&](const Arguments& more) {
        Arguments arguments { "diff", bucket("trl-v2-gap") + "@11", bucket("trl-v2-gap") + "@12" };
        arguments.insert(arguments.end(), more.begin(), more.end());
        return call(arguments);
    };
    const Json all = diff({ "--json" }).json();
    const Outcome one = diff({ "*.down_proj.weight", "--json" });
    EXPECT_EQ(one.json()["tensors_total"], 2);
    EXPECT_EQ(one.json()["tensors_left_out"], all["tensors_total"].get<int>() - 2);
    EXPECT_LT(one.json()["bytes_compared"], all["bytes_compared"]);
    const Json compared = one.json()["tensors"];
    for (const Json& tensor : compared)
        EXPECT_NE(std::find(all["tensors"].begin(), all["tensors"].end(), tensor), all["tensors"].end()) << tensor;
    EXPECT_NE(diff({ "*.down_proj.weight" })
                  .out.find("2 of 24 tensors compared (*.down_proj.weight); nothing is known of "
                            "the other 22\n"),
              std::string::npos)
        << diff({ "*.down_proj.weight" }).out;

    const Outcome same = call(
        { "diff", bucket("trl-v2-gap") + "@12", bucket("trl-v2-gap") + "@12", "*.weight", "*.down*", "--exit-code" });
    EXPECT_EQ(same.status, 0);
    const Outcome part = call({ "diff", bucket("trl-v2-gap") + "@12", bucket("trl-v2-gap") + "@12", "*.down_proj.*" });
    EXPECT_NE(part.out.find("These are bit-identical"), std::string::npos) << part.out;
    EXPECT_EQ(part.out.find("A and B are bit-identical"), std::string::npos) << part.out;

    const Outcome none = diff({ "*.down_porj.*" });
    EXPECT_EQ(none.status, 3);
    EXPECT_NE(none.err.find("*.down_porj.*; did you mean model.layers.0.mlp.down_proj.weight"), std::string::npos)
        << none.err;
}

TEST_F(CliTest, ALogOfSomeTensorsLeavesOutTheStepsThatDoNotTouchThem)
{
    const auto log = [&](Arguments more) {
        more.insert(more.begin(), { "log", bucket("trl-v2-gap") });
        return call(more).out;
    };
    const std::string touched = log({ "*.down_proj.weight" });
    EXPECT_NE(touched.find("about 2 of 24 tensors, 4,096 elements: *.down_proj.weight\n"), std::string::npos)
        << touched;
    EXPECT_NE(touched.find("             110   2.69 %         2      220 B"), std::string::npos) << touched;
    const std::string quiet = log({ "*norm*" });
    EXPECT_EQ(quiet.find(" 12  delta"), std::string::npos) << quiet;
    EXPECT_NE(quiet.find("left out: 14 steps without a change in them"), std::string::npos) << quiet;
    EXPECT_NE(log({ "*norm*", "--all" }).find(" 12  delta"), std::string::npos);
    EXPECT_EQ(log({ "*norm*", "--json" }).find("left out"), std::string::npos);
}

TEST_F(CliTest, AMistypedTensorIsGuessed)
{
    const auto stats = [&](const std::string& tensor, const Arguments& more = {}) {
        Arguments arguments { "stats", bucket("trl-v2-gap") + "@12", tensor };
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Outcome outcome = call(arguments);
        EXPECT_EQ(outcome.status, 3) << outcome.err;
        return outcome.err;
    };
    for (const Arguments& more : { Arguments {}, Arguments { "--history", "3" }, Arguments { "--cost" },
                                   Arguments { "--history", "3", "--cost" }, Arguments { "--history", "all" } }) {
        const std::string near = stats("model.layers.0.mlp.down_porj.weight", more);
        EXPECT_NE(near.find("step 12 has no tensor model.layers.0.mlp.down_porj.weight; did you mean "
                            "model.layers.0.mlp.down_proj.weight?"),
                  std::string::npos)
            << near;
    }
    EXPECT_NE(stats("down_proj").find("did you mean model.layers.0.mlp.down_proj.weight"), std::string::npos);
    const std::string far = stats("no.such.tensor");
    EXPECT_NE(far.find("step 12 has no tensor no.such.tensor\n"), std::string::npos) << far;
    EXPECT_EQ(far.find("did you mean"), std::string::npos) << far;
}

// --- streams ---------------------------------------------------------------------------------------------------------

TEST_F(CliTest, WithJsonThereIsOneDocumentAndNothingElse)
{
    const std::string source = bucket("trl-v2-gap");
    for (const Arguments& arguments :
         { Arguments { "log", source }, Arguments { "show", source + "@12" }, Arguments { "ls", source },
           Arguments { "verify", source }, Arguments { "digest", source + "@12" },
           Arguments { "diff", source + "@11", source + "@12" }, Arguments { "doctor" },
           Arguments { "cost", source, "--lr", "1e-6" },
           Arguments { "materialize", source + "@12", "-o", folder.path("out") } }) {
        Arguments json = arguments;
        json.emplace_back("--json");
        const Outcome outcome = call(json);
        EXPECT_EQ(outcome.status, 0) << arguments[0];
        ASSERT_FALSE(outcome.out.empty());
        EXPECT_EQ(outcome.out.find('\n'), outcome.out.size() - 1) << arguments[0];
        EXPECT_TRUE(outcome.json().is_object()) << outcome.out.substr(0, 200);
        EXPECT_EQ(outcome.err, "") << arguments[0];
    }
}

TEST_F(CliTest, TheNextCommandIsSuggestedBesideTheData)
{
    const Outcome outcome = call({ "log", bucket("trl-v2-gap") });
    EXPECT_NE(outcome.err.find("next: deltascope materialize"), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out.find("next:"), std::string::npos);
    EXPECT_EQ(call({ "log", bucket("trl-v2-gap"), "-q" }).err, "");
}

TEST_F(CliTest, ASuggestedCommandCanBeRunAsItStands)
{
    const std::string source = folder.path("my run; rm -rf x");
    fs::copy(bucket("trl-v2-raw"), source, fs::copy_options::recursive);
    const Outcome outcome = call({ "log", source });
    const std::size_t at = outcome.err.find("deltascope materialize ");
    ASSERT_NE(at, std::string::npos);
    const std::string command = outcome.err.substr(at, outcome.err.find('\n', at) - at);
    // what a shell makes of it
    const std::string script =
        "deltascope() { printf '%s\\n' \"$@\" > '" + folder.path("arguments") + "'; }\n" + command + "\n";
    ASSERT_EQ(std::system(("sh -c " + std::string("'") +
                           [&] {
                               std::string quoted;
                               for (const char c : script)
                                   quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
                               return quoted;
                           }()
                           + "'")
                              .c_str()),
              0);
    EXPECT_TRUE(folder.read("arguments").starts_with("materialize\n" + source + "@")) << folder.read("arguments");
}

TEST_F(CliTest, WithoutATerminalThereAreNoColorsUnlessAskedFor)
{
    EXPECT_EQ(call({ "log", bucket("trl-v2-gap") }).out.find('\x1b'), std::string::npos);
    EXPECT_NE(call({ "log", bucket("trl-v2-gap"), "--color", "always" }).out.find("\x1b["), std::string::npos);
    EXPECT_EQ(call({ "log", bucket("trl-v2-gap"), "--color", "always", "--plain" }).out.find('\x1b'),
              std::string::npos);
}

TEST_F(CliTest, TheLogHasALineForEveryStep)
{
    const Outcome outcome = call({ "log", bucket("trl-v2-empty-step") });
    for (int step = 1; step <= 12; ++step)
        EXPECT_NE(outcome.out.find(" " + std::to_string(step) + " "), std::string::npos) << step;
    EXPECT_NE(outcome.out.find("gap"), std::string::npos);
    EXPECT_NE(outcome.out.find("unproven"), std::string::npos);
    EXPECT_NE(outcome.out.find("DS-CHAIN-GAP"), std::string::npos);
}

TEST_F(CliTest, HeadersOnlyLeaveCountsUnknown)
{
    const Json json = call({ "log", bucket("trl-v2-gap"), "--headers-only", "--json" }).json();
    EXPECT_TRUE(json["epochs"][0]["steps"][1]["changed_elems"].is_null());
}

TEST_F(CliTest, ALayoutCanBeForced)
{
    EXPECT_EQ(call({ "log", bucket("trl-v2-gap"), "--layout", "trl-v2", "--json" }).json()["layout"], "trl-v2");
    EXPECT_EQ(call({ "log", bucket("trl-v2-gap"), "--layout", "nonsense" }).status, 3);
}

TEST_F(CliTest, OptionsMayStandBeforeAndBehindTheCommand)
{
    EXPECT_TRUE(call({ "--json", "log", bucket("trl-v2-gap") }).json().is_object());
    EXPECT_TRUE(call({ "log", "--json", bucket("trl-v2-gap") }).json().is_object());
}

// --- materialize -----------------------------------------------------------------------------------------------------

TEST_F(CliTest, AStepIsMaterializedInPartsAndCommitted)
{
    const std::string version = bucket("trl-v2-gap") + "@12";
    const std::string out = folder.path("out");
    for (const char* part : { "0/2", "1/2" }) {
        EXPECT_EQ(call({ "materialize", version, "-o", out, "--shard-size", "30KB", "--shard", part }).status, 0);
        EXPECT_FALSE(fs::exists(out));
    }
    const Outcome outcome = call({ "materialize", version, "-o", out, "--shard-size", "30KB", "--commit", "--json" });
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(call({ "digest", out, "--json" }).json()["root"], outcome.json()["root"]);
    EXPECT_EQ(call({ "diff", version, out, "--exit-code" }).status, 0);
}

TEST_F(CliTest, TheSuggestionOfAPartCommitsTheSameRebuild)
{
    const Outcome outcome = call({ "materialize", bucket("trl-v2-gap") + "@12", "-o", folder.path("out"),
                                   "--shard-size", "30KB", "--shard", "0/2" });
    EXPECT_NE(outcome.err.find("--commit"), std::string::npos);
    EXPECT_NE(outcome.err.find("--shard-size 30KB"), std::string::npos)
        << "without it --commit finds no part: " << outcome.err;
}

TEST_F(CliTest, ADiskReadBackIsAccepted)
{
    EXPECT_EQ(
        call({ "materialize", bucket("trl-v2-raw") + "@3", "-o", folder.path("out"), "--read-back", "disk" }).status,
        0);
}

// --- cost ------------------------------------------------------------------------------------------------------------

TEST_F(CliTest, CostSaysWhatIsAssumedAndWhatIsGiven)
{
    const std::string source = bucket("trl-v2-gap");
    const Outcome assumed = call({ "cost", source });
    EXPECT_NE(assumed.out.find("price 0.09 per GB (assumed)"), std::string::npos) << assumed.out;
    EXPECT_NE(assumed.out.find("steps per day are not known"), std::string::npos) << assumed.out;
    const Outcome given = call({ "cost", source, "--price-per-gb", "2", "--link-gbps", "100", "--steps-per-day", "2880",
                                 "--restores-per-day", "1" });
    EXPECT_EQ(given.out.find("(assumed)"), std::string::npos) << given.out;
    EXPECT_NE(given.out.find("price 2 per GB"), std::string::npos) << given.out;
    EXPECT_NE(given.out.find("2,880 steps per day"), std::string::npos) << given.out;
    EXPECT_NE(given.out.find("← least"), std::string::npos) << given.out;
}

TEST_F(CliTest, CostTakesPricesFromTheConfiguration)
{
    const std::string source = bucket("trl-v2-gap");
    const double before = call({ "cost", source, "--headers-only", "--json" }).json()["full_sync"]["price"];
    folder.write("home/config.toml", "[prices]\nper_gb = 5\n[prices.file]\nper_gb = 0.18\n");
    const Json doubled = call({ "cost", source, "--headers-only", "--json" }).json();
    EXPECT_EQ(doubled["price_per_gb"], 0.18);
    EXPECT_EQ(doubled["price_assumed"], false);
    EXPECT_DOUBLE_EQ(doubled["full_sync"]["price"], 2 * before);

    folder.write("home/config.toml", "[prices.file]\nper_gb = 0.18\nper_1000_requests = 4\n");
    const Json both = call({ "cost", source, "--headers-only", "--price-per-gb", "0", "--json" }).json();
    EXPECT_EQ(both["price_per_gb"], 0);
    EXPECT_EQ(both["price_per_1000_requests"], 4);
    EXPECT_EQ(both["full_sync"]["requests"], 2); // one object: its begin, and one window
    EXPECT_DOUBLE_EQ(both["full_sync"]["price"], 0.008);
    const Outcome text = call({ "cost", source, "--headers-only" });
    EXPECT_NE(text.out.find("price 0.18 per GB and 4.00 per 1,000 requests"), std::string::npos) << text.out;
}

TEST_F(CliTest, CostSaysWhatIsWrongWithTheConfiguration)
{
    folder.write("home/config.toml", "[prices]\n\nper_gb = much\n");
    const Outcome outcome = call({ "cost", bucket("trl-v2-gap") });
    EXPECT_NE(outcome.status, 0);
    EXPECT_NE(outcome.err.find("line 3"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("config.toml"), std::string::npos) << outcome.err;
    EXPECT_EQ(call({ "log", bucket("trl-v2-gap"), "--headers-only" }).status, 0); // needs no prices
}

TEST_F(CliTest, CostLeavesUnknownNumbersNull)
{
    const Json json = call({ "cost", bucket("trl-v2-gap"), "--headers-only", "--json" }).json();
    EXPECT_EQ(json["full_sync"]["bytes"], 187'384);
    EXPECT_TRUE(json["steps_per_day"].is_null());
    EXPECT_TRUE(json["full_sync"]["bytes_per_day"].is_null());
    EXPECT_TRUE(json["observed_changed_frac"].is_null());
    EXPECT_TRUE(json["recommended_cadence"].is_null());
    EXPECT_TRUE(json["prediction"].is_null());
    EXPECT_TRUE(call({ "cost", bucket("slime-v2-xor"), "--json" }).json()["full_sync"].is_null());
}

TEST_F(CliTest, LogTellsTheSizeOfTheBase)
{
    const Json json = call(onBase({ "log", bucket("slime-v2-xor"), "--json" }, "slime-v2-xor")).json();
    std::uint64_t bytes = 0;
    for (const char* shard : { "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors" })
        bytes += std::filesystem::file_size(test::goldenPath("slime-v2-xor/base/") + shard);
    EXPECT_GE(json.at("base_bytes"), bytes);
    EXPECT_LT(json.at("base_bytes"), bytes + 10'000) << "and files of a few kB beside the shards";
    EXPECT_TRUE(call({ "log", bucket("trl-v2-gap"), "--json" }).json().at("base_bytes").is_null());
}

TEST_F(CliTest, CostPredictsFromTheWeightsOfTheBase)
{
    const Json json = call(onBase({ "cost", bucket("slime-v2-xor"), "--lr", "1e-6", "--json" }, "slime-v2-xor")).json();
    EXPECT_NEAR(json["prediction"]["sigma"].get<double>(), 0.02, 0.001);
    EXPECT_NEAR(json["prediction"]["changed_frac"].get<double>(), 0.0099, 0.0005);
    EXPECT_EQ(json["full_sync_is_base"], true);
    EXPECT_TRUE(json["observed_changed_frac"].is_number());
}

TEST_F(CliTest, StatisticsOfATensorAreTextAndJson)
{
    const Arguments stats = { "stats", bucket("trl-v2-gap") + "@12", "model.layers.0.mlp.down_proj.weight" };
    const Outcome text = call(stats);
    EXPECT_EQ(text.status, 0) << text.err;
    for (const char* word : { "step 12", "step 11", "p99.9", "rel. L2", "ulp", "Values at step 12" })
        EXPECT_NE(text.out.find(word), std::string::npos) << word << "\n" << text.out;
    const auto with = [&](Arguments more) {
        Arguments all = stats;
        all.insert(all.end(), more.begin(), more.end());
        return call(all);
    };
    EXPECT_EQ(with({ "--against", "2", "--json" }).json()["a"]["step"], 2);
    EXPECT_EQ(with({ "--history", "3", "--json" }).json()["steps"].size(), 3U);
    EXPECT_NE(with({ "--history", "3" }).out.find("norm"), std::string::npos);
    EXPECT_EQ(with({ "--cost", "--json" }).json()["steps"], 2);
    EXPECT_TRUE(with({ "--cost" }).out.starts_with("reads "));
    EXPECT_EQ(with({ "--history", "3", "--against", "2" }).status, 2);
    EXPECT_EQ(with({ "--history", "all", "--json" }).json()["first_changed"]["step"], 2);
    EXPECT_NE(with({ "--history", "all" }).out.find("first changed  step 2"), std::string::npos);
    EXPECT_EQ(with({ "--history", "some" }).status, 2);
    EXPECT_EQ(call({ "stats", bucket("trl-v2-gap") + "@12", "no.such.tensor" }).status, 3);
}

// --- help ------------------------------------------------------------------------------------------------------------

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

// --- names from strangers --------------------------------------------------------------------------------------------

/// Nothing that a terminal obeys: no control characters but line breaks, no direction changes.
void expectHarmless(const std::string& text, const std::string& what)
{
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        EXPECT_TRUE(byte >= 0x20 || byte == '\n')
            << what << ": control " << int(byte) << " in " << text.substr(i > 20 ? i - 20 : 0, 40);
        EXPECT_NE(byte, 0x7f) << what;
        const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : '\xff');
        EXPECT_FALSE(byte == 0xc2 && next < 0xa0) << what << ": C1 control";
    }
    for (const char* bidi : { "\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069",
                              "\u200e", "\u200f" })
        EXPECT_EQ(text.find(bidi), std::string::npos) << what;
}

class CliStrangers : public CliTest {
protected:
    CliStrangers()
    {
        const std::string names[] = { "red\x1b[31mname", "title\x1b]0;gotcha\x07",
                                      "line\nbreak\r",   "back\u202ewards",
                                      "c1\u009b31m",     "del\x7f",
                                      "tab\there",       "broken\xff\xfe" };
        std::vector<TensorInfo> full;
        std::string data;
        for (const std::string& name : names) {
            if (name.starts_with("broken"))
                continue; // no valid JSON can hold it
            full.push_back({ name, Dtype::BF16, { 4 } });
            data += "12345678";
        }
        const std::map<std::string, std::string, std::less<>> anchor = { { "format", "sparse_weight_patch" },
                                                                         { "sparse", "False" },
                                                                         { "encoding", "raw" },
                                                                         { "num_changed_params", "\x1b[2J" } };
        source = "evil\x1b[31m\u202erun";
        folder.write(source + "/anchors/step_000001.safetensors", writeSafetensorsHeader(full, anchor) + data);
        std::vector<TensorInfo> sparse;
        std::string payload;
        for (const TensorInfo& tensor : full)
            sparse.push_back({ tensor.name + ".idx", Dtype::I32, { 1 } });
        for (const TensorInfo& tensor : full)
            sparse.push_back({ tensor.name + ".val", Dtype::BF16, { 1 } });
        for (std::size_t i = 0; i < full.size(); ++i)
            payload += std::string("\x02\0\0\0", 4);
        for (std::size_t i = 0; i < full.size(); ++i)
            payload += "xy";
        auto delta = anchor;
        delta["sparse"] = "True";
        folder.write(source + "/deltas/step_000002.safetensors", writeSafetensorsHeader(sparse, delta) + payload);
        // a position that is out of range, so that a tensor's name stands in an error
        sparse.resize(1);
        sparse.push_back({ full[0].name + ".val", Dtype::BF16, { 1 } });
        folder.write(source + "/deltas/step_000003.safetensors",
                     writeSafetensorsHeader(sparse, delta) + std::string("\x63\0\0\0", 4) + "xy");
        for (const std::string& name : names) {
            std::string file = name;
            std::replace(file.begin(), file.end(), '/', '_');
            folder.write(source + "/notes " + file, "x");
        }
        source = folder.path(source);
    }

    std::string source;
};

TEST_F(CliStrangers, NeverReachTheTerminal)
{
    const std::string out = folder.path("out\x1b[31m");
    for (const Arguments& arguments :
         { Arguments { "log", source },
           Arguments { "show", source + "@2" },
           Arguments { "show", source + "@3" },
           Arguments { "ls", source },
           Arguments { "verify", source, "--level", "4" },
           Arguments { "digest", source + "@2" },
           Arguments { "digest", source + "@3" },
           Arguments { "diff", source + "@1", source + "@2" },
           Arguments { "materialize", source + "@2", "-o", out },
           Arguments { "materialize", source + "@2", "-o", out },
           Arguments { "materialize", source + "@3", "-o", out + "2" },
           Arguments { "diff", source + "@2", test::goldenPath("hf-single/bucket") },
           Arguments { "doctor", source },
           Arguments { "cost", source, "--lr", "1e-6" },
           Arguments { "log", folder.path("no\x1b[31msuch") },
           Arguments { "show", source + "@\x1b[31m" },
           Arguments { "lo\x1b[31mg" },
           Arguments { "log", source, "--layout", "\x1b[31m" },
           Arguments { "log", source, "--\x1b[31m" },
           Arguments { "materialize", source + "@2", "-o", folder.path("parts\x1b[31m"), "--shard", "0/2" } }) {
        const Outcome outcome = call(arguments);
        const std::string what = arguments[0] + " " + std::to_string(outcome.status);
        expectHarmless(outcome.out, what + " stdout");
        expectHarmless(outcome.err, what + " stderr");
        EXPECT_FALSE(outcome.out.empty() && outcome.err.empty()) << what;
    }
}

TEST_F(CliStrangers, AreShownSoThatTheyCanBeToldApart)
{
    const Outcome outcome = call({ "show", source + "@2" });
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("red\\u{1b}[31mname"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("line\\u{a}break"), std::string::npos);
}

TEST_F(CliStrangers, AreWholeInJson)
{
    const Json json = call({ "show", source + "@2", "--json" }).json();
    ASSERT_TRUE(json.is_object());
    const auto& tensors = json["tensors"];
    EXPECT_TRUE(std::any_of(tensors.begin(), tensors.end(),
                            [](const Json& tensor) { return tensor["name"] == "red\x1b[31mname"; }));
}

// --- text ------------------------------------------------------------------------------------------------------------

TEST(SafeText, LeavesPrintableTextAlone)
{
    for (const char* text : { "", "model.layers.0.weight", "größe", "模型", "😀", "a b" })
        EXPECT_EQ(safe(text), text);
}

TEST(SafeText, EscapesWhatATerminalObeys)
{
    EXPECT_EQ(safe("\x1b[31m"), "\\u{1b}[31m");
    EXPECT_EQ(safe("\u202e"), "\\u{202e}");
    EXPECT_EQ(safe("\u009b"), "\\u{9b}");
    EXPECT_EQ(safe(std::string_view("\0", 1)), "\\u{0}");
    EXPECT_EQ(safe("\x7f\n\t"), "\\u{7f}\\u{a}\\u{9}");
}

TEST(SafeText, EscapesBrokenUtf8)
{
    EXPECT_EQ(safe("\xff"), "\\xff");
    EXPECT_EQ(safe("a\xc3"), "a\\xc3");
    EXPECT_EQ(safe("\x9b"), "\\x9b"); // C1 in Latin-1
}

TEST(SafeText, OverlongFormsHideNoControl)
{
    for (const char* overlong : { "\xc0\x9b", "\xe0\x80\x9b", "\xf0\x80\x80\x9b", "\xc1\x9b", "\xe0\x82\x9b" })
        expectHarmless(safe(overlong), overlong);
}

TEST(NumberText, HasThreeDigitGroupsAndUnits)
{
    EXPECT_EQ(countText(0), "0");
    EXPECT_EQ(countText(999), "999");
    EXPECT_EQ(countText(92'352), "92,352");
    EXPECT_EQ(countText(1'000'000), "1,000,000");
    EXPECT_EQ(bytesText(0), "0 B");
    EXPECT_EQ(bytesText(999), "999 B");
    EXPECT_EQ(bytesText(187'384), "187.4 kB");
    EXPECT_EQ(bytesText(999'999), "1.0 MB");
    EXPECT_EQ(bytesText(~0ULL), "18.4 EB");
}

TEST(NumberText, SmallSharesAreNotZero)
{
    EXPECT_EQ(percentText(0), "0 %");
    EXPECT_EQ(percentText(0.00001), "<0.01 %");
    EXPECT_EQ(percentText(0.0083), "0.83 %");
    EXPECT_EQ(percentText(0.5), "50.0 %");
    EXPECT_EQ(percentText(1), "100.0 %");
}

TEST(NumberText, AgesAreWholeUnitsAndNeverNegative)
{
    EXPECT_EQ(ageText(10'000'000, 17'000'000), "7 s");
    EXPECT_EQ(ageText(17'000'000, 10'000'000), "0 s");
    EXPECT_EQ(ageText(0, 172'800'000'000), "2 d");
}

TEST(NumberText, BarsHaveTheirWidth)
{
    const auto cells = [](const std::string& bar) {
        return std::count_if(bar.begin(), bar.end(),
                             [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
    };
    for (const double fraction : { 0.0, 0.0001, 0.1, 0.49, 0.5, 0.999, 1.0, 2.0 })
        EXPECT_EQ(cells(barText(fraction, 8)), 8) << fraction;
    EXPECT_EQ(barText(0, 4), "    ");
    EXPECT_NE(barText(0.0001, 4), "    ");
}

// --- epochs, doubts, drift -------------------------------------------------------------------------------------------

/// A copy of a golden bucket whose objects were written one after another; step 1 was then copied onto itself.
class CliEpochs : public CliTest {
protected:
    std::string copyOf(const std::string& name, bool touched) const
    {
        const std::string copy = folder.path(name);
        fs::copy(bucket(name), copy, fs::copy_options::recursive);
        const auto begin = fs::file_time_type::clock::now() - std::chrono::hours(24);
        for (const auto& entry : fs::recursive_directory_iterator(copy)) {
            if (!entry.is_regular_file())
                continue;
            const int step = std::stoi(entry.path().stem().string().substr(5));
            fs::last_write_time(entry.path(), begin + std::chrono::minutes(touched && step == 1 ? 600 : step));
        }
        return copy;
    }
};

TEST_F(CliEpochs, AStepThatWasCopiedOntoItselfDoesNotBecomeTheLatest)
{
    const std::string source = copyOf("trl-v2-gap", true);
    const Json made = call({ "materialize", source, "-o", folder.path("a"), "--json" }).json();
    EXPECT_EQ(made["step"], 15);
    EXPECT_TRUE(made["chosen"].is_null());
}

TEST_F(CliEpochs, LatestSaysWhichStepItMeansWhereAHigherNumberExists)
{
    const std::string source = copyOf("trl-v2-gap", true);
    const Json made = call({ "materialize", source, "-o", folder.path("a"), "--epochs", "times", "--json" }).json();
    EXPECT_EQ(made["step"], 1);
    const std::string expected = "step 15 belongs to an earlier run";
    EXPECT_NE(made["chosen"].get<std::string>().find(expected), std::string::npos) << made;
    for (const Arguments& arguments :
         { Arguments { "materialize", source + "@latest", "-o", folder.path("b"), "--epochs", "times" },
           Arguments { "digest", source, "--epochs", "times" }, Arguments { "show", source, "--epochs", "times" },
           Arguments { "log", source, "--epochs", "times" } })
        EXPECT_NE(call(arguments).out.find(expected), std::string::npos) << arguments.front();
    EXPECT_EQ(call({ "digest", source + "@1", "--epochs", "times" }).out.find(expected), std::string::npos);
}

TEST_F(CliEpochs, AnotherWordIsAWrongCall)
{
    EXPECT_EQ(call({ "log", bucket("trl-v2-gap"), "--epochs", "never" }).status, 2);
}

TEST_F(CliEpochs, MaterializeSaysThatADeltaOnTheWayMayBeLost)
{
    const std::string source = copyOf("trl-v2-drift-bf16", false);
    for (const auto& entry : fs::recursive_directory_iterator(source)) { // without other segments no habit is known
        if (entry.is_regular_file() && std::stoi(entry.path().stem().string().substr(5)) > 5)
            fs::remove(entry.path());
    }
    const Json made = call({ "materialize", source, "-o", folder.path("a"), "--json" }).json();
    EXPECT_EQ(made["proven"], false);
    EXPECT_NE(call({ "materialize", source, "-o", folder.path("b") }).out.find("DS-UNPROVEN"), std::string::npos);
    const Outcome verified = call({ "verify", source, "--level", "4", "--json" });
    EXPECT_EQ(verified.status, 0);
    EXPECT_EQ(verified.json()["result"], "unverified");
}

TEST_F(CliEpochs, ADriftAlarmFailsTheVerificationOfAllStepsConcerned)
{
    const std::string source = copyOf("trl-v2-gap", false);
    const std::string anchor = source + "/anchors/step_000010.safetensors";
    const auto size = static_cast<std::size_t>(fs::file_size(anchor));
    std::fstream file(anchor, std::ios::binary | std::ios::in | std::ios::out);
    for (std::size_t at = size - 8000; at < size; at += 2) { // 4,000 elements of the last tensor move by 64 ulp
        file.seekg(static_cast<std::streamoff>(at));
        const char byte = static_cast<char>(file.get() ^ 0x40);
        file.seekp(static_cast<std::streamoff>(at));
        file.put(byte);
    }
    file.close();
    const Outcome verified = call({ "verify", source, "--level", "4", "--json" });
    EXPECT_EQ(verified.status, 6);
    const Json report = verified.json();
    for (const Json& step : report["steps"]) {
        EXPECT_EQ(step["result"] == "unverified", step["step"] >= 2) << step;
        // What is behind sets elements to where they were: from there on values move far.
        EXPECT_EQ(step["health"] == "suspect", step["step"] > 10) << step;
    }
}

} // namespace
} // namespace deltascope::cli
