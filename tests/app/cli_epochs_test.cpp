#include "cli_fixture.h"

#include <chrono>
#include <fstream>

// What the program says of epochs, doubts and drift.

namespace deltascope::cli {
namespace {

using namespace cli_test;

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
