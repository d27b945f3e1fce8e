#include "store/hub/hub_environment.h"

#include "store/hub/hub_api.h"
#include "support/golden.h"
#include "support/temp_dir.h"

#include <gtest/gtest.h>
#include <map>

// Token, endpoint and offline switch against what huggingface_hub itself says: tests/golden/hub/token_cases.json is
// what tests/peers/hub_token_cases.py prints.

namespace deltascope::hub {
namespace {

using test::TempDir;

/// The environment that discoverToken sees; it takes a plain function.
std::map<std::string, std::string>& givenVariables()
{
    static std::map<std::string, std::string> variables;
    return variables;
}

const char* givenVariable(const char* name)
{
    const auto found = givenVariables().find(name);
    return found == givenVariables().end() ? nullptr : found->second.c_str();
}

std::string withFolder(std::string text, const std::string& home)
{
    for (std::size_t at = text.find("{home}"); at != std::string::npos; at = text.find("{home}"))
        text.replace(at, 6, home);
    return text;
}

class NoSender final : public http::Sender {
public:
    Result<http::Response> send(const http::Request&, TaskContext&) override { return fail(Code::Io, "no network"); }
    http::Counters counters() const override { return {}; }
};

TEST(HubEnvironment, IsReadAsTheOfficialClientReadsIt)
{
    std::ifstream file(test::goldenPath("hub/token_cases.json"));
    const nlohmann::json cases = nlohmann::json::parse(file);
    ASSERT_GT(cases.size(), 30U);
    for (const nlohmann::json& one : cases) {
        const TempDir home;
        givenVariables() = { { "HOME", home.path() } };
        for (const auto& [name, value] : one["variables"].items())
            givenVariables()[name] = withFolder(value.get<std::string>(), home.path());
        for (const auto& [name, text] : one["files"].items())
            home.write(name, text.get<std::string>());
        const auto token = discoverToken(givenVariable);
        ASSERT_TRUE(token) << one << token.error().text;
        EXPECT_EQ(*token, one["token"].get<std::string>()) << one;
        EXPECT_EQ(endpointOf(givenVariable), one["endpoint"].get<std::string>()) << one;
        EXPECT_EQ(isOffline(givenVariable), one["offline"].get<bool>()) << one;
    }
}

TEST(HubEnvironment, OfflineIsRefusedWithItsCause)
{
    givenVariables() = { { "HF_HUB_OFFLINE", "1" } };
    const auto api = HubApi::make({ "https://hub.example.org", "", {}, http::systemRetryClock() },
                                  std::make_shared<NoSender>(), givenVariable);
    ASSERT_FALSE(api);
    EXPECT_EQ(api.error().code, Code::Usage);
    EXPECT_NE(api.error().text.find("HF_HUB_OFFLINE"), std::string::npos);
    EXPECT_NE(api.error().action.find("HF_HUB_OFFLINE"), std::string::npos);
}

TEST(HubEnvironment, ATokenThatCannotBeReadIsNoMissingToken)
{
    const TempDir home;
    givenVariables() = { { "HOME", home.path() }, { "HF_TOKEN_PATH", home.path() } }; // a folder
    const auto token = discoverToken(givenVariable);
    ASSERT_FALSE(token);
    EXPECT_EQ(token.error().code, Code::Auth);
    EXPECT_EQ(token.error().where, home.path());
}

TEST(HubEnvironment, AnExplicitTokenIsSentWhateverTheEnvironmentSays)
{
    givenVariables() = { { "HF_HUB_DISABLE_IMPLICIT_TOKEN", "1" }, { "HF_TOKEN", "hf_other" } };
    const auto api = HubApi::make({ "https://hub.example.org", "hf_given", {}, http::systemRetryClock() },
                                  std::make_shared<NoSender>(), givenVariable);
    ASSERT_TRUE(api);
    EXPECT_EQ((*api)->request("GET", "/x").headers.find("Authorization"), "Bearer hf_given");
    const auto none = HubApi::make({ "https://hub.example.org", "", {}, http::systemRetryClock() },
                                   std::make_shared<NoSender>(), givenVariable);
    ASSERT_TRUE(none);
    EXPECT_FALSE((*none)->request("GET", "/x").headers.find("Authorization"));
}

TEST(HubEnvironment, ABrokenTokenIsNotRepeatedInTheText)
{
    givenVariables() = {};
    const auto api = HubApi::make({ "https://hub.example.org", "hf_se\ncret", {}, http::systemRetryClock() },
                                  std::make_shared<NoSender>(), givenVariable);
    ASSERT_FALSE(api);
    EXPECT_EQ(api.error().code, Code::Auth);
    EXPECT_EQ((api.error().text + api.error().where + api.error().action).find("cret"), std::string::npos);
}

TEST(HubEnvironment, EndpointsThatAreNoPlainAddressAreRefused)
{
    givenVariables() = {};
    for (const char* endpoint : { "ftp://hub.example.org", "https://user:pw@hub.example.org", "hub",
                                  "https://hub.example.org?x=1", "https://hub.example.org#x" }) {
        const auto api =
            HubApi::make({ endpoint, "", {}, http::systemRetryClock() }, std::make_shared<NoSender>(), givenVariable);
        ASSERT_FALSE(api) << endpoint;
        EXPECT_EQ(api.error().code, Code::Usage) << endpoint;
        EXPECT_EQ(api.error().text.find("pw"), std::string::npos);
    }
}

} // namespace
} // namespace deltascope::hub
