#include "../../base/percent_code.h"
#include "credential_ways.h"
#include "deltascope/engine/file_system.h"
#include "deltascope/engine/http_url.h"
#include "encoding.h"
#include "replies.h"
#include "xml.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <openssl/evp.h>

namespace deltascope::s3 {

namespace {

using nlohmann::json;

constexpr std::uint64_t MostTokenBytes = std::uint64_t { 64 } << 10;
constexpr auto MetadataConnect = std::chrono::milliseconds(2000); // nobody answers outside a cloud

std::string jsonText(const json& object, const char* name)
{
    const auto member = object.is_object() ? object.find(name) : object.end();
    return member != object.end() && member->is_string() ? member->get<std::string>() : std::string();
}

Result<std::string> tokenOfFile(const std::string& path)
{
    const auto disk = makeFileSystem();
    DS_TRY(const std::string text, readTextFile(*disk, path, MostTokenBytes));
    std::string token(trimBlanks(text));
    if (token.empty())
        return fail(Code::Auth, "the file of a token is empty", path);
    return token;
}

class SsoKeys final : public CredentialProvider {
public:
    SsoKeys(SsoSettings settings, std::shared_ptr<http::Sender> sender)
        : m_settings(std::move(settings))
        , m_sender(std::move(sender))
    {
    }

    Result<DatedCredentials> fetch(TaskContext& task) override
    {
        DS_TRY(const std::string token, keptToken());
        http::Request request;
        request.url = fmt::format("{}/federation/credentials?role_name={}&account_id={}", m_settings.endpoint,
                                  percentEncode(m_settings.roleName), percentEncode(m_settings.accountId));
        request.headers.add("x-amz-sso_bearer_token", token);
        DS_TRY(const std::string text, askForKeys(*m_sender, std::move(request), "IAM Identity Center", task));
        const json reply = json::parse(text, nullptr, false);
        const auto member = reply.is_object() ? reply.find("roleCredentials") : reply.end();
        if (member == reply.end() || !member->is_object())
            return fail(Code::Auth, "IAM Identity Center answers without keys");
        DatedCredentials found { { jsonText(*member, "accessKeyId"), jsonText(*member, "secretAccessKey"),
                                   jsonText(*member, "sessionToken") },
                                 std::nullopt };
        const auto expires = member->find("expiration"); // milliseconds since 1970
        if (found.keys.keyId.empty() || found.keys.secret.empty() || expires == member->end()
            || !expires->is_number_integer())
            return fail(Code::Auth, "IAM Identity Center answers without keys");
        constexpr std::int64_t MostMilliseconds = 7'258'118'400'000; // the year 2200
        found.expires = std::chrono::system_clock::time_point(
            std::chrono::milliseconds(std::clamp<std::int64_t>(expires->get<std::int64_t>(), 0, MostMilliseconds)));
        return found;
    }

private:
    Result<std::string> keptToken() const
    {
        constexpr const char* Action = "Run `aws sso login` for this profile.";
        const auto disk = makeFileSystem();
        const Result<std::string> text = readTextFile(*disk, m_settings.tokenFile, MostTokenBytes);
        if (!text)
            return fail(Code::Auth, "nobody has signed on to IAM Identity Center", m_settings.tokenFile, Action);
        const json kept = json::parse(*text, nullptr, false);
        std::string token = jsonText(kept, "accessToken");
        const auto expires = parseIsoTime(jsonText(kept, "expiresAt"));
        if (token.empty() || !expires)
            return fail(Code::Auth, "the kept sign-on to IAM Identity Center cannot be read", m_settings.tokenFile,
                        Action);
        if (*expires <= std::chrono::system_clock::now())
            return fail(Code::Auth, "the sign-on to IAM Identity Center has expired", m_settings.tokenFile, Action);
        return token;
    }

    const SsoSettings m_settings;
    const std::shared_ptr<http::Sender> m_sender;
};

class RoleKeys final : public CredentialProvider {
public:
    RoleKeys(RoleSettings settings, std::shared_ptr<http::Sender> sender)
        : m_settings(std::move(settings))
        , m_sender(std::move(sender))
    {
    }

