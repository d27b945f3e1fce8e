#include "environment.h"

#include <cstdlib>

namespace deltascope::http {

namespace {

std::string valueOf(const char* name)
{
    const char* const value = std::getenv(name);
    return value ? value : "";
}

std::string withoutProxy()
{
    std::string hosts = valueOf("no_proxy");
    if (hosts.empty())
        hosts = valueOf("NO_PROXY");
    if (hosts == "*") // means every host only where it stands alone
        return hosts;
    return hosts + (hosts.empty() ? "" : ",") + "localhost,127.0.0.1,::1";
}

}

Environment readEnvironment()
{
    // libcurl reads the variables of proxies by itself; those of certificates only its command line does, in this
    // order.
    Environment environment;
    environment.noProxy = withoutProxy();
    environment.caFile = valueOf("CURL_CA_BUNDLE");
    if (environment.caFile.empty()) {
        environment.caFile = valueOf("SSL_CERT_FILE");
        environment.caFolder = valueOf("SSL_CERT_DIR");
    }
    return environment;
}

} // namespace deltascope::http
