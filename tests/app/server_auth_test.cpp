#include "server/auth.h"

#include "deltascope/base/bytes.h"

#include <gtest/gtest.h>
#include <span>

// Who gets in, with what scope, and who is locked out.

namespace deltascope::server {
namespace {

using namespace std::chrono_literals;

constexpr const char* kReadToken = "read-token-0123456789";
constexpr const char* kAdminToken = "admin-token-0123456789";

std::string hexOf(std::string_view secret)
{
    const SecretDigest digest = digestOf(secret);
    return toHex(std::as_bytes(std::span(digest)));
}

class AuthTest : public testing::Test {
protected:
    Auth make(bool allowActs)
    {
        const auto tokens =
            parseTokens(std::string("grafana read ") + kReadToken + "\nkim admin " + kAdminToken + "\n");
        return Auth(tokens.value(), allowActs, [this] { return m_now; });
    }
    static Credentials bearer(const std::string& token, const std::string& client = "10.0.0.1")
    {
        return { client, "Bearer " + token, {}, {} };
    }
    static Credentials cookie(const std::string& session) { return { "10.0.0.1", {}, session, {} }; }

    Lockout::Clock::time_point m_now {};
};

TEST_F(AuthTest, TokensHaveNameAndScope)
{
    Auth auth = make(true);
    const auto principal = auth.identify(bearer(kAdminToken));
    ASSERT_TRUE(principal);
    EXPECT_EQ(principal->name, "kim");
    EXPECT_EQ(principal->scope, Scope::Admin);
    EXPECT_EQ(auth.identify(bearer(kReadToken))->scope, Scope::Read);
}

TEST_F(AuthTest, NobodyActsWhereActsAreOff)
{
    Auth auth = make(false);
    EXPECT_EQ(auth.identify(bearer(kAdminToken))->scope, Scope::Read);
    EXPECT_EQ(auth.signIn(auth.code(), "c")->principal.scope, Scope::Read);
    EXPECT_EQ(auth.identify({ "c", {}, {}, "kim" })->scope, Scope::Read);
}

TEST_F(AuthTest, TheCodeMakesOneSession)
{
    Auth auth = make(true);
    const auto session = auth.signIn(auth.code(), "c");
    ASSERT_TRUE(session);
    EXPECT_EQ(session->principal.name, "local");
    EXPECT_EQ(session->principal.scope, Scope::Act);
    EXPECT_EQ(auth.identify(cookie(session->id))->name, "local");
    const auto again = auth.signIn(auth.code(), "c");
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().kind, Auth::Refusal::Wrong);
}

TEST_F(AuthTest, ATokenMakesSessionsToo)
{
    Auth auth = make(true);
    const auto first = auth.signIn(kReadToken, "c");
    const auto second = auth.signIn(kReadToken, "c");
    ASSERT_TRUE(first && second);
    EXPECT_NE(first->id, second->id);
    EXPECT_EQ(auth.identify(cookie(first->id))->name, "grafana");
    EXPECT_TRUE(auth.signIn(auth.code(), "c")) << "the code is still good";
}

TEST_F(AuthTest, SigningOutEndsTheSession)
{
    Auth auth = make(true);
    const auto gone = auth.signIn(kReadToken, "c");
    const auto stays = auth.signIn(kReadToken, "c");
    auth.signOut(gone->id);
    EXPECT_FALSE(auth.identify(cookie(gone->id)));
    EXPECT_TRUE(auth.identify(cookie(stays->id)));
}

TEST_F(AuthTest, NothingAndUnknownSessionsAreNobodyAndNoFailure)
{
    Auth auth = make(true);
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(auth.identify({ "10.0.0.1", {}, {}, {} }).error().kind, Auth::Refusal::NotSignedIn);
        EXPECT_EQ(auth.identify(cookie("of the daemon before")).error().kind, Auth::Refusal::NotSignedIn);
        EXPECT_EQ(auth.identify({ "10.0.0.1", "Basic a2ltOng=", {}, {} }).error().kind, Auth::Refusal::NotSignedIn);
    }
    EXPECT_TRUE(auth.identify(bearer(kReadToken)));
}

TEST_F(AuthTest, EachFailureDoublesTheWaitUpToAMinute)
{
    Auth auth = make(true);
    for (const int seconds : { 1, 2, 4, 8, 16, 32, 60, 60 }) {
        EXPECT_EQ(auth.identify(bearer("guess")).error().kind, Auth::Refusal::Wrong);
        const auto refused = auth.identify(bearer(kReadToken));
        ASSERT_FALSE(refused) << "or guessing would go on";
        EXPECT_EQ(refused.error().kind, Auth::Refusal::LockedOut);
        EXPECT_EQ(refused.error().wait, std::chrono::seconds(seconds));
        m_now += std::chrono::seconds(seconds) - 1ms;
        EXPECT_EQ(auth.identify(bearer("guess")).error().kind, Auth::Refusal::LockedOut) << "and does not count";
        EXPECT_EQ(auth.signIn(auth.code(), "10.0.0.1").error().wait, 1s);
        m_now += 1ms;
    }
    EXPECT_TRUE(auth.identify(bearer(kReadToken)));
    EXPECT_TRUE(auth.signIn(auth.code(), "10.0.0.1")) << "a refused code is not used up";
}

