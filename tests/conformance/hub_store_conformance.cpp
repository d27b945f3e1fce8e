#include "deltascope/engine/hub_store.h"
#include "support/any_task.h"
#include "support/memory_store.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>
#include <unistd.h>

// What a bucket offers beyond every store, over real Xet servers. Runs only where the environment names a Hub for tests
// (HF_ENDPOINT, HF_TOKEN, DELTASCOPE_TEST_STORES=1). Cases with faults need a Hub that takes rules for them at
// /_standin/faults.

namespace deltascope::test {

namespace {

using namespace std::chrono_literals;

bool hasHubForTests()
{
    const char* const wanted = std::getenv("DELTASCOPE_TEST_STORES");
    return wanted && wanted == std::string_view("1") && std::getenv("HF_ENDPOINT") && std::getenv("HF_TOKEN");
}

class HubConformance : public testing::Test {
protected:
    void SetUp() override
    {
        if (!hasHubForTests())
            GTEST_SKIP() << "no Hub for tests";
        static std::atomic<int> folders = 0;
        settings.ns = "tester";
        settings.name = "conformance";
        settings.prefix = fmt::format("bucket/{}/{}", ::getpid(), ++folders);
        store = open();
        ASSERT_TRUE(store);
        ASSERT_TRUE(bucket(*store).createBucket(true, anyTask()));
    }

    std::unique_ptr<ObjectStore> open() const
    {
        auto opened = hub::openHubStore(settings, std::make_shared<http::Client>());
        return opened ? std::move(*opened) : nullptr;
    }
    static hub::HubBucket& bucket(ObjectStore& of) { return dynamic_cast<hub::HubBucket&>(of); }

    /// False: this Hub takes no rules.
    bool setFaults(const nlohmann::json& rules) const
    {
        http::Client client;
        http::Request request;
        request.method = "POST";
        request.url = std::string(std::getenv("HF_ENDPOINT")) + "/_standin/faults";
        request.body = http::bodyOf(rules.dump());
        const auto answer = client.send(request, anyTask());
        return answer && answer->isGood();
    }

    static std::string randomText(std::size_t bytes, unsigned seed)
    {
        std::mt19937_64 random(seed);
        std::string text(bytes, ' ');
        for (char& c : text)
            c = static_cast<char>(random());
        return text;
    }

    static Result<std::string> textOf(const ObjectStore& from, const ObjectRef& object, std::size_t size)
    {
        std::string text(size, ' ');
        const auto outcome = from.read(object, 0, std::as_writable_bytes(std::span(text)), anyTask());
        return outcome ? Result<std::string>(text) : Result<std::string>(fail(outcome.error()));
    }

