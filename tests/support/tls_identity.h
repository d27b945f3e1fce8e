#pragma once

#include <memory>
#include <openssl/ssl.h>
#include <string>

namespace deltascope::test {

/// A fresh key with a certificate for 127.0.0.1 that signs itself, so that nobody trusts it who was not told to.
class TlsIdentity {
public:
    TlsIdentity();

    SSL_CTX* context() const { return m_context.get(); }
    const std::string& certificate() const { return m_certificate; } ///< PEM

private:
    std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> m_context { nullptr, &SSL_CTX_free };
    std::string m_certificate;
};

} // namespace deltascope::test