TEST_F(AuthTest, AfterTenMinutesWithoutAFailureTheWaitIsShortAgain)
{
    Auth auth = make(true);
    for (int i = 0; i < 3; ++i) {
        EXPECT_FALSE(auth.identify(bearer("guess")));
        m_now += 5s;
    }
    m_now += Lockout::kMemory;
    EXPECT_FALSE(auth.identify(bearer("guess")));
    EXPECT_EQ(auth.identify(bearer(kReadToken)).error().wait, 1s);
}

TEST_F(AuthTest, SessionsAndOtherClientsAreNotConcerned)
{
    Auth auth = make(true);
    const auto session = auth.signIn(auth.code(), "10.0.0.1");
    EXPECT_FALSE(auth.identify(bearer("guess")));
    EXPECT_TRUE(auth.identify(cookie(session->id))) << "who is in stays in";
    EXPECT_TRUE(auth.identify(bearer(kReadToken, "10.0.0.2")));
}

TEST_F(AuthTest, ATokenThatWasRightWithinADayPasses)
{
    Auth auth = make(true);
    ASSERT_TRUE(auth.identify(bearer(kReadToken)));
    m_now += 24h - 1s;
    for (int i = 0; i < 9; ++i)
        EXPECT_FALSE(auth.identify(bearer("guess")));
    EXPECT_EQ(auth.identify(bearer(kAdminToken)).error().kind, Auth::Refusal::LockedOut) << "this one was never here";
    ASSERT_TRUE(auth.identify(bearer(kReadToken)));
    EXPECT_TRUE(auth.signIn(kReadToken, "10.0.0.1"));
    m_now += 25h;
    EXPECT_FALSE(auth.identify(bearer("guess")));
    EXPECT_EQ(auth.identify(bearer(kReadToken)).error().kind, Auth::Refusal::LockedOut) << "a day later";
}

TEST_F(AuthTest, WrongCodesCountAsFailures)
{
    Auth auth = make(true);
    EXPECT_EQ(auth.signIn("guess", "c").error().kind, Auth::Refusal::Wrong);
    EXPECT_EQ(auth.signIn(auth.code(), "c").error().kind, Auth::Refusal::LockedOut);
}

TEST(Lockout, RemembersSoManyClientsAndNoMore)
{
    Lockout::Clock::time_point now {};
    Lockout lockout([&] { return now; });
    for (int i = 0; i < 3; ++i)
        lockout.fail("guesser");
    for (std::size_t i = 0; i < 2 * Lockout::kMostClients; ++i)
        lockout.fail(std::to_string(i));
    EXPECT_EQ(lockout.wait("0").count(), 0) << "forgotten";
    EXPECT_EQ(lockout.wait("guesser").count(), 4) << "who has to wait longest stays";
}

TEST_F(AuthTest, AProxyNamesItsUsers)
{
    Auth auth = make(true);
    EXPECT_EQ(auth.identify({ "c", {}, {}, "kim@example.org" })->name, "kim@example.org");
    EXPECT_EQ(auth.identify({ "c", {}, {}, "kim@example.org" })->scope, Scope::Act);
    EXPECT_FALSE(auth.identify({ "c", {}, {}, "<script>" }));
    EXPECT_FALSE(auth.identify({ "c", {}, {}, std::string(65, 'a') }));
}

TEST(TokenFile, ReadsPlainAndHashedTokens)
{
    const auto tokens = parseTokens("# who\n\n a read 0123456789abcdef\r\nb\tact\tsha256:" + hexOf("secret") + "\n");
    ASSERT_TRUE(tokens);
    ASSERT_EQ(tokens->size(), 2U);
    EXPECT_EQ((*tokens)[0].digest, digestOf("0123456789abcdef"));
    EXPECT_EQ((*tokens)[1].scope, Scope::Act);
    EXPECT_EQ((*tokens)[1].digest, digestOf("secret"));
}

TEST(TokenFile, RefusesWhatItDoesNotUnderstandAndRepeatsNoSecret)
{
    const std::string secret = "canary-0123456789abcdef";
    const std::vector<std::string> lines {
        "name read",
        "name root " + secret,
        "na/me read " + secret,
        "name read " + secret + " more",
        "name read short",
        "name read sha256:" + secret,
        "# nothing",
        "",
        "name read sha256:" + std::string(64, 'g'),
        std::string(65, 'n') + " read " + secret,
    };
    for (const std::string& line : lines) {
        const auto tokens = parseTokens(line);
        ASSERT_FALSE(tokens) << line;
        EXPECT_EQ(tokens.error().code, Code::Usage);
        EXPECT_EQ((tokens.error().text + tokens.error().action + tokens.error().where).find("canary"),
                  std::string::npos);
    }
    EXPECT_EQ(parseTokens("a read 0123456789abcdef\n\nb read x").error().text.find("line 3"), 0U);
}

}
}
