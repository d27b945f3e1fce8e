#include "deltascope/engine/hub_store.h"
#include "engine/hub_fixture.h"
#include "store/hub/plain_reader.h"
#include "support/any_task.h"
#include "support/golden.h"

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <map>

// Model repositories over the answers of tests/golden/hub/model_replies.json, which the real huggingface_hub reads too
// (tests/peers/test_hub.py).

namespace deltascope::hub {
namespace {

using nlohmann::json;
using test::answerText;
using test::anyTask;

std::string bytesOfHex(const std::string& hex)
{
    std::string bytes;
    for (std::size_t at = 0; at + 1 < hex.size(); at += 2)
        bytes += static_cast<char>(std::stoi(hex.substr(at, 2), nullptr, 16));
    return bytes;
}

const json& goldenReplies()
{
    static const json replies = [] {
        std::ifstream file(test::goldenPath("hub/model_replies.json"));
        return json::parse(file);
    }();
    return replies;
}

/// A Hub and the other host that it redirects to, with the answers of the golden file. A test may change one.
class ModelHub {
public:
    using Change = std::function<void(const std::string& path, json& reply)>;

    explicit ModelHub(Change change = {})
        : m_change(std::move(change))
        , m_cdn([this](const ScriptedHub::Request& request) { return answer("cdn", request); })
        , m_hub([this](const ScriptedHub::Request& request) { return answer("hub", request); })
    {
    }

    Result<std::unique_ptr<ObjectStore>> open(const std::string& revision = "main", const std::string& prefix = "",
                                              const std::string& id = "org/model")
    {
        ModelSettings settings;
        settings.id = id;
        settings.revision = revision;
        settings.prefix = prefix;
        settings.account = m_hub.account();
        return openModelStore(settings, std::make_shared<http::Client>());
    }
    ScriptedHub& hub() { return m_hub; }
    ScriptedHub& cdn() { return m_cdn; }
    bool ignoresRanges = false; ///< of the cdn

private:
    std::string answer(const std::string& server, const ScriptedHub::Request& request)
    {
        const std::string target = request.target();
        const std::string path = target.substr(0, target.find('?'));
        const std::string page = path + (target.find("cursor") == std::string::npos ? "#1" : "#2");
        for (json reply : goldenReplies()["replies"]) {
            if (reply["server"] != server || (reply["path"] != path && reply["path"] != page))
                continue;
            if (m_change)
                m_change(reply["path"], reply);
            std::string lines;
            for (const auto& [name, value] : reply["headers"].items())
                lines += name + ": " + placed(value.get<std::string>()) + "\r\n";
            return ranged(reply["status"], bytesOfHex(reply["body"]), lines,
                          server == "cdn" ? request.header("Range") : "");
        }
        return answerText(404, "{}", "X-Error-Code: EntryNotFound\r\n");
    }
    std::string ranged(int status, const std::string& body, const std::string& lines, const std::string& range) const
    {
        if (ignoresRanges || range.empty() || status != 200)
            return answerText(status, body, lines);
        const std::size_t first = std::stoull(range.substr(6));
        const std::size_t last = std::stoull(range.substr(range.find('-') + 1));
        return answerText(206, body.substr(first, last - first + 1),
                          lines + "Content-Range: bytes " + std::to_string(first) + "-" + std::to_string(last) + "/"
                              + std::to_string(body.size()) + "\r\n");
    }
    std::string placed(std::string text) const
    {
        for (const auto& [name, place] : { std::pair("{hub}", m_hub.url()), std::pair("{cdn}", m_cdn.url()) }) {
            if (const std::size_t at = text.find(name); at != std::string::npos)
                text.replace(at, 5, place);
        }
        return text;
    }

