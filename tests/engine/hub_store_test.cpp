#include "deltascope/engine/hub_store.h"

#include "engine/hub_fixture.h"
#include "store/hub/hub_listings.h"
#include "support/any_task.h"
#include "support/memory_store.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>

// What the store of a bucket does with a Hub that misbehaves. The Xet servers are out of reach here, so bytes come by
// the redirect; with them the conformance tests read.

namespace deltascope::hub {
namespace {

using nlohmann::json;
using test::answerText;
using test::anyTask;

/// A bucket of a few files, whose bytes lie on another host.
class BucketHub {
public:
    BucketHub()
        : m_cdn([this](const ScriptedHub::Request& request) { return bytes(request); })
        , m_hub([this](const ScriptedHub::Request& request) { return answer(request); })
    {
    }

    std::unique_ptr<ObjectStore> open(bool soleWriter = false, const std::string& prefix = "run")
    {
        HubSettings settings;
        settings.ns = "me";
        settings.name = "runs";
        settings.prefix = prefix;
        settings.account = m_hub.account();
        settings.soleWriter = soleWriter;
        auto store = openHubStore(settings, std::make_shared<http::Client>());
        return store ? std::move(*store) : nullptr;
    }

    void set(const std::string& path, const std::string& text)
    {
        const std::lock_guard lock(m_mutex);
        m_files[path] = { text, ++m_changes };
    }
    std::size_t count(std::string_view what) const
    {
        const auto targets = m_hub.targets();
        return static_cast<std::size_t>(std::count_if(targets.begin(), targets.end(), [&](const std::string& one) {
            return one.find(what) != std::string::npos;
        }));
    }
    ScriptedHub& hub() { return m_hub; }
    ScriptedHub& cdn() { return m_cdn; }

    std::atomic<int> infoStatus = 200; ///< of paths-info
    std::atomic<int> cutsListings = 0; ///< that many
    std::atomic<bool> keepsRemoved = false; ///< says that it removes, and does not
    std::atomic<bool> saysMissing = false; ///< removes, and says that there was nothing
    std::atomic<bool> tellsOtherHash = false; ///< behind the redirect
    std::string otherWriter; ///< what another program puts over each copy, if not empty; set before requests

private:
    struct File {
        std::string text;
        int number = 0;
    };

    static std::string hashOf(const std::string& text)
    {
        std::string hash;
        for (const char c : text)
            hash += "0123456789abcdef"[static_cast<unsigned char>(c) % 16];
        hash.resize(64, '0');
        hash[63] = '1'; // never that of nothing
        return hash;
    }
    std::string textOfHash(const std::string& hash) const
    {
        const auto file = std::find_if(m_files.begin(), m_files.end(),
                                       [&](const auto& one) { return hashOf(one.second.text) == hash; });
        return file == m_files.end() ? std::string() : file->second.text;
    }
    json entryOf(const std::string& path) const
    {
        const File& file = m_files.at(path);
        return { { "type", "file" },
                 { "path", path },
                 { "size", file.text.size() },
                 { "xetHash", hashOf(file.text) },
                 { "uploadedAt", "2026-01-02T03:04:0" + std::to_string(file.number % 10) + ".000Z" } };
    }
    std::string answer(const ScriptedHub::Request& request)
    {
        const std::lock_guard lock(m_mutex);
        const std::string target = request.target();
        json list = json::array();
        if (target.find("/tree") != std::string::npos) {
            for (const auto& one : m_files)
                list.push_back(entryOf(one.first));
            const std::string text = list.dump();
            return answerText(200, cutsListings-- > 0 ? text.substr(0, text.size() / 2) : text);
        }
        if (target.find("/paths-info") != std::string::npos) {
            for (const std::string& path : json::parse(request.body)["paths"].get<std::vector<std::string>>()) {
                if (m_files.count(path) > 0)
                    list.push_back(entryOf(path));
            }
            return answerText(infoStatus, list.dump());
        }
        if (target.find("/batch") != std::string::npos)
            return batch(request.body);
        if (const std::size_t at = target.find("/resolve/"); at != std::string::npos) {
            const std::string path = target.substr(at + 9);
            if (m_files.count(path) == 0)
                return answerText(404, "{}", "X-Error-Code: EntryNotFound\r\n");
            const std::string hash = tellsOtherHash ? std::string(64, '9') : hashOf(m_files[path].text);
            return answerText(
                302, "", "X-Xet-Hash: " + hash + "\r\nLocation: " + m_cdn.url("/" + path) + "?sig=very-secret\r\n");
        }
        return answerText(501, "{}"); // also: no token for the Xet servers
    }
    std::string batch(const std::string& body)
    {
        std::size_t count = 0;
        json failed = json::array();
        for (std::string_view rest = body; !rest.empty(); ++count) {
            const json line = json::parse(rest.substr(0, rest.find('\n')));
            rest.remove_prefix(rest.find('\n') + 1);
            const std::string path = line["path"];
            if (line["type"] == "copyFile") {
                m_files[path] = { otherWriter.empty() ? textOfHash(line["xetHash"]) : otherWriter, ++m_changes };
                continue;
            }
            const std::size_t had = m_files.count(path);
            if (!keepsRemoved)
                m_files.erase(path);
            if (saysMissing || had == 0)
                failed.push_back({ { "path", path }, { "error", "File not found" } });
        }
        return answerText(200,
                          json { { "success", failed.empty() },
                                 { "processed", count },
                                 { "succeeded", count - failed.size() },
                                 { "failed", failed } }
                              .dump());
    }
    std::string bytes(const ScriptedHub::Request& request)
    {
        const std::lock_guard lock(m_mutex);
        const std::string target = request.target();
        const std::string& text = m_files[target.substr(1, target.find('?') - 1)].text;
        const std::string range = request.header("Range");
        if (range.empty())
            return answerText(200, text);
        const std::size_t first = std::stoull(range.substr(6));
        const std::size_t last = std::stoull(range.substr(range.find('-') + 1));
        return answerText(206, text.substr(first, last - first + 1),
                          "Content-Range: bytes " + std::to_string(first) + "-" + std::to_string(last) + "/"
                              + std::to_string(text.size()) + "\r\n");
    }

