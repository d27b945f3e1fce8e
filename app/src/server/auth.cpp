#include "auth.h"

#include <algorithm>

namespace deltascope::server {

namespace {

constexpr std::size_t kMaxSessions = 1'000; // the oldest one goes
constexpr std::chrono::hours kRecent { 24 }; // a token that was right within that time passes

}

Auth::Auth(std::vector<Token> tokens, bool allowActs, std::function<Lockout::Clock::time_point()> now)
    : m_allowActs(allowActs)
    , m_now(std::move(now))
    , m_code(randomHex(16))
    , m_lockout(m_now)
{
    for (Token& token : tokens)
        m_tokens.push_back({ std::move(token), std::nullopt });
}

Auth::Outcome<Principal> Auth::identify(const Credentials& credentials)
{
    constexpr std::string_view kBearer = "Bearer ";
    if (credentials.authorization.starts_with(kBearer))
        return byToken(std::string_view(credentials.authorization).substr(kBearer.size()), credentials.client);
    if (const Known* session = known(credentials.session))
        return session->principal;
    if (isPrincipalName(credentials.proxyUser))
        return limited({ credentials.proxyUser, Scope::Act });
    return tl::unexpected(Refusal { Refusal::NotSignedIn });
}

Auth::Outcome<Auth::Session> Auth::signIn(std::string_view secret, const std::string& client)
{
    Session session { randomHex(32), limited({ "local", Scope::Act }) };
    const bool isCode = sameDigest(digestOf(secret), digestOf(m_code)) && !m_codeUsed;
    if (isCode && m_lockout.wait(client).count() == 0) {
        m_codeUsed = true;
    } else {
        Outcome<Principal> principal = byToken(secret, client);
        if (!principal)
            return tl::unexpected(principal.error());
        session.principal = std::move(*principal);
    }
    if (m_sessions.size() == kMaxSessions) {
        m_sessions.pop_front();
        ++m_endedSessions;
    }
    m_sessions.push_back({ digestOf(session.id), session.principal });
    return session;
}

void Auth::signOut(std::string_view session)
{
    m_endedSessions += std::erase_if(
        m_sessions, [digest = digestOf(session)](const Known& known) { return sameDigest(known.session, digest); });
}

Auth::Outcome<Principal> Auth::byToken(std::string_view secret, const std::string& client)
{
    const SecretDigest digest = digestOf(secret);
    Entry* found = nullptr;
    for (Entry& entry : m_tokens) { // all of them, so that the time says nothing
        if (sameDigest(entry.token.digest, digest))
            found = &entry;
    }
    const bool wasRecentlyRight = found && found->rightAt && m_now() - *found->rightAt < kRecent;
    const std::chrono::seconds wait = m_lockout.wait(client);
    if (wait.count() > 0 && !wasRecentlyRight)
        return tl::unexpected(Refusal { Refusal::LockedOut, wait });
    if (!found) {
        m_lockout.fail(client);
        return tl::unexpected(Refusal { Refusal::Wrong });
    }
    found->rightAt = m_now();
    return limited({ found->token.name, found->token.scope });
}

Principal Auth::limited(Principal principal) const
{
    if (!m_allowActs)
        principal.scope = Scope::Read;
    return principal;
}

const Auth::Known* Auth::known(std::string_view session) const
{
    if (session.empty())
        return nullptr;
    const SecretDigest digest = digestOf(session);
    const auto found = std::find_if(m_sessions.begin(), m_sessions.end(),
                                    [&](const Known& known) { return sameDigest(known.session, digest); });
    return found == m_sessions.end() ? nullptr : &*found;
}

} // namespace deltascope::server
