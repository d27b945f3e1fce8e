#include "tls.h"

#include "trusted_file.h"

#include <boost/asio/buffer.hpp>

namespace deltascope::server {

namespace ssl = boost::asio::ssl;

Result<std::shared_ptr<ssl::context>> makeTls(const std::string& certificateFile, const std::string& keyFile,
                                              std::vector<std::string>& warnings)
{
    DS_TRY(const std::string certificate, readTrustedFile(certificateFile, "certificate"));
    DS_TRY(const std::string key, readSecretFile(keyFile, "key of the certificate", warnings));
    const auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
    context->set_options(ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1 | ssl::context::no_compression);
    // Without this OpenSSL would ask the terminal for it.
    context->set_password_callback([](std::size_t, ssl::context::password_purpose) { return std::string(); });
    boost::system::error_code error;
    context->use_certificate_chain(boost::asio::buffer(certificate), error);
    if (error)
        return fail(Code::Usage, "this is no certificate in PEM: " + error.message(), certificateFile);
    context->use_private_key(boost::asio::buffer(key), ssl::context::pem, error);
    if (error)
        return fail(Code::Usage,
                    "this is no key in PEM without a password that fits the certificate: " + error.message(), keyFile);
    if (SSL_CTX_check_private_key(context->native_handle()) != 1)
        return fail(Code::Usage, "the key is that of another certificate", keyFile);
    return context;
}

} // namespace deltascope::server