    std::mutex m_mutex; ///< guards what follows
    std::map<std::string, File> m_files;
    int m_changes = 0;
    ScriptedHub m_cdn, m_hub;
};

Result<std::string> textOf(const ObjectStore& store, const ObjectRef& object, std::size_t size)
{
    std::string text(size, ' ');
    const auto outcome = store.read(object, 0, std::as_writable_bytes(std::span(text)), anyTask());
    if (!outcome)
        return fail(outcome.error());
    return text;
}

TEST(HubStore, HoldsWhatStandsBelowItsPrefix)
{
    BucketHub hub;
    for (const char* path : { "run/a", "run/b/c", "run.other", "runs/x", "run" })
        hub.set(path, "text");
    const auto store = hub.open();
    TaskContext task;
    const auto objects = listAll(*store, "", task);
    ASSERT_TRUE(objects) << objects.error().text;
    ASSERT_EQ(objects->size(), 2U);
    EXPECT_EQ(objects->at(0).key, "a");
    EXPECT_EQ(objects->at(1).key, "b/c");
    EXPECT_EQ(objects->at(0).modifiedUs, 1'767'323'041'000'000);
    EXPECT_EQ(store->uri(), "hf://buckets/me/runs/run?endpoint=" + hub.hub().url());
    EXPECT_FALSE(store->traits().conditionalPut);
}

TEST(HubStore, AListingThatWasCutIsAskedForAgain)
{
    BucketHub hub;
    hub.set("run/a", "text");
    hub.cutsListings = 1;
    const auto store = hub.open();
    const auto page = store->list({}, anyTask());
    ASSERT_TRUE(page) << page.error().text;
    EXPECT_EQ(page->objects.size(), 1U);
    hub.cutsListings = 3;
    EXPECT_EQ(hub.open()->list({}, anyTask()).error().code, Code::Hostile);
    EXPECT_EQ(hub.count("/tree"), 5U);
}

TEST(HubStore, PlainBytesAreVisibleAsSuch)
{
    BucketHub hub;
    hub.set("run/a", "some bytes");
    const auto store = hub.open();
    const auto object = store->stat("a", anyTask());
    EXPECT_EQ(*textOf(*store, *object, 10), "some bytes");
    const auto& bucket = dynamic_cast<const HubBucket&>(*store);
    EXPECT_EQ(bucket.reads().plainBytes, 10U);
    EXPECT_EQ(bucket.reads().xetBytes, 0U);
    EXPECT_EQ(store->proofOf(*object), ReadProof::Partial);
    for (const auto& request : hub.cdn().server().requests())
        EXPECT_EQ(request.header("Authorization"), "");
}

TEST(HubStore, ARedirectToOtherBytesIsRewritten)
{
    BucketHub hub;
    hub.set("run/a", "some bytes");
    hub.tellsOtherHash = true;
    const auto store = hub.open();
    const auto text = textOf(*store, "a", 10);
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().code, Code::Rewritten);
    EXPECT_TRUE(isDiscreet(text.error()));
}

TEST(HubStore, LooksWhetherAKeyHasItsIdentityOnceInAWhile)
{
    BucketHub hub;
    hub.set("run/a", "old bytes");
    const auto store = hub.open();
    const auto old = store->stat("a", anyTask());
    for (int i = 0; i < 5; ++i)
        EXPECT_EQ(*textOf(*store, *old, 9), "old bytes");
    EXPECT_EQ(hub.count("/paths-info"), 1U);
    hub.hub().clock->goOn(std::chrono::seconds(6));
    EXPECT_TRUE(textOf(*store, *old, 9));
    EXPECT_EQ(hub.count("/paths-info"), 2U);

    hub.set("run/a", "new bytes");
    // The hash is what is read: other bytes are refused at once, by the redirect here.
    EXPECT_EQ(textOf(*store, *old, 9).error().code, Code::Rewritten);
    hub.hub().clock->goOn(std::chrono::seconds(6));
    EXPECT_EQ(textOf(*store, *old, 9).error().code, Code::Rewritten);
    EXPECT_EQ(hub.count("/paths-info"), 3U);
    EXPECT_EQ(*textOf(*store, "a", 9), "new bytes");
}

TEST(HubStore, ManyReadsAreOneLook)
{
    BucketHub hub;
    std::vector<std::string> texts(50, std::string(3, ' '));
    std::vector<std::string> keys;
    std::vector<RangeRead> reads;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        keys.push_back("k" + std::to_string(i));
        hub.set("run/" + keys.back(), "text" + std::to_string(100 + i));
    }
    for (std::size_t i = 0; i < texts.size(); ++i)
        reads.push_back({ keys[i], 4, std::as_writable_bytes(std::span(texts[i])) });
    const auto store = hub.open();
    for (const Result<void>& outcome : store->readMany(reads, anyTask()))
        EXPECT_TRUE(outcome);
    for (std::size_t i = 0; i < texts.size(); ++i)
        EXPECT_EQ(texts[i], std::to_string(100 + i));
    EXPECT_EQ(hub.count("/paths-info"), 1U);
}

TEST(HubStore, PutIfAbsentIsOnlyForASoleWriter)
{
    BucketHub hub;
    hub.set("run/a", "there");
    const MemoryPayload payload(asBytes("x"));
    const auto refused = hub.open()->put("b", payload, PutMode::IfAbsent, anyTask());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::Unsupported);
    EXPECT_NE(refused.error().action.find("--sole-writer"), std::string::npos);
    EXPECT_EQ(hub.hub().targets().size(), 0U);
    const auto exists = hub.open(true)->put("a", payload, PutMode::IfAbsent, anyTask());
    ASSERT_FALSE(exists);
    EXPECT_EQ(exists.error().code, Code::Exists);
}

