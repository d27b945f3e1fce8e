#pragma once

#include "../../base/task_mutex.h"
#include "config_files.h"
#include "deltascope/base/task.h"
#include "deltascope/engine/http.h"
#include "s3_settings.h"
#include "sigv4.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace deltascope::s3 {

/// Keys, and until when they are good.
struct DatedCredentials {
    Credentials keys;
    std::optional<std::chrono::system_clock::time_point> expires; ///< nothing: they last
};

/// Where keys come from. Any thread. No error text holds a secret.
class CredentialSource {
public:
    virtual ~CredentialSource() = default;
    /// Keys for a request that is sent now. Errors: Auth (there are none, with what to do), Usage (the configuration is
    /// wrong), those of Sender::send, Canceled.
    virtual Result<Credentials> credentials(TaskContext& task) = 0;
    /// The server refuses `refused` as expired: other ones, or the same where there are no others. Errors: as above.
    virtual Result<Credentials> renew(const Credentials& refused, TaskContext& task) = 0;
};

/// One way to get keys, asked again each time.
class CredentialProvider {
public:
    virtual ~CredentialProvider() = default;
    virtual Result<DatedCredentials> fetch(TaskContext& task) = 0;
};

using WallClock = std::function<std::chrono::system_clock::time_point()>;

/// Keeps what a provider gave until five minutes before it expires. A provider that fails before that is asked again
/// with the next request; until they expire the old keys are good.
class KeptCredentials final : public CredentialSource {
public:
    explicit KeptCredentials(std::unique_ptr<CredentialProvider> provider,
                             WallClock clock = std::chrono::system_clock::now);
    Result<Credentials> credentials(TaskContext& task) override;
    Result<Credentials> renew(const Credentials& refused, TaskContext& task) override;

private:
    /// `refused`: keys that must not be given again; may be null.
    Result<Credentials> fetch(const Credentials* refused, TaskContext& task);

    const std::unique_ptr<CredentialProvider> m_provider;
    const WallClock m_clock;
    TaskMutex m_mutex; ///< held while keys are fetched; guards what follows
    std::optional<DatedCredentials> m_kept;
};

/// Keys that are known and last.
std::shared_ptr<CredentialSource> fixedCredentials(Credentials keys);

/// Finds the way that environment and config files name, in the order of the AWS SDKs: AWS_ACCESS_KEY_ID with
/// AWS_SECRET_ACCESS_KEY (unless a profile was chosen by `settings.profile` over AWS_PROFILE); web identity
/// (AWS_WEB_IDENTITY_TOKEN_FILE with AWS_ROLE_ARN); of the profile: role_arn with source_profile, credential_source or
/// web_identity_token_file, static keys, sso_session or sso_start_url, credential_process, credential_source. Instance
/// and container metadata are asked only where `credential_source` says so. Null: nothing is configured and no profile
/// is named; requests are anonymous then. `settings`: completed. Errors: Usage, Auth (the named profile has no keys),
/// and those of readAwsConfig.
Result<std::shared_ptr<CredentialSource>> findCredentials(const S3Settings& settings, const Variables& variables,
                                                          std::shared_ptr<http::Sender> sender);

} // namespace deltascope::s3
