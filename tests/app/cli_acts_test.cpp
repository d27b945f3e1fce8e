#include "cli_fixture.h"

// materialize and cost.

namespace deltascope::cli {
namespace {

using namespace cli_test;

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

} // namespace
} // namespace deltascope::cli
