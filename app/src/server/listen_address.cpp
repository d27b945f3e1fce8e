#include "listen_address.h"

#include "deltascope/base/bytes.h"

namespace deltascope::server {

Result<ListenAddress> parseListenAddress(std::string_view text)
{
    const std::size_t colon = text.rfind(':');
    std::string_view host = text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']'))
        host = host.substr(1, host.size() - 2);
    else if (host.find(':') != std::string_view::npos)
        host = {};
    const auto port = colon == std::string_view::npos ? std::nullopt : parseNumber(text.substr(colon + 1));
    if (host.empty() || !port || *port > 65'535)
        return fail(Code::Usage, "the address to listen on is not HOST:PORT", std::string(text),
                    "Write for example --listen 127.0.0.1:7717 or --listen [::1]:7717.");
    return ListenAddress { std::string(host), std::uint16_t(*port) };
}

} // namespace deltascope::server