    Result<DatedCredentials> fetch(TaskContext& task) override
    {
        const bool isWeb = !m_settings.tokenFile.empty();
        Query form { { "Action", isWeb ? "AssumeRoleWithWebIdentity" : "AssumeRole" },
                     { "Version", "2011-06-15" },
                     { "RoleArn", m_settings.roleArn },
                     { "RoleSessionName", m_settings.sessionName } };
        if (isWeb) {
            DS_TRY(std::string token, tokenOfFile(m_settings.tokenFile)); // it is replaced from time to time
            form.emplace_back("WebIdentityToken", std::move(token));
        }
        if (!m_settings.externalId.empty())
            form.emplace_back("ExternalId", m_settings.externalId);
        DS_TRY(http::Request request, requestOf(queryText(form), task));
        DS_TRY(const std::string text, askForKeys(*m_sender, std::move(request), "AWS STS", task));
        return keysOf(text, isWeb ? "AssumeRoleWithWebIdentityResult" : "AssumeRoleResult");
    }

private:
    Result<http::Request> requestOf(std::string form, TaskContext& task) const
    {
        DS_TRY(const http::Url url, http::Url::parse(m_settings.endpoint));
        http::Request request;
        request.method = "POST";
        request.repeatable = true; // it changes nothing
        request.url = url.scheme + "://" + url.authority() + url.path;
        request.headers.add("Content-Type", "application/x-www-form-urlencoded; charset=utf-8");
        if (m_settings.base) {
            DS_TRY(const Credentials keys, m_settings.base->credentials(task));
            const SignedParts parts { "POST", url.authority(), url.path, {}, request.headers, sha256Hex(form) };
            DS_TRY(http::Headers signedLines,
                   signRequest(parts, { m_settings.region, "sts", std::chrono::system_clock::now() }, keys));
            request.headers = std::move(signedLines);
        }
        request.body = http::bodyOf(std::move(form));
        return request;
    }

    static Result<DatedCredentials> keysOf(const std::string& text, std::string_view name)
    {
        DS_TRY(const XmlElement root, parseXml(text));
        const XmlElement* const result = root.child(name);
        const XmlElement* const found = result ? result->child("Credentials") : nullptr;
        if (!found)
            return fail(Code::Auth, "AWS STS answers without keys");
        DatedCredentials keys { { std::string(found->textOf("AccessKeyId")),
                                  std::string(found->textOf("SecretAccessKey")),
                                  std::string(found->textOf("SessionToken")) },
                                parseIsoTime(found->textOf("Expiration")) };
        if (keys.keys.keyId.empty() || keys.keys.secret.empty() || !keys.expires)
            return fail(Code::Auth, "AWS STS answers without keys");
        return keys;
    }

    const RoleSettings m_settings;
    const std::shared_ptr<http::Sender> m_sender;
};

constexpr KeyNames MetadataNames { "AccessKeyId", "SecretAccessKey", "Token", "Expiration" };

class InstanceKeys final : public CredentialProvider {
public:
    InstanceKeys(std::string endpoint, std::shared_ptr<http::Sender> sender)
        : m_endpoint(std::move(endpoint))
        , m_sender(std::move(sender))
    {
    }

    Result<DatedCredentials> fetch(TaskContext& task) override
    {
        constexpr const char* Source = "the metadata service of this instance";
        constexpr const char* Folder = "/latest/meta-data/iam/security-credentials/";
        http::Request request = requestTo("/latest/api/token");
        request.method = "PUT";
        request.headers.add("X-aws-ec2-metadata-token-ttl-seconds", "300");
        DS_TRY(const std::string token, askForKeys(*m_sender, std::move(request), Source, task));
        http::Request roles = requestTo(Folder);
        roles.headers.add("X-aws-ec2-metadata-token", std::string(trimBlanks(token)));
        DS_TRY(const std::string names, askForKeys(*m_sender, roles, Source, task));
        const std::string role(trimBlanks(names.substr(0, names.find('\n'))));
        if (role.empty())
            return fail(Code::Auth, "this instance has no role that gives it keys");
        roles.url = m_endpoint + Folder + percentEncode(role);
        DS_TRY(const std::string text, askForKeys(*m_sender, std::move(roles), Source, task));
        return keysOfJson(text, MetadataNames, Source);
    }

private:
    http::Request requestTo(std::string_view path) const
    {
        http::Request request;
        request.url = m_endpoint + std::string(path);
        request.connectWithin = MetadataConnect;
        return request;
    }

