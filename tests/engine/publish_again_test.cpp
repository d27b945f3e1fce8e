#include "publish_fixture.h"

#include <cstring>

// Publishing a step again: a process that was killed behind its commit could not tell that it had published.

namespace deltascope {
namespace {

using namespace layout_test;

using Versions = std::vector<PublishedVersion>;

Result<Versions> step(Publishing& p, std::int64_t from, std::int64_t to)
{
    return publishStep(p.bench, p.run, p.base, p.between(from, to), p.options, {}, p.task);
}

void expectPut(Publishing& p, std::int64_t from, std::int64_t to)
{
    const auto versions = step(p, from, to);
    ASSERT_TRUE(versions) << versions.error().text;
    EXPECT_FALSE(versions->back().wasThere);
    EXPECT_FALSE(versions->back().objects.empty());
}

void expectThere(Publishing& p, std::int64_t from, std::int64_t to, std::int64_t number)
{
    const auto before = p.keys();
    const auto versions = step(p, from, to);
    ASSERT_TRUE(versions) << versions.error().text;
    ASSERT_EQ(versions->size(), 1U);
    EXPECT_TRUE(versions->front().wasThere);
    EXPECT_EQ(versions->front().step, number);
    EXPECT_EQ(versions->front().origin, Publishing::originOf(to));
    EXPECT_TRUE(versions->front().objects.empty());
    EXPECT_EQ(p.keys(), before);
}

TEST(PublishAgain, WhatIsThereIsPublishedAlready)
{
    for (const char* layout : { "trl-v2", "slime-v2" }) {
        SCOPED_TRACE(layout);
        Publishing p(layout);
        const std::int64_t first = p.options.layout == "trl-v2" ? 1 : 0; // an anchor, or the external base
        p.drop(0);
        expectPut(p, first, 2);
        expectThere(p, first, 2, 2 - (1 - first));
        expectPut(p, 2, 3);
        expectThere(p, 2, 3, 3 - (1 - first));
        expectPut(p, 3, 4); // and the run goes on
    }
}

TEST(PublishAgain, AnAnchorThatIsThereIsPublishedAlready)
{
    Publishing p;
    p.options.anchorEvery = 2;
    expectPut(p, 1, 2);
    expectPut(p, 2, 3);
    EXPECT_EQ(p.keys().at(1), "anchors/step_000003.safetensors");
    expectThere(p, 2, 3, 3);
}

TEST(PublishAgain, ADeltaThatIsThereIsPublishedAlreadyWhereAnAnchorIsDueNext)
{
    Publishing p;
    p.options.anchorEvery = 2;
    expectPut(p, 1, 2);
    expectThere(p, 1, 2, 2);
}

TEST(PublishAgain, AnchorAloneIsGoneOnFrom)
{
    Publishing p;
    p.publishAll(1, 1); // killed between the anchor and the delta
    expectPut(p, 1, 2);
    EXPECT_EQ(p.rootOfStep(2).value_or("none"), p.rootOfCheckpoint(2));
}

TEST(PublishAgain, AnotherStepIsRefusedAsEver)
{
    Publishing p;
    expectPut(p, 1, 2);
    expectPut(p, 2, 3);
    const auto before = p.keys();
    EXPECT_EQ(errorOf(step(p, 1, 3)).code, Code::BaseMismatch); // other base, same state
    EXPECT_EQ(errorOf(step(p, 2, 4)).code, Code::BaseMismatch); // same base, other state
    EXPECT_EQ(errorOf(step(p, 1, 2)).code, Code::BaseMismatch); // not the newest
    EXPECT_EQ(p.keys(), before);
}

TEST(PublishAgain, WhatOnlySaysThatItIsTheSameIsRefused)
{
    Publishing p;
    expectPut(p, 1, 2);
    const std::string key = "deltas/step_000002.safetensors";
    std::string bytes = readObject(*p.run, key);
    std::uint64_t headerBytes = 0;
    std::memcpy(&headerBytes, bytes.data(), sizeof headerBytes);
    const Json header = Json::parse(bytes.substr(8, headerBytes));
    for (const auto& [name, tensor] : header.items()) {
        if (name.ends_with(".val"))
            bytes[8 + headerBytes + tensor["data_offsets"][0].get<std::size_t>()] ^= 1; // the roots stay
    }
    ASSERT_NE(bytes, readObject(*p.run, key)) << header.dump();
    ASSERT_TRUE(putText(*p.run, key, bytes));
    const Error error = errorOf(step(p, 1, 2));
    EXPECT_EQ(error.code, Code::Digest) << error.text;
    EXPECT_EQ(error.step, 2);
    EXPECT_EQ(readObject(*p.run, key), bytes);
}

TEST(PublishAgain, AnAnchorThatHoldsOtherTensorsSaysWhichOnes)
{
    Publishing p;
    p.options.anchorEvery = 2;
    expectPut(p, 1, 2);
    expectPut(p, 2, 3);
    const std::string key = "anchors/step_000003.safetensors";
    std::string bytes = readObject(*p.run, key);
    const std::size_t at = bytes.find("\"b\":");
    ASSERT_NE(at, std::string::npos);
    bytes[at + 1] = 'c'; // the roots stay
    ASSERT_TRUE(putText(*p.run, key, bytes));
    const Error error = errorOf(step(p, 2, 3));
    EXPECT_EQ(error.code, Code::Digest) << error.text;
    EXPECT_NE(error.text.find("as b"), std::string::npos) << error.text;
    EXPECT_EQ(error.text.find("0 elements"), std::string::npos) << error.text;
}

TEST(PublishAgain, ANewEpochIsBegunOnce)
{
    Publishing p;
    expectPut(p, 1, 2);
    p.options.newEpoch = true;
    expectPut(p, 2, 3);
    expectThere(p, 2, 3, 3);
    expectPut(p, 3, 4); // another state begins another one
}

TEST(PublishAgain, ARunWithoutRootsIsNotGuessedAbout)
{
    Publishing p;
    expectPut(p, 1, 2);
    expectPut(p, 2, 3);
    for (const std::int64_t number : { 1, 2, 3 }) {
        const std::string key =
            number == 1 ? "anchors/step_000001.safetensors" : fmt::format("deltas/step_{:06}.safetensors", number);
        std::string bytes = readObject(*p.run, key);
        for (std::size_t at = bytes.find("\"ds."); at != std::string::npos; at = bytes.find("\"ds.", at))
            bytes.replace(at, 4, "\"xx.");
        ASSERT_TRUE(putText(*p.run, key, bytes));
    }
    EXPECT_EQ(errorOf(step(p, 2, 3)).code, Code::BaseMismatch);
}

} // namespace
} // namespace deltascope
