#include "credentials.h"

#include "credential_ways.h"
#include "deltascope/engine/http_url.h"
#include "encoding.h"

#include <fmt/format.h>

namespace deltascope::s3 {

namespace {

constexpr auto EarlyRenewal = std::chrono::minutes(5);
constexpr std::size_t MostProfiles = 8; ///< in a chain of source_profile

class FixedCredentials final : public CredentialSource {
public:
    explicit FixedCredentials(Credentials keys)
        : m_keys(std::move(keys))
    {
    }
    Result<Credentials> credentials(TaskContext&) override { return m_keys; }
    Result<Credentials> renew(const Credentials&, TaskContext&) override { return m_keys; }

private:
    const Credentials m_keys;
};

using SourceResult = Result<std::shared_ptr<CredentialSource>>;

std::shared_ptr<CredentialSource> kept(std::unique_ptr<CredentialProvider> provider)
{
    return std::make_shared<KeptCredentials>(std::move(provider));
}

/// Looks through one configuration.
class CredentialFinder {
public:
    CredentialFinder(const S3Settings& settings, const Variables& variables, AwsConfig config,
                     std::shared_ptr<http::Sender> sender)
        : m_settings(settings)
        , m_variables(variables)
        , m_config(std::move(config))
        , m_sender(std::move(sender))
        , m_isProfileNamed(m_settings.profile != "default" || !m_variables("AWS_PROFILE").empty())
    {
    }

    SourceResult find() const
    {
        const std::string named = m_variables("AWS_PROFILE");
        const bool isProfileChosen = m_settings.profile != (named.empty() ? "default" : named);
        if (!isProfileChosen) {
            if (auto keys = keysOfEnvironment())
                return fixedCredentials(std::move(*keys));
            if (const std::string file = m_variables("AWS_WEB_IDENTITY_TOKEN_FILE"); !file.empty())
                return webIdentity(m_variables("AWS_ROLE_ARN"), file, m_variables("AWS_ROLE_SESSION_NAME"),
                                   m_settings.profile);
        }
        return ofProfile(m_settings.profile, 0);
    }

private:
    std::optional<Credentials> keysOfEnvironment() const
    {
        Credentials keys { m_variables("AWS_ACCESS_KEY_ID"), m_variables("AWS_SECRET_ACCESS_KEY"),
                           m_variables("AWS_SESSION_TOKEN") };
        return keys.keyId.empty() || keys.secret.empty() ? std::nullopt : std::optional(std::move(keys));
    }

    SourceResult ofProfile(const std::string& profile, std::size_t depth) const
    {
        if (depth >= MostProfiles)
            return fail(Code::Usage, "the profiles of the AWS config files name one another in a circle", profile);
        const auto value = [&](std::string_view name) { return m_config.valueOf(profile, name); };
        const std::string role = value("role_arn");
        const std::string source = value("source_profile");
        if (!role.empty() && !value("web_identity_token_file").empty())
            return webIdentity(role, value("web_identity_token_file"), value("role_session_name"), profile);
        if (!role.empty() && !source.empty()) {
            SourceResult base = source == profile ? ownKeys(profile) : ofProfile(source, depth + 1);
            DS_CHECK(base);
            return assumed(role, profile, std::move(*base));
        }
        if (!role.empty() && !value("credential_source").empty()) {
            DS_TRY(auto base, ofSource(value("credential_source")));
            return assumed(role, profile, std::move(base));
        }
        if (!value("aws_access_key_id").empty())
            return ownKeys(profile);
        if (!source.empty() && source != profile)
            return ofProfile(source, depth + 1);
        if (!value("sso_session").empty() || !value("sso_start_url").empty())
            return singleSignOn(profile);
        if (const std::string command = value("credential_process"); !command.empty())
            return kept(processKeys(command));
        if (const std::string word = value("credential_source"); !word.empty())
            return ofSource(word);
        if (depth == 0 && !m_isProfileNamed)
            return SourceResult(nullptr);
        return fail(Code::Auth, fmt::format("there are no AWS credentials for the profile \"{}\"", profile), {},
                    "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name another profile in AWS_PROFILE.");
    }

    SourceResult ownKeys(const std::string& profile) const
    {
        Credentials keys { m_config.valueOf(profile, "aws_access_key_id"),
                           m_config.valueOf(profile, "aws_secret_access_key"),
                           m_config.valueOf(profile, "aws_session_token") };
        if (keys.keyId.empty() || keys.secret.empty())
            return fail(Code::Usage, "this profile of the AWS config files lacks one of its two keys", profile);
        return fixedCredentials(std::move(keys));
    }

    RoleSettings roleSettings(std::string role, std::string session, const std::string& profile) const
    {
        RoleSettings settings;
        settings.region = m_settings.region;
        settings.endpoint =
            serviceEndpoint(m_variables, m_config, profile, "AWS_ENDPOINT_URL_STS", "sts",
                            fmt::format("https://sts.{}.{}", settings.region, dnsSuffix(settings.region)));
        settings.roleArn = std::move(role);
        settings.sessionName = session.empty() ? "deltascope" : std::move(session);
        return settings;
    }

    SourceResult webIdentity(std::string role, std::string tokenFile, std::string session,
                             const std::string& profile) const
    {
        if (role.empty())
            return fail(Code::Usage, "a web identity token is configured, but not which role it is for", {},
                        "Set AWS_ROLE_ARN too.");
        RoleSettings settings = roleSettings(std::move(role), std::move(session), profile);
        settings.tokenFile = std::move(tokenFile);
        return kept(roleKeys(std::move(settings), m_sender));
    }

