#include "s3_fixture.h"

#include "store/s3/credential_ways.h"
#include "support/ignored_signals.h"
#include "support/temp_dir.h"

#include <fmt/format.h>
#include <map>

// Where keys come from; services are servers on the loopback.

namespace deltascope::s3 {
namespace {

using namespace std::chrono_literals;
using test::answerText;
using test::anyTask;
using test::Connection;
using test::errorBody;
using test::ScriptedServer;
using test::Seen;
using test::TempDir;

class S3Credentials : public testing::Test {
protected:
    Result<Credentials> find(const std::string& profile = {})
    {
        const Variables variables = [this](std::string_view name) {
            const auto found = set.find(name);
            return found == set.end() ? std::string() : found->second;
        };
        S3Settings settings;
        settings.bucket = "bucket";
        settings.profile = profile;
        DS_TRY(const S3Settings complete, completeSettings(settings, variables));
        DS_TRY(const auto source, findCredentials(complete, variables, std::make_shared<http::Client>()));
        return source ? source->credentials(anyTask()) : Credentials { "anonymous", {}, {} };
    }
    std::string keyOf(const std::string& profile = {})
    {
        const Result<Credentials> keys = find(profile);
        return keys ? keys->keyId + "/" + keys->secret + "/" + keys->sessionToken
                    : std::string(word(keys.error().code));
    }
    void config(std::string_view text) { home.write(".aws/config", text); }

