#pragma once

#include "credentials.h"

namespace deltascope::s3 {

// The single ways to get keys. Each fetch() asks again.

/// The output of a program, as JSON: Version 1, AccessKeyId, SecretAccessKey, SessionToken, Expiration. It is run by
/// /bin/sh, its messages are dropped, and it ends with the task. Source: AWS SDKs and Tools reference guide, "Process
/// credential provider".
std::unique_ptr<CredentialProvider> processKeys(std::string command);

struct SsoSettings {
    std::string endpoint; ///< of the portal
    std::string tokenFile; ///< where `aws sso login` keeps its token
    std::string accountId;
    std::string roleName;
};
/// GetRoleCredentials of IAM Identity Center with a token that is already there. Source: IAM Identity Center portal API
/// reference.
std::unique_ptr<CredentialProvider> ssoKeys(SsoSettings settings, std::shared_ptr<http::Sender> sender);

/// The file of a token: the SHA-1 of the session's name, or of the start URL.
std::string ssoTokenFile(const Variables& variables, std::string_view sessionOrUrl);

struct RoleSettings {
    std::string endpoint; ///< of STS
    std::string region;
    std::string roleArn;
    std::string sessionName;
    std::string tokenFile; ///< web identity; empty: AssumeRole with keys of `base`
    std::string externalId;
    std::shared_ptr<CredentialSource> base;
};
/// AssumeRoleWithWebIdentity or AssumeRole. Source: AWS STS API reference.
std::unique_ptr<CredentialProvider> roleKeys(RoleSettings settings, std::shared_ptr<http::Sender> sender);

/// Of an EC2 instance (IMDSv2; AWS_EC2_METADATA_SERVICE_ENDPOINT or the link-local address).
std::unique_ptr<CredentialProvider> instanceKeys(std::string endpoint, std::shared_ptr<http::Sender> sender);

struct ContainerSettings {
    std::string url;
    std::string token; ///< empty: none is sent
    std::string tokenFile; ///< counts more
};
/// Of an ECS or EKS container.
std::unique_ptr<CredentialProvider> containerKeys(ContainerSettings settings, std::shared_ptr<http::Sender> sender);

/// The JSON that programs and metadata services give; names of members differ. Errors: Auth.
struct KeyNames {
    const char* keyId;
    const char* secret;
    const char* token;
    const char* expiration;
};
Result<DatedCredentials> keysOfJson(std::string_view text, const KeyNames& names, std::string_view source);

/// One small answer, or an error that names `source` and nothing of what was sent. Errors: Auth (the service refuses),
/// and those of Sender::send.
Result<std::string> askForKeys(http::Sender& sender, http::Request request, std::string_view source, TaskContext& task);

} // namespace deltascope::s3