    hub::HubSettings settings;
    std::unique_ptr<ObjectStore> store;
};

} // namespace

TEST_F(HubConformance, WholeReadsAreProvenAndPartsAreNot)
{
    const std::string text = randomText(3'000'000, 1);
    const auto object = putText(*store, "a", text);
    ASSERT_TRUE(object) << object.error().text;
    const auto other = open();
    std::string part(1000, ' ');
    ASSERT_TRUE(other->read(*object, 2'000'000, std::as_writable_bytes(std::span(part)), anyTask()));
    EXPECT_EQ(part, text.substr(2'000'000, 1000));
    EXPECT_EQ(other->proofOf(*object), ReadProof::Partial);
    const auto whole = textOf(*other, *object, text.size());
    ASSERT_TRUE(whole) << whole.error().text;
    EXPECT_EQ(*whole, text);
    EXPECT_EQ(other->proofOf(*object), ReadProof::Proven);
    EXPECT_EQ(bucket(*other).reads().plainBytes, 0U);
}

TEST_F(HubConformance, ABitThatFlipsOnTheWayIsFound)
{
    const std::string text = randomText(300'000, 2);
    const auto object = putText(*store, "a", text);
    ASSERT_TRUE(object);
    if (!setFaults(
            nlohmann::json::array({ { { "side", "cdn" }, { "method", "GET" }, { "flip", 5000 }, { "times", 50 } } })))
        GTEST_SKIP() << "this Hub takes no rules for faults";
    const auto read = textOf(*open(), *object, text.size());
    ASSERT_TRUE(setFaults(nlohmann::json::array()));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Code::Digest);
    EXPECT_EQ(read.error().where, "a");
}

TEST_F(HubConformance, ReadsGoOnByTheRedirectWhenTheXetServersFail)
{
    const std::string text = randomText(200'000, 3);
    const auto object = putText(*store, "a", text);
    ASSERT_TRUE(object);
    settings.account.retries.mostAttempts = 2;
    settings.account.retries.firstPause = 1ms;
    const auto other = open();
    if (!setFaults(nlohmann::json::array({ { { "side", "cas" }, { "status", 503 }, { "times", 1000 } } })))
        GTEST_SKIP() << "this Hub takes no rules for faults";
    const auto read = textOf(*other, *object, text.size());
    ASSERT_TRUE(setFaults(nlohmann::json::array()));
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(*read, text);
    EXPECT_EQ(bucket(*other).reads().plainBytes, text.size());
    EXPECT_EQ(other->proofOf(*object), ReadProof::Partial);
}

TEST_F(HubConformance, PutsSurviveTroubleOfTheHub)
{
    const auto rule = [](const char* path, nlohmann::json what) {
        what.update({ { "path", path } });
        return nlohmann::json::array({ std::move(what) });
    };
    settings.account.retries.firstPause = 1ms;
    const std::string lost = settings.prefix + "/failing";
    const auto other = open();
    int number = 0;
    for (const nlohmann::json& rules : { rule("/batch", { { "side", "hub" }, { "status", 503 }, { "times", 2 } }),
                                         rule("/batch", { { "side", "hub" }, { "lost", true } }),
                                         rule("/batch", { { "side", "hub" }, { "reset", true } }),
                                         rule("/batch", { { "side", "hub" }, { "fail_path", lost } }),
                                         rule("/paths-info", { { "side", "hub" }, { "status", 502 } }),
                                         rule("/shards", { { "side", "cas" }, { "reset", true } }),
                                         rule("/xorb", { { "side", "cas" }, { "status", 500 } }),
                                         rule("", { { "side", "cas" }, { "status", 401 } }) }) {
        if (!setFaults(rules))
            GTEST_SKIP() << "this Hub takes no rules for faults";
        const std::string text = randomText(20'000, 100 + static_cast<unsigned>(++number));
        const auto object = putText(*other, "failing", text);
        ASSERT_TRUE(object) << rules << object.error().text;
        const auto read = textOf(*open(), *object, text.size());
        ASSERT_TRUE(read) << rules << read.error().text;
        EXPECT_EQ(*read, text) << rules;
    }
    setFaults(nlohmann::json::array());
}

TEST_F(HubConformance, WatchesSeeWhatOthersPut)
{
    auto watch = store->watch();
    ASSERT_TRUE(watch) << watch.error().text;
    const auto other = open();
    for (const char* key : { "x", "deep/y" }) {
        ASSERT_TRUE(putText(*other, key, "text"));
        EXPECT_TRUE(*(*watch)->wait(20s, anyTask())) << key;
    }
    ASSERT_TRUE(removeOne(*other, "x", anyTask()));
    EXPECT_TRUE(*(*watch)->wait(20s, anyTask()));
}

TEST_F(HubConformance, CopiesAndRemovesMany)
{
    const auto object = putText(*store, "a", randomText(50'000, 4));
    ASSERT_TRUE(object);
    const auto copy = store->copy(*object, "b/copy", PutMode::Replace, anyTask());
    ASSERT_TRUE(copy) << copy.error().text;
    EXPECT_EQ(copy->sizeBytes, object->sizeBytes);
    EXPECT_EQ(*textOf(*store, *copy, 50'000), randomText(50'000, 4));
    ObjectInfo old = *object;
    ASSERT_TRUE(putText(*store, "a", "new"));
    EXPECT_EQ(store->copy(old, "c", PutMode::Replace, anyTask()).error().code, Code::Rewritten);
    EXPECT_EQ(store->copy("missing", "c", PutMode::Replace, anyTask()).error().code, Code::NotFound);
    const auto outcomes = store->remove({ "a", "missing", "b/copy" }, anyTask());
    EXPECT_TRUE(outcomes[0]);
    EXPECT_EQ(outcomes[1].error().code, Code::NotFound);
    EXPECT_TRUE(outcomes[2]);
    TaskContext task;
    EXPECT_TRUE(listAll(*store, "", task)->empty());
}

TEST_F(HubConformance, ABucketThatIsNotThereIsNotFound)
{
    settings.name = "no-such-bucket";
    const auto none = open();
    TaskContext task;
    EXPECT_EQ(listAll(*none, "", task).error().code, Code::NotFound);
    EXPECT_EQ(none->stat("a", anyTask()).error().code, Code::NotFound);
    EXPECT_EQ(putText(*none, "a", "text").error().code, Code::NotFound);
    EXPECT_EQ(none->watch().error().code, Code::NotFound);
}

} // namespace deltascope::test
