#include "server_options.h"

#include "guards.h"
#include "secret.h"

#include "deltascope/base/bytes.h"

#include <algorithm>
#include <fmt/format.h>
#include <span>
#include <unistd.h>

namespace deltascope::server {

Result<ServerOptions> checked(ServerOptions options)
{
    if (options.listen.empty() && options.unixSocket.empty())
        return fail(Code::Usage, "there is no address to listen on", {},
                    "Give --listen HOST:PORT or --unix-socket PATH.");
    if (!options.basePath.starts_with('/'))
        options.basePath.insert(0, "/");
    if (!options.basePath.ends_with('/'))
        options.basePath += '/';
    const bool plain = std::all_of(options.basePath.begin(), options.basePath.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
            || std::string_view("/._~-").find(c) != std::string_view::npos;
    });
    if (!plain || options.basePath.find("//") != std::string::npos)
        return fail(Code::Usage, "the base path may hold letters, digits, and /._~- only", options.basePath);
    for (const std::string& origin : options.embedders) {
        if (!isOrigin(origin))
            return fail(Code::Usage, "an origin that may embed is SCHEME://HOST[:PORT]", origin,
                        "Write for example --allow-embed https://portal.example.org.");
    }
    if (options.tlsCertificate.empty() != options.tlsKey.empty())
        return fail(Code::Usage, "a certificate and its key belong together", {},
                    "Give both --tls-cert and --tls-key.");
    if (options.authProxyHeader.empty() && !options.authProxyFrom.empty())
        return fail(Code::Usage, "where a proxy comes from means nothing without the header that it sets", {},
                    "Give --auth-proxy HEADER, too.");
    return options;
}

std::string cookieName(const ServerOptions& options, std::uint16_t port)
{
    char host[256] = {};
    gethostname(host, sizeof host - 1);
    const SecretDigest digest = digestOf(fmt::format("{}:{}{}{}", host, port, options.unixSocket, options.basePath));
    return "deltascope_" + toHex(std::as_bytes(std::span(digest))).substr(0, 8);
}

} // namespace deltascope::server
