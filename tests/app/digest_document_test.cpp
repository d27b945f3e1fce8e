#include "service/digest_document.h"

#include "deltascope/app/view/json.h"
#include "service_fixture.h"

#include <fstream>
#include <nlohmann/json.hpp>

// Documents of digests: what `digest --json` writes is read again, and a state is compared with it.

namespace deltascope::app {
namespace {

using json = nlohmann::json;

class DigestDocument : public ServiceFixture {
protected:
    static VersionRequest version(const std::string& bucket, const std::string& version)
    {
        return { goldenSource(bucket), version };
    }
    std::string write(const std::string& text)
    {
        home.write("digests.json", text);
        return home.path("digests.json");
    }
    std::string documentOf(const VersionRequest& request, TensorHashes hashes = TensorHashes::Xxh3AndSha256)
    {
        return toJson(*viewOf<DigestView>(service->digest(request, false, hashes)));
    }
    std::string refusal(const json& document)
    {
        const auto read = readDigestDocument(*makeFileSystem(), write(document.dump()));
        EXPECT_FALSE(read);
        return read ? std::string() : read.error().text;
    }
};

TEST_F(DigestDocument, OfAStepFitsTheStepAndNoOther)
{
    for (const TensorHashes hashes : { TensorHashes::Xxh3AndSha256, TensorHashes::Xxh3 }) {
        const std::string path = write(documentOf(version("slime-v2-xor", "9"), hashes));
        const auto same = viewOf<DigestCheckView>(service->checkDigests(version("slime-v2-xor", "9"), path, false));
        EXPECT_TRUE(same->equal);
        EXPECT_GT(same->tensorsCompared, 0U);
        EXPECT_EQ(same->bySha256, hashes == TensorHashes::Xxh3 ? 0U : same->tensorsCompared);
        const auto other = viewOf<DigestCheckView>(service->checkDigests(version("slime-v2-xor", "8"), path, false));
        EXPECT_FALSE(other->equal);
        EXPECT_FALSE(other->different.empty());
        EXPECT_EQ(json::parse(toJson(*other))["different"].size(), other->different.size());
    }
}

TEST_F(DigestDocument, ALostStepIsComparedOnRequestAlone)
{
    const std::string path =
        write(toJson(*viewOf<DigestView>(service->digest(version("trl-v2-gap-in-chain", "8"), true))));
    EXPECT_EQ(errorOf(service->checkDigests(version("trl-v2-gap-in-chain", "8"), path, false)).code, Code::ChainGap);
    EXPECT_TRUE(viewOf<DigestCheckView>(service->checkDigests(version("trl-v2-gap-in-chain", "8"), path, true))->equal);
}

TEST_F(DigestDocument, ThatIsNoneIsRefusedByWhatItLacks)
{
    const json sound = json::parse(documentOf(version("hf-single", "")));
    ASSERT_TRUE(readDigestDocument(*makeFileSystem(), write(sound.dump())));
    const auto with = [&](const char* key, const json& value) {
        json changed = sound;
        changed["tensors"][0][key] = value;
        return refusal(changed);
    };
    const std::string name = sound["tensors"][0]["name"];
    EXPECT_EQ(with("name", 7), "tensor 0 of the document has no name");
    EXPECT_EQ(with("dtype", "BF17"), "tensor " + name + " of the document has an unknown dtype");
    EXPECT_EQ(with("shape", "2"), "tensor " + name + " of the document has no dtype and shape");
    EXPECT_EQ(with("shape", { -2 }), "tensor " + name + " of the document has a shape that is no list of numbers");
    EXPECT_EQ(with("xxh3_128", "12"), "tensor " + name + " of the document has no XXH3-128");
    EXPECT_EQ(with("xxh3_128", std::string(32, 'G')), "tensor " + name + " of the document has no XXH3-128");
    EXPECT_EQ(with("sha256", "12"), "tensor " + name + " of the document has a SHA-256 that is none");
    json twice = sound;
    twice["tensors"].push_back(sound["tensors"][0]);
    EXPECT_EQ(refusal(twice), "tensor \"" + name + "\" occurs twice");
    json empty = sound;
    empty["tensors"] = json::array();
    EXPECT_EQ(refusal(empty), "the document has no tensors");
    for (const json& other :
         { json(7), json::array(), json { { "tensors", 7 } }, json { { "tensors", { { "a", 1 } } } } })
        EXPECT_EQ(refusal(other), "this is no document of digests");
    const auto cut = readDigestDocument(*makeFileSystem(), write("{"));
    ASSERT_FALSE(cut);
    EXPECT_EQ(cut.error().text, "this is no JSON, or has more than 4000000 values");
    const auto none = readDigestDocument(*makeFileSystem(), write(""));
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().text, "the document is empty");
    const auto absent = readDigestDocument(*makeFileSystem(), home.path("none.json"));
    ASSERT_FALSE(absent);
    EXPECT_EQ(absent.error().code, Code::NotFound);
}

}
} // namespace deltascope::app
