#include "cli_fixture.h"

// What the program says, and on which stream.

namespace deltascope::cli {
namespace {

using namespace cli_test;

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

} // namespace
} // namespace deltascope::cli
