#pragma once

#include "deltascope/engine/http.h"
#include "deltascope/engine/http_retry.h"
#include "deltascope/engine/object_store.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Buckets and model repositories of the Hugging Face Hub (docs/stores/hub.md).
namespace deltascope::hub {

/// How requests reach the Hub; the same for buckets and repositories.
struct HubAccount {
    /// "https://host[/path]"; empty: HF_ENDPOINT, else https://huggingface.co.
    std::string endpoint;
    /// Empty text: none is sent. Nothing: the one that huggingface_hub would send (discoverToken).
    std::optional<std::string> token;
    http::RetryPolicy retries;
    std::shared_ptr<http::RetryClock> clock = http::systemRetryClock();
};

struct HubSettings {
    std::string ns; ///< user or organization
    std::string name;
    std::string prefix; ///< the store is what stands below this folder of the bucket; without a slash at either end
    HubAccount account;
    std::string journalFolder; ///< where uploads under way are noted; is made. Empty: they are not noted
    /// Nobody else writes below the prefix. PutMode::IfAbsent looks first and puts then, which is not safe against
    /// other writers; without this it is Code::Unsupported, since the Hub has no conditional put.
    bool soleWriter = false;
    /// A read that means an identity asks at most so often whether its key still has it. The bytes are those of the
    /// identity in any case: they are read by its hash.
    std::chrono::milliseconds lookAgainAfter { 5'000 };
    std::size_t mostParallel = 8; ///< reads of one readMany at the same time
};

/// What was read, and in which way.
struct HubReads {
    std::uint64_t xetBytes = 0; ///< through the Xet protocol, by content hash
    /// As plain bytes behind a redirect, because the Xet servers could not be used: their hash was compared with what
    /// the redirect claims, not with the bytes.
    std::uint64_t plainBytes = 0;
};

/// What a bucket offers beyond ObjectStore. Any thread.
class HubBucket {
public:
    virtual ~HubBucket() = default;
    virtual HubReads reads() const = 0;
    /// Makes the bucket unless it exists; returns whether it was made. Errors: Auth, Transient, Io.
    virtual Result<bool> createBucket(bool isPrivate, TaskContext& task) = 0;
};

/// The store of a bucket; also a HubBucket. Asks the Hub for nothing yet. `sender` sends without
/// retries of its own. Errors: Usage (names, endpoint, HF_HUB_OFFLINE).
Result<std::unique_ptr<ObjectStore>> openHubStore(const HubSettings& settings, std::shared_ptr<http::Sender> sender);

struct ModelSettings {
    std::string id; ///< "org/model", or "model" for a few old ones
    std::string revision; ///< branch, tag or commit; empty: "main"
    std::string prefix; ///< as in HubSettings
    HubAccount account;
    std::size_t mostParallel = 8;
};

/// What a model repository offers beyond ObjectStore. Any thread.
class ModelRepository {
public:
    virtual ~ModelRepository() = default;
    virtual HubReads reads() const = 0;
};

/// The files of a model repository at one commit, only to be read; also a ModelRepository. Its revision() is the commit
/// that the revision of the settings stood for when it was first asked for. Errors: as openHubStore.
Result<std::unique_ptr<ObjectStore>> openModelStore(const ModelSettings& settings,
                                                    std::shared_ptr<http::Sender> sender);

/// The value of a variable of the environment, or null.
using Variables = const char* (*)(const char* name);

/// The token that huggingface_hub 2.4.0 sends (utils/_auth.py, utils/_headers.py, constants.py), in its order:
/// HF_TOKEN, HUGGING_FACE_HUB_TOKEN, then the file HF_TOKEN_PATH ("token" in HF_HOME, which is "huggingface" in
/// XDG_CACHE_HOME or
/// ~/.cache). Empty: none, or HF_HUB_DISABLE_IMPLICIT_TOKEN is set. Not done: OIDC, Colab, and the renewal of tokens
/// of a login in the browser. Errors: Auth (the file cannot be read).
Result<std::string> discoverToken(Variables variables = nullptr);

} // namespace deltascope::hub