TEST(HubStore, TwoWhoPutIfAbsentAtTheSameTimeAreToldApart)
{
    BucketHub hub;
    hub.set("run/a", "ours");
    const auto store = hub.open(true);
    EXPECT_TRUE(store->copy("a", "b", PutMode::IfAbsent, anyTask()));
    EXPECT_EQ(*textOf(*store, "b", 4), "ours");
    hub.otherWriter = "theirs";
    const auto lost = store->copy("a", "c", PutMode::IfAbsent, anyTask());
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().code, Code::Exists);
    EXPECT_EQ(lost.error().where, "c");
    EXPECT_EQ(*textOf(*store, "c", 6), "theirs");
    const auto replaced = store->copy("a", "c", PutMode::Replace, anyTask());
    ASSERT_FALSE(replaced);
    EXPECT_EQ(replaced.error().code, Code::Rewritten);
}

TEST(HubStore, RemovalsAreSeenToBeDone)
{
    BucketHub hub;
    for (const char* path : { "run/a", "run/b", "run/c" })
        hub.set(path, "text");
    const auto store = hub.open();
    const auto outcomes = store->remove({ "a", "missing", "b", "../x", "a" }, anyTask());
    ASSERT_EQ(outcomes.size(), 5U);
    EXPECT_TRUE(outcomes[0]);
    EXPECT_EQ(outcomes[1].error().code, Code::NotFound);
    EXPECT_EQ(outcomes[1].error().where, "missing");
    EXPECT_TRUE(outcomes[2]);
    EXPECT_EQ(outcomes[3].error().code, Code::Usage);
    EXPECT_TRUE(outcomes[4]);
    EXPECT_EQ(hub.count("/batch"), 1U);
    EXPECT_EQ(removeOne(*store, "a", anyTask()).error().code, Code::NotFound);
    hub.saysMissing = true; // the answer to a first request was lost
    EXPECT_TRUE(removeOne(*store, "c", anyTask()));
}

