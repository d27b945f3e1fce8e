#include "store/hub/hub_address.h"

#include <gtest/gtest.h>

namespace deltascope::hub {
namespace {

TEST(HubAddress, NamesBucketsAndModels)
{
    struct Case {
        const char* text;
        HubAddress address;
    };
    const std::vector<Case> cases {
        { "hf://buckets/me/runs", { true, "me", "runs", "", "", "" } },
        { "hf://buckets/me/runs/a/b%20c", { true, "me", "runs", "a/b c", "", "" } },
        { "hf://buckets/me/runs?endpoint=http://127.0.0.1:8080",
          { true, "me", "runs", "", "", "http://127.0.0.1:8080" } },
        { "hf://org/model", { false, "", "org/model", "", "", "" } },
        { "hf://org/model/sub?revision=refs%2Fpr%2F1", { false, "", "org/model", "sub", "refs/pr/1", "" } },
        { "hf://org/model?revision=main&endpoint=https://hub.example.org/x",
          { false, "", "org/model", "", "main", "https://hub.example.org/x" } },
        { "hf://buckets/me/runs/a%25b%3F%23", { true, "me", "runs", "a%b?#", "", "" } },
    };
    for (const Case& one : cases) {
        const auto address = parseHubAddress(one.text);
        ASSERT_TRUE(address) << one.text << address.error().text;
        EXPECT_EQ(*address, one.address) << one.text;
        EXPECT_EQ(addressText(*address), one.text);
    }
}

TEST(HubAddress, SpellingsOfOneAddressGiveOneText)
{
    const auto address = parseHubAddress("hf://buckets/me/runs/a%2Db/?endpoint=https://huggingface.co/");
    ASSERT_TRUE(address);
    EXPECT_EQ(addressText(*address), "hf://buckets/me/runs/a-b");
}

TEST(HubAddress, RefusesWhatNamesNothing)
{
    for (const char* text : { "",
                              "hf://",
                              "hf:///",
                              "hf://buckets",
                              "hf://buckets/me",
                              "hf://buckets/me/",
                              "hf://buckets//runs",
                              "hf://model",
                              "hf://buckets/me/runs/a//b",
                              "hf://buckets/me/runs/../b",
                              "hf://buckets/me/runs/%2e%2e",
                              "hf://buckets/me/ru ns",
                              "hf://buckets/me/runs/a%2Fb",
                              "hf://buckets/me/runs/%zz",
                              "hf://buckets/me/runs/%4",
                              "hf://buckets/me/runs?revision=main",
                              "hf://org/model?version=1",
                              "hf://org/model?endpoint=ftp://x",
                              "s3://me/runs",
                              "hf://buckets/me/runs?endpoint=https://u:p@host",
                              "hf://org/model?revision=" }) {
        const auto address = parseHubAddress(text);
        ASSERT_FALSE(address) << text;
        EXPECT_EQ(address.error().code, Code::Usage) << text;
    }
}

TEST(HubAddress, EncodesAllThatIsNotPlain)
{
    EXPECT_EQ(percentEncoded("a/b c#?%+\xc3\xbc~-._", Slashes::Stay), "a/b%20c%23%3F%25%2B%C3%BC~-._");
    EXPECT_EQ(percentEncoded("refs/pr/1", Slashes::AreEncoded), "refs%2Fpr%2F1");
    std::string all;
    for (int c = 1; c < 256; ++c)
        all += static_cast<char>(c);
    const auto back = percentDecoded(percentEncoded(all, Slashes::AreEncoded));
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, all);
}

} // namespace
} // namespace deltascope::hub
