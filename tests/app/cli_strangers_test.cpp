#include "cli/terminal.h"
#include "cli_fixture.h"
#include "deltascope/engine/safetensors.h"

// Names that strangers chose never reach the terminal as they are.

namespace deltascope::cli {
namespace {

using namespace cli_test;

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

} // namespace
} // namespace deltascope::cli
