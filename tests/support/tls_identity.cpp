#include "tls_identity.h"

#include <array>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdexcept>

namespace deltascope::test {

namespace {

constexpr long CertificateSeconds = 3600;

template <auto Free> struct OpensslFree {
    template <class Object> void operator()(Object* object) const { Free(object); }
};
using Key = std::unique_ptr<EVP_PKEY, OpensslFree<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, OpensslFree<X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, OpensslFree<X509_EXTENSION_free>>;
using Memory = std::unique_ptr<BIO, OpensslFree<BIO_free>>;

Certificate certificateOf(EVP_PKEY* key)
{
    Certificate certificate(X509_new());
    X509_set_version(certificate.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -CertificateSeconds);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), CertificateSeconds);
    X509_NAME* const name = X509_get_subject_name(certificate.get());
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
    X509_set_issuer_name(certificate.get(), name);
    X509_set_pubkey(certificate.get(), key);
    const Extension host(X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1"));
    X509_add_ext(certificate.get(), host.get(), -1);
    X509_sign(certificate.get(), key, EVP_sha256());
    return certificate;
}

std::string pemOf(X509* certificate)
{
    const Memory memory(BIO_new(BIO_s_mem()));
    PEM_write_bio_X509(memory.get(), certificate);
    char* text = nullptr;
    const long bytes = BIO_get_mem_data(memory.get(), &text);
    return { text, static_cast<std::size_t>(bytes) };
}

}

TlsIdentity::TlsIdentity()
{
    const Key key(EVP_EC_gen("P-256"));
    const Certificate certificate = certificateOf(key.get());
    m_context.reset(SSL_CTX_new(TLS_server_method()));
    if (SSL_CTX_use_certificate(m_context.get(), certificate.get()) != 1
        || SSL_CTX_use_PrivateKey(m_context.get(), key.get()) != 1)
        throw std::runtime_error("there is no certificate to serve with");
    m_certificate = pemOf(certificate.get());
}

} // namespace deltascope::test