    const std::string m_endpoint;
    const std::shared_ptr<http::Sender> m_sender;
};

class ContainerKeys final : public CredentialProvider {
public:
    ContainerKeys(ContainerSettings settings, std::shared_ptr<http::Sender> sender)
        : m_settings(std::move(settings))
        , m_sender(std::move(sender))
    {
    }

    Result<DatedCredentials> fetch(TaskContext& task) override
    {
        constexpr const char* Source = "the service for the keys of this container";
        std::string token = m_settings.token;
        if (!m_settings.tokenFile.empty()) {
            DS_TRY(std::string read, tokenOfFile(m_settings.tokenFile));
            token = std::move(read);
        }
        http::Request request;
        request.url = m_settings.url;
        request.connectWithin = MetadataConnect;
        if (!token.empty())
            request.headers.add("Authorization", token);
        DS_TRY(const std::string text, askForKeys(*m_sender, std::move(request), Source, task));
        return keysOfJson(text, MetadataNames, Source);
    }

private:
    const ContainerSettings m_settings;
    const std::shared_ptr<http::Sender> m_sender;
};

} // namespace

Result<DatedCredentials> keysOfJson(std::string_view text, const KeyNames& names, std::string_view source)
{
    const json reply = json::parse(text, nullptr, false);
    DatedCredentials found {
        { jsonText(reply, names.keyId), jsonText(reply, names.secret), jsonText(reply, names.token) }, std::nullopt
    };
    if (found.keys.keyId.empty() || found.keys.secret.empty())
        return fail(Code::Auth, fmt::format("{} answers without keys", source));
    const std::string expires = jsonText(reply, names.expiration);
    found.expires = parseIsoTime(expires);
    if (!expires.empty() && !found.expires)
        return fail(Code::Auth, fmt::format("{} gives keys with an expiry that cannot be read", source));
    return found;
}

Result<std::string> askForKeys(http::Sender& sender, http::Request request, std::string_view source, TaskContext& task)
{
    request.destination = http::Keep { MostTokenBytes };
    Result<http::Response> reply = sender.send(request, task);
    if (!reply) {
        Error error = std::move(reply.error());
        error.text = fmt::format("{} cannot be asked for keys: {}", source, error.text);
        return fail(std::move(error));
    }
    if (reply->isGood())
        return std::move(reply->body);
    const ErrorReply said = parseErrorReply(reply->body);
    const Code code = http::errorOfStatus(reply->status, {}).code;
    return fail(code == Code::Transient ? code : Code::Auth,
                fmt::format("{} gives no keys (status {}{}{})", source, reply->status, said.code.empty() ? "" : ", ",
                            said.code.substr(0, 64)),
                {}, "See that role, account and sign-on of the profile are right.");
}

std::unique_ptr<CredentialProvider> ssoKeys(SsoSettings settings, std::shared_ptr<http::Sender> sender)
{
    return std::make_unique<SsoKeys>(std::move(settings), std::move(sender));
}

std::string ssoTokenFile(const Variables& variables, std::string_view sessionOrUrl)
{
    std::array<std::byte, 20> digest {};
    unsigned size = 0;
    if (sessionOrUrl.empty()
        || EVP_Digest(sessionOrUrl.data(), sessionOrUrl.size(), reinterpret_cast<unsigned char*>(digest.data()), &size,
                      EVP_sha1(), nullptr)
            != 1)
        return {};
    return awsFolderPath(variables, "sso/cache/" + toHex(digest) + ".json");
}

std::unique_ptr<CredentialProvider> roleKeys(RoleSettings settings, std::shared_ptr<http::Sender> sender)
{
    return std::make_unique<RoleKeys>(std::move(settings), std::move(sender));
}

std::unique_ptr<CredentialProvider> instanceKeys(std::string endpoint, std::shared_ptr<http::Sender> sender)
{
    return std::make_unique<InstanceKeys>(std::move(endpoint), std::move(sender));
}

std::unique_ptr<CredentialProvider> containerKeys(ContainerSettings settings, std::shared_ptr<http::Sender> sender)
{
    return std::make_unique<ContainerKeys>(std::move(settings), std::move(sender));
}

} // namespace deltascope::s3