    SourceResult assumed(const std::string& role, const std::string& profile,
                         std::shared_ptr<CredentialSource> base) const
    {
        RoleSettings settings = roleSettings(role, m_config.valueOf(profile, "role_session_name"), profile);
        settings.externalId = m_config.valueOf(profile, "external_id");
        settings.base = std::move(base);
        return kept(roleKeys(std::move(settings), m_sender));
    }

    SourceResult singleSignOn(const std::string& profile) const
    {
        const std::string session = m_config.valueOf(profile, "sso_session");
        std::string region = m_config.valueOf(profile, "sso_region");
        if (const auto section = m_config.ssoSessions.find(session); section != m_config.ssoSessions.end()) {
            if (const auto value = section->second.find("sso_region"); value != section->second.end())
                region = value->second;
        }
        SsoSettings settings;
        settings.tokenFile =
            ssoTokenFile(m_variables, session.empty() ? m_config.valueOf(profile, "sso_start_url") : session);
        settings.accountId = m_config.valueOf(profile, "sso_account_id");
        settings.roleName = m_config.valueOf(profile, "sso_role_name");
        if (settings.accountId.empty() || settings.roleName.empty() || region.empty() || settings.tokenFile.empty())
            return fail(Code::Usage,
                        "this profile signs on with IAM Identity Center, but lacks sso_account_id, sso_role_name or "
                        "sso_region",
                        profile, "Run `aws configure sso` for this profile.");
        settings.endpoint = serviceEndpoint(m_variables, m_config, profile, "AWS_ENDPOINT_URL_SSO", "sso",
                                            fmt::format("https://portal.sso.{}.{}", region, dnsSuffix(region)));
        return kept(ssoKeys(std::move(settings), m_sender));
    }

    SourceResult ofSource(const std::string& word) const
    {
        if (word == "Environment") {
            if (auto keys = keysOfEnvironment())
                return fixedCredentials(std::move(*keys));
            return fail(Code::Auth, "credential_source is Environment, and AWS_ACCESS_KEY_ID is not set");
        }
        if (word == "Ec2InstanceMetadata") {
            if (m_settings.isMetadataDisabled)
                return fail(Code::Auth,
                            "credential_source is Ec2InstanceMetadata, and AWS_EC2_METADATA_DISABLED "
                            "forbids to ask for it");
            const std::string endpoint = m_variables("AWS_EC2_METADATA_SERVICE_ENDPOINT");
            return kept(instanceKeys(endpoint.empty() ? "http://169.254.169.254" : endpoint, m_sender));
        }
        if (word == "EcsContainer")
            return ofContainer();
        return fail(Code::Usage, "credential_source must be Environment, Ec2InstanceMetadata or EcsContainer", word);
    }

    SourceResult ofContainer() const
    {
        ContainerSettings settings;
        settings.url = m_variables("AWS_CONTAINER_CREDENTIALS_FULL_URI");
        if (const std::string path = m_variables("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); path.starts_with('/'))
            settings.url = "http://169.254.170.2" + path;
        settings.token = m_variables("AWS_CONTAINER_AUTHORIZATION_TOKEN");
        settings.tokenFile = m_variables("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
        const Result<http::Url> url = http::Url::parse(settings.url);
        if (!url || !url->isHttp())
            return fail(Code::Auth,
                        "credential_source is EcsContainer, and no AWS_CONTAINER_CREDENTIALS_… variable "
                        "says where to ask");
        const bool isLocal = url->host == "localhost" || url->host == "[::1]" || url->host.starts_with("127.")
            || url->host == "169.254.170.2" || url->host == "169.254.170.23" || url->host == "[fd00:ec2::23]";
        if (url->scheme != "https" && !isLocal)
            return fail(Code::Usage, "keys of a container must not be asked for over plain HTTP from another machine",
                        url->publicText());
        return kept(containerKeys(std::move(settings), m_sender));
    }

    const S3Settings& m_settings;
    const Variables& m_variables;
    const AwsConfig m_config;
    const std::shared_ptr<http::Sender> m_sender;
    const bool m_isProfileNamed;
};

} // namespace

KeptCredentials::KeptCredentials(std::unique_ptr<CredentialProvider> provider, WallClock clock)
    : m_provider(std::move(provider))
    , m_clock(std::move(clock))
{
}

Result<Credentials> KeptCredentials::credentials(TaskContext& task) { return fetch(nullptr, task); }

Result<Credentials> KeptCredentials::renew(const Credentials& refused, TaskContext& task)
{
    return fetch(&refused, task);
}

Result<Credentials> KeptCredentials::fetch(const Credentials* refused, TaskContext& task)
{
    DS_TRY(const TaskMutex::Hold held, m_mutex.hold(task));
    const bool isRefused = refused && m_kept && m_kept->keys.keyId == refused->keyId
        && m_kept->keys.sessionToken == refused->sessionToken; // unless another thread has renewed them already
    if (isRefused)
        m_kept.reset();
    if (m_kept && (!m_kept->expires || m_clock() + EarlyRenewal < *m_kept->expires))
        return m_kept->keys;
    Result<DatedCredentials> fetched = m_provider->fetch(task);
    if (!fetched) {
        const bool mayServe = m_kept && m_clock() < *m_kept->expires;
        if (mayServe && fetched.error().code != Code::Canceled)
            return m_kept->keys;
        return fail(std::move(fetched.error()));
    }
    m_kept = std::move(*fetched);
    return m_kept->keys;
}

std::shared_ptr<CredentialSource> fixedCredentials(Credentials keys)
{
    return std::make_shared<FixedCredentials>(std::move(keys));
}

SourceResult findCredentials(const S3Settings& settings, const Variables& variables,
                             std::shared_ptr<http::Sender> sender)
{
    DS_TRY(AwsConfig config, readAwsConfig(variables));
    return CredentialFinder(settings, variables, std::move(config), std::move(sender)).find();
}

} // namespace deltascope::s3