    TempDir home;
    std::map<std::string, std::string, std::less<>> set { { "HOME", home.path() } };
};

TEST_F(S3Credentials, EnvironmentBeforeFilesUnlessAProfileIsChosen)
{
    EXPECT_EQ(keyOf(), "anonymous//");
    set["AWS_PROFILE"] = "default";
    EXPECT_EQ(keyOf(), "DS-AUTH");
    set.erase("AWS_PROFILE");
    set["AWS_CONFIG_FILE"] = "/dev/null";
    EXPECT_EQ(keyOf(), "anonymous//");
    set.erase("AWS_CONFIG_FILE");
    config("[default]\naws_access_key_id = config\naws_secret_access_key = s1\n"
           "[profile other]\naws_access_key_id = other\naws_secret_access_key = s2\naws_session_token = t2\n");
    EXPECT_EQ(keyOf(), "config/s1/");
    home.write(".aws/credentials", "[default]\naws_access_key_id = shared\naws_secret_access_key = s3\n");
    EXPECT_EQ(keyOf(), "shared/s3/");
    set["AWS_ACCESS_KEY_ID"] = "env";
    set["AWS_SECRET_ACCESS_KEY"] = "s4";
    set["AWS_SESSION_TOKEN"] = "t4";
    EXPECT_EQ(keyOf(), "env/s4/t4");
    EXPECT_EQ(keyOf("other"), "other/s2/t2");
}

TEST_F(S3Credentials, ChainsOfProfilesEnd)
{
    config("[profile a]\nsource_profile = b\n[profile b]\nsource_profile = c\n"
           "[profile c]\naws_access_key_id = k\naws_secret_access_key = s\n"
           "[profile x]\nsource_profile = y\n[profile y]\nsource_profile = x\n"
           "[profile half]\naws_access_key_id = k\n");
    EXPECT_EQ(keyOf("a"), "k/s/");
    EXPECT_EQ(keyOf("x"), "DS-USAGE");
    EXPECT_EQ(keyOf("half"), "DS-USAGE");
}

TEST_F(S3Credentials, AProgramGivesThem)
{
    config("[profile good]\ncredential_process = echo '{\"Version\":1,\"AccessKeyId\":\"k\",\"SecretAccessKey\":\"s\","
           "\"SessionToken\":\"t\",\"Expiration\":\"2999-01-01T00:00:00Z\"}'\n"
           "[profile fails]\ncredential_process = echo secret-word; exit 3\n"
           "[profile silent]\ncredential_process = true\n"
           "[profile endless]\ncredential_process = yes\n"
           "[profile odd]\ncredential_process = echo '{\"AccessKeyId\":\"k\",\"SecretAccessKey\":\"s\","
           "\"Expiration\":\"soon\"}'\n");
    EXPECT_EQ(keyOf("good"), "k/s/t");
    EXPECT_EQ(keyOf("fails"), "DS-AUTH");
    EXPECT_EQ(find("fails").error().text.find("secret-word"), std::string::npos);
    EXPECT_EQ(keyOf("silent"), "DS-AUTH");
    EXPECT_EQ(keyOf("endless"), "DS-HOSTILE");
    EXPECT_EQ(keyOf("odd"), "DS-AUTH");
}

TEST_F(S3Credentials, AProgramIgnoresNoSignalThatOursIgnoresForItself)
{
    config("[profile ignores]\ncredential_process = printf '{\"Version\":1,\"AccessKeyId\":\"%s\","
           "\"SecretAccessKey\":\"s\"}' $(grep '^SigIgn:' /proc/self/status | cut -f2)\n");
    std::string mask;
    {
        const test::IgnoredSignals ignored;
        mask = keyOf("ignores");
    }
    ASSERT_TRUE(mask.ends_with("/s/")) << mask;
    EXPECT_FALSE(test::isIn(mask, SIGPIPE)) << mask;
    EXPECT_FALSE(test::isIn(mask, SIGXFSZ)) << mask;
    EXPECT_TRUE(test::isIn(mask, SIGUSR1)) << "what the user ignores stays ignored";
}

TEST_F(S3Credentials, AProgramEndsWithItsTask)
{
    TaskContext task;
    const std::string started = home.path("started");
    std::thread stopper([&] {
        while (!std::ifstream(started))
            std::this_thread::sleep_for(1ms);
        task.requestStop();
    });
    const auto keys = processKeys("touch " + started + "; sleep 1000")->fetch(task);
    stopper.join();
    ASSERT_FALSE(keys);
    EXPECT_EQ(keys.error().code, Code::Canceled);
}

TEST_F(S3Credentials, WebIdentityAsksStsForThem)
{
    std::string answer = answerText(
        200,
        "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>k</AccessKeyId>"
        "<SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>"
        "<Expiration>2999-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult>"
        "</AssumeRoleWithWebIdentityResponse>");
    ScriptedServer sts([&](const Seen&, Connection& connection) { connection.send(answer); });
    set["AWS_WEB_IDENTITY_TOKEN_FILE"] = home.write("token", "web+token\n");
    set["AWS_ENDPOINT_URL_STS"] = sts.url("");
    EXPECT_EQ(keyOf(), "DS-USAGE"); // which role?
    set["AWS_ROLE_ARN"] = "arn:aws:iam::1:role/r";
    EXPECT_EQ(keyOf(), "k/s/t");
    EXPECT_EQ(sts.requests()[0].body,
              "Action=AssumeRoleWithWebIdentity&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr&"
              "RoleSessionName=deltascope&Version=2011-06-15&WebIdentityToken=web%2Btoken");
    EXPECT_EQ(sts.requests()[0].header("Authorization"), "");
    answer = answerText(403, "<ErrorResponse>" + errorBody("AccessDenied").substr(39) + "</ErrorResponse>");
    const auto denied = find();
    ASSERT_FALSE(denied);
    EXPECT_EQ(denied.error().code, Code::Auth);
    EXPECT_NE(denied.error().text.find("AccessDenied"), std::string::npos) << denied.error().text;
    EXPECT_EQ(denied.error().text.find("web+token"), std::string::npos);
    answer = answerText(200, "<Something/>");
    EXPECT_EQ(keyOf(), "DS-AUTH");
    set["AWS_WEB_IDENTITY_TOKEN_FILE"] = home.path("missing");
    EXPECT_EQ(keyOf(), "DS-NOT-FOUND");
}

TEST_F(S3Credentials, ARoleIsAssumedWithTheKeysOfItsSource)
{
    ScriptedServer sts([](const Seen&, Connection& connection) {
        connection.send(answerText(200,
                                   "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>k</AccessKeyId>"
                                   "<SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>"
                                   "<Expiration>2999-01-01T00:00:00Z</Expiration></Credentials>"
                                   "</AssumeRoleResult></AssumeRoleResponse>"));
    });
    config("[profile r]\nrole_arn = arn\nsource_profile = base\nexternal_id = x\nregion = eu-west-3\n"
           "[profile base]\naws_access_key_id = BASE\naws_secret_access_key = bs\n");
    set["AWS_ENDPOINT_URL_STS"] = sts.url("");
    EXPECT_EQ(keyOf("r"), "k/s/t");
    EXPECT_NE(sts.requests()[0].header("Authorization").find("Credential=BASE/"), std::string::npos);
    EXPECT_NE(sts.requests()[0].header("Authorization").find("/eu-west-3/sts/"), std::string::npos);
    EXPECT_NE(sts.requests()[0].body.find("ExternalId=x"), std::string::npos);
}

TEST_F(S3Credentials, SingleSignOnUsesTheKeptToken)
{
    ScriptedServer portal([](const Seen&, Connection& connection) {
        connection.send(answerText(200,
                                   R"({"roleCredentials":{"accessKeyId":"k","secretAccessKey":"s",)"
                                   R"("sessionToken":"t","expiration":32472144000000}})"));
    });
    config("[profile p]\nsso_session = my-sso\nsso_account_id = 123\nsso_role_name = reader\n"
           "[sso-session my-sso]\nsso_region = eu-west-1\nsso_start_url = https://x.example/start\n"
           "[profile half]\nsso_session = my-sso\n");
    set["AWS_ENDPOINT_URL_SSO"] = portal.url("");
    EXPECT_EQ(keyOf("p"), "DS-AUTH");
    EXPECT_EQ(find("p").error().action, "Run `aws sso login` for this profile.");
    const std::string file = ".aws/sso/cache/0ad374308c5a4e22f723adf10145eafad7c4031c.json"; // SHA-1 of "my-sso"
    home.write(file, R"({"accessToken":"bearer","expiresAt":"2001-01-01T00:00:00Z"})");
    EXPECT_EQ(keyOf("p"), "DS-AUTH");
    EXPECT_TRUE(portal.requests().empty());
    home.write(file, R"({"accessToken":"bearer","expiresAt":"2999-01-01T00:00:00Z"})");
    EXPECT_EQ(keyOf("p"), "k/s/t");
    EXPECT_EQ(portal.requests()[0].target(), "/federation/credentials?role_name=reader&account_id=123");
    EXPECT_EQ(portal.requests()[0].header("x-amz-sso_bearer_token"), "bearer");
    EXPECT_EQ(keyOf("half"), "DS-USAGE");
}

TEST_F(S3Credentials, MetadataIsAskedOnlyWhereTheProfileSaysSo)
{
    ScriptedServer metadata([](const Seen& request, Connection& connection) {
        if (request.target() == "/latest/api/token")
            connection.send(answerText(200, "imds"));
        else if (request.target().ends_with("security-credentials/"))
            connection.send(answerText(200, "role\n"));
        else
            connection.send(answerText(200,
                                       R"({"AccessKeyId":"k","SecretAccessKey":"s","Token":"t",)"
                                       R"("Expiration":"2999-01-01T00:00:00Z"})"));
    });
    set["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = metadata.url("");
    set["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = metadata.url("/container");
    set["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "bearer";
    EXPECT_EQ(keyOf(), "anonymous//");
    EXPECT_TRUE(metadata.requests().empty());
    config("[profile ec2]\ncredential_source = Ec2InstanceMetadata\n[profile ecs]\ncredential_source = EcsContainer\n"
           "[profile bad]\ncredential_source = Elsewhere\n");
    EXPECT_EQ(keyOf("ec2"), "k/s/t");
    EXPECT_EQ(metadata.requests()[2].target(), "/latest/meta-data/iam/security-credentials/role");
    EXPECT_EQ(metadata.requests()[2].header("X-aws-ec2-metadata-token"), "imds");
    EXPECT_EQ(keyOf("ecs"), "k/s/t");
    EXPECT_EQ(metadata.requests()[3].header("Authorization"), "bearer");
    EXPECT_EQ(keyOf("bad"), "DS-USAGE");
    set["AWS_EC2_METADATA_DISABLED"] = "true";
    EXPECT_EQ(keyOf("ec2"), "DS-AUTH");
    set["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://192.0.2.1/container";
    EXPECT_EQ(keyOf("ecs"), "DS-USAGE"); // over the network, in plain text
    EXPECT_EQ(metadata.requests().size(), 4U);
}

/// Numbers its keys; they are good for an hour.
class CountingProvider final : public CredentialProvider {
public:
    CountingProvider(std::atomic<int>& fetches, const std::atomic<bool>& fails, WallClock clock)
        : m_fetches(fetches)
        , m_fails(fails)
        , m_clock(std::move(clock))
    {
    }
    Result<DatedCredentials> fetch(TaskContext&) override
    {
        if (m_fails)
            return fail(Code::Transient, "no");
        return DatedCredentials { { std::to_string(++m_fetches), "s", "t" }, m_clock() + 1h };
    }

private:
    std::atomic<int>& m_fetches;
    const std::atomic<bool>& m_fails;
    const WallClock m_clock;
};

TEST(S3KeptCredentials, AreRenewedBeforeTheyExpireAndOnRefusal)
{
    std::atomic<int> fetches = 0;
    std::atomic<bool> fails = false;
    std::chrono::system_clock::time_point now { 1000h };
    const WallClock clock = [&] { return now; };
    KeptCredentials kept(std::make_unique<CountingProvider>(fetches, fails, clock), clock);
    const auto key = [&] {
        const auto keys = kept.credentials(anyTask());
        return keys ? keys->keyId : std::string(word(keys.error().code));
    };
    EXPECT_EQ(key(), "1");
    now += 50min;
    EXPECT_EQ(key(), "1");
    now += 6min; // four minutes are left
    fails = true;
    EXPECT_EQ(key(), "1"); // still good
    fails = false;
    EXPECT_EQ(key(), "2");
    EXPECT_EQ(kept.renew({ "1", "s", "t" }, anyTask())->keyId, "2"); // another thread was faster
    EXPECT_EQ(kept.renew({ "2", "s", "t" }, anyTask())->keyId, "3");
    now += 2h;
    fails = true;
    EXPECT_EQ(key(), "DS-NETWORK");
}

} // namespace
} // namespace deltascope::s3
