#pragma once

#include "http.h"
#include "lockout.h"
#include "secret.h"
#include "token_file.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace deltascope::server {

/// What a request shows to say who it is.
struct Credentials {
    std::string client; ///< whose failures count together (RequestHead)
    std::string authorization; ///< header of this name
    std::string session; ///< value of the session cookie
    std::string proxyUser; ///< name that a trusted proxy vouches for
};

/// Who may do what. Sessions live in memory only. Not thread-safe.
class Auth {
public:
    /// Why somebody is not let in.
    struct Refusal {
        enum Kind : unsigned char { NotSignedIn, Wrong, LockedOut };
        Kind kind;
        std::chrono::seconds wait { 0 }; ///< until the next try counts; of LockedOut
    };
    template <class T> using Outcome = tl::expected<T, Refusal>;

    struct Session {
        std::string id; ///< the secret of the cookie
        Principal principal;
    };

    /// Without `allowActs` everybody has scope read, whatever the token says.
    Auth(std::vector<Token> tokens, bool allowActs,
         std::function<Lockout::Clock::time_point()> now = Lockout::Clock::now);

    /// For the URL that is printed at start; good for one session.
    const std::string& code() const noexcept { return m_code; }

    /// Who failed to sign in has to wait, with right tokens too, or guessing would go on. A token that was right within
    /// the last day passes all the same: its owner uses it, and somebody else at the same address must not lock them
    /// out.
    Outcome<Principal> identify(const Credentials& credentials);
    /// `secret` is the one-time code, or a token.
    Outcome<Session> signIn(std::string_view secret, const std::string& client);
    void signOut(std::string_view session);
    /// How many sessions have ended.
    std::uint64_t endedSessions() const noexcept { return m_endedSessions; }

private:
    struct Known {
        SecretDigest session;
        Principal principal;
    };

    Outcome<Principal> byToken(std::string_view secret, const std::string& client);
    Principal limited(Principal principal) const;
    const Known* known(std::string_view session) const;

    struct Entry {
        Token token;
        std::optional<Lockout::Clock::time_point> rightAt; ///< the last time
    };

    std::vector<Entry> m_tokens;
    const bool m_allowActs;
    const std::function<Lockout::Clock::time_point()> m_now;
    const std::string m_code;
    bool m_codeUsed = false;
    Lockout m_lockout;
    std::deque<Known> m_sessions;
    std::uint64_t m_endedSessions = 0;
};

} // namespace deltascope::server
