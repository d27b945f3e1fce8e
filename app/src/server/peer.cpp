#include "peer.h"

#include <boost/asio/ip/network_v6.hpp>

namespace deltascope::server {

namespace ip = boost::asio::ip;

std::string clientOf(const ip::address& address)
{
    constexpr unsigned short kMachineBits = 64;
    if (address.is_v4())
        return address.to_string();
    return ip::network_v6(address.to_v6(), kMachineBits).canonical().to_string();
}

std::string clientOf(const Peer& peer) { return peer.address ? clientOf(*peer.address) : "unix"; }

ip::address plainForm(const ip::address& address)
{
    if (address.is_v6() && address.to_v6().is_v4_mapped())
        return ip::make_address_v4(ip::v4_mapped, address.to_v6());
    return address;
}

} // namespace deltascope::server
