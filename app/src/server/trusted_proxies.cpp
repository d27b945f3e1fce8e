#include "trusted_proxies.h"

#include <algorithm>

namespace deltascope::server {

namespace ip = boost::asio::ip;

namespace {

/// Asio has no membership test: the network of the address with the same length has to be the same.
bool contains(const ip::network_v4& network, const ip::address_v4& address)
{
    return ip::network_v4(address, network.prefix_length()).canonical() == network;
}

bool contains(const ip::network_v6& network, const ip::address_v6& address)
{
    return ip::network_v6(address, network.prefix_length()).canonical() == network;
}

/// "1.2.3.4", "1.2.3.4:80", "::1", "[::1]", "[::1]:80".
std::optional<ip::address> parseForwarded(std::string_view text)
{
    while (text.starts_with(' ') || text.starts_with('\t'))
        text.remove_prefix(1);
    while (text.ends_with(' ') || text.ends_with('\t'))
        text.remove_suffix(1);
    if (text.starts_with('['))
        text = text.substr(1, std::min(text.find(']'), text.size()) - 1);
    else if (std::count(text.begin(), text.end(), ':') == 1)
        text = text.substr(0, text.find(':'));
    boost::system::error_code error;
    const ip::address address = ip::make_address(std::string(text), error);
    return error ? std::nullopt : std::optional(plainForm(address));
}

}

Result<TrustedProxies> TrustedProxies::make(std::string header, const std::vector<std::string>& networks)
{
    TrustedProxies proxies;
    proxies.m_header = std::move(header);
    for (const std::string& network : networks.empty() ? std::vector<std::string> { "127.0.0.0/8", "::1" } : networks)
        DS_CHECK(proxies.add(network));
    return proxies;
}

Result<void> TrustedProxies::add(const std::string& network)
{
    const bool isV6 = network.find(':') != std::string::npos;
    const std::string whole = network.find('/') != std::string::npos ? network : network + (isV6 ? "/128" : "/32");
    boost::system::error_code error;
    if (isV6) {
        const ip::network_v6 parsed = ip::make_network_v6(whole, error);
        if (!error)
            m_v6.push_back(parsed.canonical());
    } else {
        const ip::network_v4 parsed = ip::make_network_v4(whole, error);
        if (!error)
            m_v4.push_back(parsed.canonical());
    }
    if (error)
        return fail(Code::Usage, "this is no network that a proxy can come from", network,
                    "Write for example --auth-proxy-from 10.1.0.0/16 or --auth-proxy-from fd00::/8.");
    return {};
}

bool TrustedProxies::include(const Peer& peer) const
{
    if (m_header.empty() || !peer.address)
        return !m_header.empty();
    const auto holds = [&](const auto& network) {
        if constexpr (std::is_same_v<std::decay_t<decltype(network)>, ip::network_v4>)
            return contains(network, peer.address->to_v4());
        else
            return contains(network, peer.address->to_v6());
    };
    return peer.address->is_v4() ? std::any_of(m_v4.begin(), m_v4.end(), holds)
                                 : std::any_of(m_v6.begin(), m_v6.end(), holds);
}

std::string TrustedProxies::clientOf(const Peer& peer, std::string_view forwardedFor) const
{
    if (include(peer)) {
        const std::size_t comma = forwardedFor.rfind(',');
        const auto last =
            parseForwarded(comma == std::string_view::npos ? forwardedFor : forwardedFor.substr(comma + 1));
        if (last)
            return server::clientOf(*last);
    }
    return server::clientOf(peer);
}

} // namespace deltascope::server