    const Change m_change;
    ScriptedHub m_cdn, m_hub;
};

std::string readAll(const ObjectStore& store, const ObjectInfo& object)
{
    std::string bytes(object.sizeBytes, ' ');
    const auto outcome = store.read(object, 0, std::as_writable_bytes(std::span(bytes)), anyTask());
    return outcome ? bytes : std::string(word(outcome.error().code)) + ": " + outcome.error().text;
}

Code codeOfRead(const ObjectStore& store, const char* key)
{
    std::string bytes(10, ' ');
    const auto outcome = store.read(key, 0, std::as_writable_bytes(std::span(bytes)), anyTask());
    return outcome ? Code::Exists : outcome.error().code;
}

TEST(HubModel, HasTheFilesOfItsCommit)
{
    ModelHub hub;
    const auto store = hub.open();
    ASSERT_TRUE(store);
    TaskContext task;
    const auto objects = listAll(**store, "", task);
    ASSERT_TRUE(objects) << objects.error().text;
    const json& files = goldenReplies()["files"];
    ASSERT_EQ(objects->size(), files.size());
    for (const ObjectInfo& object : *objects) {
        ASSERT_TRUE(files.contains(object.key)) << object.key;
        EXPECT_EQ(object.modifiedUs, 1'767'323'045'000'000);
        EXPECT_EQ(readAll(**store, object), bytesOfHex(files[object.key])) << object.key;
    }
    const auto& repository = dynamic_cast<const ModelRepository&>(**store);
    EXPECT_EQ(*(*store)->revision(task), goldenReplies()["commit"].get<std::string>());
    EXPECT_EQ(repository.reads().xetBytes, 0U);
    EXPECT_GT(repository.reads().plainBytes, 0U);
    EXPECT_EQ((*store)->uri(), "hf://org/model?revision=main&endpoint=" + hub.hub().url());
}

TEST(HubModel, AsksForTheRevisionOnceAndForTheCommitFromThenOn)
{
    ModelHub hub;
    const auto store = hub.open("refs/pr/1");
    ASSERT_TRUE(store);
    for (int i = 0; i < 3; ++i)
        EXPECT_TRUE((*store)->stat("config.json", anyTask()));
    const auto object = (*store)->stat("model.safetensors", anyTask());
    readAll(**store, *object);
    const auto targets = hub.hub().targets();
    EXPECT_EQ(targets.front(), "GET /api/models/org/model/revision/refs%2Fpr%2F1");
    EXPECT_EQ(std::count_if(targets.begin(), targets.end(),
                            [](const std::string& t) { return t.find("/tree/") != std::string::npos; }),
              2);
    for (std::size_t i = 1; i < targets.size(); ++i)
        EXPECT_NE(targets[i].find(goldenReplies()["commit"].get<std::string>()), std::string::npos) << targets[i];
}

TEST(HubModel, TheOtherHostNeverSeesTheToken)
{
    ModelHub hub;
    const auto store = hub.open();
    for (const char* key : { "model.safetensors", "sub/xet.bin" })
        readAll(**store, *(*store)->stat(key, anyTask()));
    ASSERT_GE(hub.cdn().server().requests().size(), 2U);
    for (const auto& request : hub.cdn().server().requests())
        EXPECT_EQ(request.header("Authorization"), "");
    for (const auto& request : hub.hub().server().requests())
        EXPECT_EQ(request.header("Authorization"), "Bearer hf_very_secret");
}

TEST(HubModel, AsksForAXetTokenOfTheCommitFirst)
{
    ModelHub hub;
    const auto store = hub.open();
    readAll(**store, *(*store)->stat("sub/xet.bin", anyTask()));
    const auto targets = hub.hub().targets();
    const std::string token =
        "GET /api/models/org/model/xet-read-token/" + goldenReplies()["commit"].get<std::string>();
    EXPECT_EQ(std::count(targets.begin(), targets.end(), token), 1);
}

TEST(HubModel, ReadsPartsAlsoFromServersWithoutRanges)
{
    for (const bool ignores : { false, true }) {
        ModelHub hub;
        hub.ignoresRanges = ignores;
        const auto store = hub.open();
        const json& files = goldenReplies()["files"];
        for (const auto& [key, hex] : files.items()) {
            std::string part(3, ' ');
            ASSERT_TRUE((*store)->read(key, 2, std::as_writable_bytes(std::span(part)), anyTask())) << key;
            EXPECT_EQ(part, bytesOfHex(hex).substr(2, 3)) << key;
        }
    }
}

TEST(HubModel, BytesThatGitDoesNotKnowAreFound)
{
    ModelHub hub([](const std::string& path, json& reply) {
        std::string body = reply["body"];
        if (path.find("/resolve/") == std::string::npos && path.find("/lfs/") == std::string::npos)
            return;
        if (body.size() > 8)
            body[7] = body[7] == '0' ? '1' : '0';
        reply["body"] = body;
    });
    const auto store = hub.open();
    for (const char* key : { "config.json", "model.safetensors" }) {
        const auto object = (*store)->stat(key, anyTask());
        std::string bytes(object->sizeBytes, ' ');
        const auto outcome = (*store)->read(*object, 0, std::as_writable_bytes(std::span(bytes)), anyTask());
        ASSERT_FALSE(outcome) << key;
        EXPECT_EQ(outcome.error().code, Code::Digest);
        EXPECT_EQ(outcome.error().where, key);
    }
    EXPECT_EQ(codeOfRead(**store, "config.json"), Code::Digest); // part of a small file of git
}

TEST(HubModel, BytesThatCameWrongAreFetchedAgainAndNoted)
{
    for (const int times : { 0, 1, 3, 4 }) {
        SCOPED_TRACE(times);
        std::atomic<int> flips = times;
        ModelHub hub([&](const std::string& path, json& reply) {
            if (path.find("/resolve/") == std::string::npos)
                return;
            std::string body = reply["body"];
            if (body.size() > 8 && flips-- > 0)
                body[7] = body[7] == '0' ? '1' : '0';
            reply["body"] = body;
        });
        const auto store = hub.open();
        const auto object = (*store)->stat("config.json", anyTask());
        std::string bytes(object->sizeBytes, ' ');
        TaskContext task;
        const auto outcome = (*store)->read(*object, 0, std::as_writable_bytes(std::span(bytes)), task);
        EXPECT_EQ(outcome.has_value(), times <= 3);
        EXPECT_EQ(task.notices().size(), times > 0 && times <= 3 ? 1U : 0U);
        if (outcome) {
            EXPECT_EQ(bytes, bytesOfHex(goldenReplies()["files"]["config.json"]));
        }
    }
}

TEST(HubModel, AnswersAboutOtherBytesAreRefused)
{
    const auto change = [](const char* name, const std::string& value) {
        return [name, value](const std::string& path, json& reply) {
            if (path.find("/resolve/") != std::string::npos && reply["headers"].contains(name))
                reply["headers"][name] = value;
        };
    };
    ModelHub other(change("X-Linked-ETag", '"' + std::string(64, '7') + '"'));
    EXPECT_EQ(codeOfRead(**other.open(), "model.safetensors"), Code::Rewritten);
    ModelHub longer(change("X-Linked-Size", "12345"));
    EXPECT_EQ(codeOfRead(**longer.open(), "model.safetensors"), Code::Rewritten);
    ModelHub commit(change("X-Repo-Commit", std::string(40, '7')));
    EXPECT_EQ(codeOfRead(**commit.open(), "config.json"), Code::Hostile);
    ModelHub silent([](const std::string& path, json& reply) {
        if (path.find("/resolve/") != std::string::npos) {
            for (const char* name : { "X-Linked-ETag", "ETag", "X-Linked-Size" })
                reply["headers"].erase(name);
        }
    });
    EXPECT_EQ(codeOfRead(**silent.open(), "model.safetensors"), Code::Unsupported);
    ModelHub file(change("Location", "file:///etc/passwd"));
    EXPECT_EQ(codeOfRead(**file.open(), "model.safetensors"), Code::Hostile);
}

TEST(HubModel, SignedAddressesAreInNoText)
{
    ModelHub hub([](const std::string& path, json& reply) {
        if (path.find("/lfs/") != std::string::npos)
            reply["status"] = 403;
    });
    const auto store = hub.open();
    std::string bytes(10, ' ');
    const auto outcome = (*store)->read("model.safetensors", 0, std::as_writable_bytes(std::span(bytes)), anyTask());
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Code::Auth);
    EXPECT_TRUE(isDiscreet(outcome.error()));
    const auto targets = hub.hub().targets(); // the address may have ended: it is asked for once more
    EXPECT_EQ(std::count_if(targets.begin(), targets.end(),
                            [](const std::string& t) { return t.find("/resolve/") != std::string::npos; }),
              2);
}

TEST(HubModel, AFolderOfItIsAStore)
{
    ModelHub hub;
    const auto store = hub.open("main", "sub");
    TaskContext task;
    const auto objects = listAll(**store, "", task);
    ASSERT_TRUE(objects) << objects.error().text;
    ASSERT_EQ(objects->size(), 2U);
    EXPECT_EQ(objects->at(0).key, "we ird+\xc3\xbc.txt");
    EXPECT_EQ(objects->at(1).key, "xet.bin");
    EXPECT_EQ(readAll(**store, objects->at(0)),
              "\xc3\xbc"
              "ber\n");
}

TEST(HubModel, RefusesWhatItIsNot)
{
    ModelHub hub;
    const auto store = hub.open();
    const MemoryPayload payload(asBytes("x"));
    EXPECT_EQ((*store)->put("a", payload, PutMode::Replace, anyTask()).error().code, Code::Unsupported);
    EXPECT_EQ((*store)->stat("missing", anyTask()).error().code, Code::NotFound);
    EXPECT_EQ(codeOfRead(**store, "missing"), Code::NotFound);
    EXPECT_EQ((*store)->list({ "", "", 0 }, anyTask()).error().code, Code::Usage);
    ObjectInfo old = *(*store)->stat("config.json", anyTask());
    old.identity = "git:" + std::string(40, '1') + ":38:";
    std::byte byte {};
    EXPECT_EQ((*store)->read(old, 0, MutableByteSpan(&byte, 1), anyTask()).error().code, Code::Rewritten);
    EXPECT_EQ((*store)->read("config.json", 1000, MutableByteSpan(&byte, 1), anyTask()).error().code, Code::Truncated);
    EXPECT_FALSE(hub.open("main", "", "a/b/c"));
    EXPECT_FALSE(hub.open("main", "..", "org/model"));
}

TEST(HubModel, TellsWhyItCannotBeRead)
{
    ModelHub hub;
    struct Case {
        const char* id;
        const char* revision;
        Code code;
        const char* words;
    };
    for (const Case& one : { Case { "org/model", "gone", Code::NotFound, "revision" },
                             Case { "org/none", "main", Code::NotFound, "org/none" },
                             Case { "org/gated", "main", Code::Auth, "gated" } }) {
        const auto store = hub.open(one.revision, "", one.id);
        const auto page = (*store)->list({}, anyTask());
        ASSERT_FALSE(page);
        EXPECT_EQ(page.error().code, one.code);
        EXPECT_NE(page.error().text.find(one.words), std::string::npos) << page.error().text;
    }
}

TEST(HubModel, KnowsTheIdsOfGit)
{
    EXPECT_EQ(*gitBlobId({}), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"); // git hash-object of nothing
    EXPECT_EQ(*gitBlobId(asBytes("hello\n")), "ce013625030ba8dba906f756967f9e9ca394464a");
}

} // namespace
} // namespace deltascope::hub
