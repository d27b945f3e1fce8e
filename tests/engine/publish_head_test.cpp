#include "publish_fixture.h"
#include "session.h"

#include <string>
#include <vector>

// What a run ends with is held against the records, and read, before a delta is put behind it.

namespace deltascope {
namespace {

using namespace layout_test;

constexpr std::int64_t Newest = 4;

/// A run of steps 1 to 4, published by a process that has ended.
class PublishBehindHead : public testing::TestWithParam<const char*> {
protected:
    PublishBehindHead()
        : p(GetParam())
    {
        p.publishAll(1, Newest);
    }

    void verify()
    {
        m_session.openRecords();
        p.bench.records = m_session.bench.records;
        deltascope::Run run = p.view();
        const auto report = verifyRun(p.bench, run, VerifyOptions(), p.task);
        ASSERT_TRUE(report) << report.error().text;
    }
    /// The key of the payload of a step.
    std::string payloadOf(std::int64_t step)
    {
        const deltascope::Run run = p.view();
        const Version& version = *run.find(step);
        for (const ObjectInfo& object : version.objects.objects) {
            if (object.key.ends_with(".safetensors"))
                return object.key;
        }
        return {};
    }
    std::string read(ObjectStore& store, const std::string& key)
    {
        const auto bytes = readWhole(store, key, 1U << 20, p.task);
        EXPECT_TRUE(bytes);
        return bytes ? std::string(asText(*bytes)) : std::string();
    }
    static std::string flipped(std::string bytes, std::size_t fromEnd)
    {
        bytes[bytes.size() - fromEnd] ^= 1;
        return bytes;
    }
    /// How planning and publishing the next step from the newest checkpoint end.
    std::vector<Error> outcomes()
    {
        std::vector<Error> errors;
        if (const auto plan = planPublish(p.bench, p.run, p.base, p.between(Newest, Newest + 1), p.options, p.task);
            !plan)
            errors.push_back(plan.error());
        auto publisher = p.open();
        auto version =
            publisher ? p.publish(*publisher, Newest + 1, Newest) : Result<PublishedVersion>(fail(publisher.error()));
        if (!version)
            errors.push_back(version.error());
        return errors;
    }

    Publishing p;

private:
    Session m_session;
};

TEST_P(PublishBehindHead, NothingIsPutBehindADamagedNewestStep)
{
    const std::string key = payloadOf(Newest);
    const std::string sound = read(*p.run, key);
    std::size_t refused = 0;
    for (std::size_t fromEnd = 1; fromEnd <= 24; ++fromEnd) {
        SCOPED_TRACE(fromEnd);
        Publishing damaged(GetParam());
        damaged.publishAll(1, Newest);
        const std::vector<std::string> before = damaged.keys();
        ASSERT_TRUE(putText(*damaged.run, key, flipped(sound, fromEnd)));
        auto publisher = damaged.open();
        ASSERT_TRUE(publisher) << publisher.error().text;
        const auto version = damaged.publish(*publisher, Newest + 1, Newest);
        if (version) { // the bit meant nothing
            EXPECT_EQ(damaged.rootOfStep(Newest + 1).value_or("none"), damaged.rootOfCheckpoint(Newest + 1));
            continue;
        }
        ++refused;
        EXPECT_EQ(version.error().text.find("the run cannot be continued: "), 0U) << version.error().text;
        EXPECT_EQ(version.error().step, Newest);
        EXPECT_EQ(damaged.keys(), before);
    }
    EXPECT_GT(refused, 20U);
    EXPECT_TRUE(outcomes().empty());
    EXPECT_EQ(p.rootOfStep(Newest + 1).value_or("none"), p.rootOfCheckpoint(Newest + 1));
}

TEST_P(PublishBehindHead, NothingIsPutBehindAStepThatWasRewritten)
{
    verify();
    const std::string key = payloadOf(Newest - 1);
    const std::string sound = read(*p.run, key);
    const std::vector<std::string> before = p.keys();
    ASSERT_TRUE(putText(*p.run, key, flipped(sound, 1)));
    const std::vector<Error> refusals = outcomes();
    ASSERT_EQ(refusals.size(), 2U);
    for (const Error& error : refusals) {
        EXPECT_EQ(error.code, Code::Rewritten) << error.text;
        EXPECT_EQ(error.where, key);
    }
    EXPECT_EQ(p.keys(), before);
    ASSERT_TRUE(putText(*p.run, key, sound)); // a copy in its place
    EXPECT_TRUE(outcomes().empty());
}

TEST_P(PublishBehindHead, APlanDecodesTheNewestStep)
{
    const std::string key = payloadOf(Newest);
    std::string bytes = read(*p.run, key);
    const std::size_t headerBytes = loadLe<std::uint64_t>(asBytes(bytes));
    const Json header = Json::parse(bytes.substr(8, headerBytes));
    for (const auto& [name, entry] : header.items()) {
        if (name == "__metadata__" || name.ends_with(".val"))
            continue;
        const auto& place = entry["data_offsets"]; // of positions, or a mask
        for (std::size_t at = place[0].get<std::size_t>(); at < place[1].get<std::size_t>(); ++at)
            bytes[8 + headerBytes + at] = '\x7f';
    }
    ASSERT_TRUE(putText(*p.run, key, bytes));
    const std::vector<Error> refusals = outcomes();
    ASSERT_EQ(refusals.size(), 2U);
    EXPECT_EQ(refusals.front().code, refusals.back().code);
    EXPECT_EQ(refusals.front().text, refusals.back().text);
}

TEST_P(PublishBehindHead, APublisherDoesNotReadAgainWhatItPut)
{
    auto publisher = p.open();
    ASSERT_TRUE(publisher) << publisher.error().text;
    ASSERT_TRUE(p.publish(*publisher, Newest + 1, Newest));
    const std::string key = payloadOf(Newest + 1);
    ASSERT_TRUE(putText(*p.run, key, flipped(read(*p.run, key), 1)));
    EXPECT_TRUE(p.publish(*publisher, Newest + 2, Newest + 1));
}

INSTANTIATE_TEST_SUITE_P(Layouts, PublishBehindHead, testing::Values("trl-v2", "slime-v2"), [](const auto& info) {
    return std::string(info.param).substr(0, std::string(info.param).find('-'));
});

TEST(PublishOnARewrittenBase, NothingIsPut)
{
    Session session;
    session.openRecords();
    Publishing p("slime-v2");
    p.publishAll(1, Newest);
    p.bench.records = session.bench.records;
    const auto verify = [&] {
        deltascope::Run run = p.view();
        EXPECT_TRUE(verifyRun(p.bench, run, VerifyOptions(), p.task));
    };
    const auto put = [&](const std::string& bytes) { EXPECT_TRUE(putText(*p.base.base, "model.safetensors", bytes)); };
    const auto attempt = [&]() -> Result<PublishedVersion> {
        DS_TRY(Publisher publisher, p.open());
        return p.publish(publisher, Newest + 1, Newest);
    };
    verify();
    std::string other = Publishing::fileOf(0);
    other.back() ^= 1;
    const std::vector<std::string> before = p.keys();
    put(other);
    EXPECT_FALSE(attempt());
    EXPECT_EQ(p.keys(), before);
    put(Publishing::fileOf(0));
    EXPECT_TRUE(attempt());
}

} // namespace
} // namespace deltascope
