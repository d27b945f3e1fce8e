#include "cli/exit_codes.h"
#include "cli_fixture.h"

// Exit statuses.

namespace deltascope::cli {
namespace {

using namespace cli_test;

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

} // namespace
} // namespace deltascope::cli