TEST(HubStore, ARemovalIsOfTheIdentityThatIsNamed)
{
    BucketHub hub;
    for (const char* path : { "run/a", "run/b" })
        hub.set(path, "text");
    const auto store = hub.open();
    const ObjectInfo a = *store->stat("a", anyTask());
    const ObjectInfo b = *store->stat("b", anyTask());
    hub.set("run/b", "other");
    const auto outcomes = store->remove({ a, b, a }, anyTask());
    EXPECT_TRUE(outcomes[0]);
    ASSERT_FALSE(outcomes[1]);
    EXPECT_EQ(outcomes[1].error().code, Code::Rewritten);
    EXPECT_EQ(outcomes[1].error().where, "b");
    EXPECT_TRUE(outcomes[2]);
    EXPECT_EQ(hub.count("/batch"), 1U);
    EXPECT_TRUE(store->stat("b", anyTask()));
}

TEST(HubStore, ARemovalThatDidNotHappenIsNone)
{
    BucketHub hub;
    hub.set("run/a", "text");
    hub.keepsRemoved = true;
    const auto store = hub.open();
    const auto outcome = removeOne(*store, "a", anyTask());
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Code::Transient);
    EXPECT_EQ(outcome.error().where, "a");
}

TEST(HubStore, AnAuthErrorNamesTheBucketAndNoToken)
{
    BucketHub hub;
    hub.infoStatus = 401;
    const auto object = hub.open()->stat("a", anyTask());
    ASSERT_FALSE(object);
    EXPECT_EQ(object.error().code, Code::Auth);
    EXPECT_NE(object.error().text.find("me/runs"), std::string::npos);
    EXPECT_TRUE(isDiscreet(object.error()));
}

TEST(HubStore, NamesThatAreNoneAreRefused)
{
    const auto sender = std::make_shared<http::Client>();
    for (const char* name : { "", "a/b", "..", "a b", "a?b" }) {
        HubSettings settings;
        settings.ns = "me";
        settings.name = name;
        settings.account.endpoint = "http://127.0.0.1:1";
        EXPECT_FALSE(openHubStore(settings, sender)) << name;
        settings.name = "runs";
        settings.prefix = "../" + std::string(name);
        EXPECT_FALSE(openHubStore(settings, sender)) << name;
    }
}

TEST(HubListings, GoOnWhereTheyStood)
{
    HubListings listings;
    const HubListings::Time now {};
    HubListings::Objects objects;
    for (const char* key : { "a", "b", "c", "d", "e" })
        objects.push_back({ key, 1, "x", 0, false });
    EXPECT_FALSE(listings.next({ "", "b", 2 }, now));
    ListPage page = listings.first({ "", "", 2 }, objects, now, listings.generation());
    EXPECT_EQ(page.objects.back().key, "b");
    EXPECT_TRUE(page.more);
    EXPECT_FALSE(listings.next({ "", "a", 2 }, now));
    EXPECT_FALSE(listings.next({ "other", "b", 2 }, now));
    auto second = listings.next({ "", "b", 2 }, now);
    ASSERT_TRUE(second);
    EXPECT_EQ(second->objects.front().key, "c");
    EXPECT_FALSE(listings.next({ "", "b", 2 }, now)); // handed out once
    const auto last = listings.next({ "", "d", 2 }, now);
    ASSERT_TRUE(last);
    EXPECT_EQ(last->objects.size(), 1U);
    EXPECT_FALSE(last->more);
    EXPECT_FALSE(listings.next({ "", "e", 2 }, now));
}

TEST(HubListings, AreForgottenAfterAChangeAndAfterAWhile)
{
    HubListings listings;
    const HubListings::Time now {};
    const HubListings::Objects objects { { "a", 1, "x", 0, false },
                                         { "b", 1, "x", 0, false },
                                         { "c", 1, "x", 0, false } };
    (void)listings.first({ "", "", 1 }, objects, now, listings.generation());
    listings.drop();
    EXPECT_FALSE(listings.next({ "", "a", 1 }, now));
    (void)listings.first({ "", "", 1 }, objects, now, listings.generation());
    EXPECT_FALSE(listings.next({ "", "a", 1 }, now + std::chrono::minutes(1)));
    const std::uint64_t before = listings.generation();
    listings.drop(); // while it was fetched
    EXPECT_EQ(listings.first({ "", "", 1 }, objects, now, before).objects.front().key, "a");
    EXPECT_FALSE(listings.next({ "", "a", 1 }, now));
    const ListPage behind = listings.first({ "", "a", 10 }, objects, now, listings.generation());
    EXPECT_EQ(behind.objects.front().key, "b");
}

} // namespace
} // namespace deltascope::hub
