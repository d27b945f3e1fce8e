#include "deltascope/engine/layout.h"

#include "layout_fixture.h"

#include <fmt/format.h>

namespace deltascope {
namespace {

using namespace layout_test;

Error detectionError(const std::vector<std::string>& keys)
{
    Source source;
    for (const std::string& key : keys)
        source.put(key, "x");
    const Error error = errorOf(builtinLayouts().detect(source.store(), source.listing(), source.task));
    EXPECT_EQ(error.code, Code::Layout);
    return error;
}

bool mentions(const Error& error, std::string_view text) { return error.text.find(text) != std::string::npos; }

TEST(LayoutRegistry, HoldsTheBuiltinLayoutsInOrderOfDetection)
{
    const LayoutRegistry layouts = builtinLayouts();
    std::vector<std::string_view> words;
    for (const auto& layout : layouts.all())
        words.push_back(layout->word());
    EXPECT_EQ(words, (std::vector<std::string_view> { "trl-v2", "slime-v2", "hf" }));
    EXPECT_EQ(layouts.find("hf")->word(), "hf");
    EXPECT_EQ(layouts.find("nonsense"), nullptr);
    EXPECT_TRUE(layouts.find("hf")->standAlone());
    EXPECT_TRUE(layouts.find("slime-v2")->needsExternalBase());
    EXPECT_FALSE(layouts.find("trl-v2")->standAlone());
}

TEST(LayoutRegistry, DetectsEveryGoldenCase)
{
    for (const char* name : { "trl-v2-raw",
                              "trl-v2-gap",
                              "trl-v2-gap-in-chain",
                              "trl-v2-empty-step",
                              "trl-v2-partial-anchor",
                              "trl-v2-truncated",
                              "trl-v2-drift-bf16",
                              "trl-v2-restart",
                              "trl-v2-bitflip",
                              "slime-v2-xor",
                              "slime-v2-overwrite",
                              "slime-v2-blake3",
                              "slime-v2-adler32",
                              "slime-v2-dup-name",
                              "slime-v2-noindex",
                              "slime-v2-badchecksum",
                              "slime-v2-wrongbase",
                              "slime-v2-gap-in-chain",
                              "hf-single",
                              "hf-sharded" }) {
        Golden golden(name);
        const auto layout = builtinLayouts().detect(*golden.store, golden.listing, golden.task);
        ASSERT_TRUE(layout) << name << ": " << layout.error().text;
        EXPECT_EQ((*layout)->word(), golden.expected["layout"]) << name;
    }
}

TEST(LayoutRegistry, SaysWhatItLookedForAndWhatItSaw)
{
    const Error error = detectionError({ "notes/a.txt", "b.txt" });
    EXPECT_TRUE(mentions(error, "trl-v2, slime-v2, hf")) << error.text;
    EXPECT_TRUE(mentions(error, "2 objects (b.txt, notes/a.txt)")) << error.text;
    EXPECT_FALSE(error.where.empty());
    EXPECT_TRUE(mentions(detectionError({}), "no objects"));
    EXPECT_TRUE(mentions(detectionError({ ".deltascope/v1/refs/a.json" }), "no objects"));
}

TEST(LayoutRegistry, NamesLayoutsThatItCannotRead)
{
    std::vector<std::string> manyBroken;
    for (int step = 1; step <= 9; ++step)
        manyBroken.push_back(fmt::format("deltas/step_{:06}.safetensors", step));
    EXPECT_TRUE(mentions(detectionError(manyBroken), "trl-v1.x"));
    EXPECT_TRUE(mentions(detectionError({ "steps/step_000001.safetensors" }), "trl-v1.x"));
    EXPECT_TRUE(mentions(detectionError({ "g/checkpoint-2700/DELTA/delta_sparse.bin.zst" }), "grail"));
    EXPECT_TRUE(mentions(detectionError({ "g/checkpoint-2700/READY-2700" }), "grail"));
    EXPECT_TRUE(mentions(detectionError({ "delta-00000001/manifest.json" }), "skyrl"));
    EXPECT_TRUE(mentions(detectionError({ "run/broadcasts/step_4/STABLE", "run/broadcasts/step_4/model.safetensors" }),
                         "prime-rl"));
    EXPECT_TRUE(mentions(detectionError({ "out/.vllm_lora/trl-policy-v3/adapter_config.json" }), "trl-adapter"));
    EXPECT_TRUE(mentions(detectionError({ "weight_v000001/rank0000_flush000000.safetensors" }), "slime-v1"));
    EXPECT_TRUE(mentions(detectionError({ "step-10/.metadata", "step-10/__0_0.distcp" }), "dcp"));
    EXPECT_TRUE(mentions(detectionError({ "v1/model.safetensors.index.json" }), "modelexpress"));
    EXPECT_TRUE(mentions(detectionError({ "weight_v000001/model-00000-of-00001.safetensors" }), "weight_v"));
}

TEST(VersionObjects, SumUpTheirObjects)
{
    VersionObjects version;
    EXPECT_EQ(version.wireBytes(), 0U);
    version.objects = { { "a", 3, "1", 50, false }, { "b", 4, "2", 20, false } };
    EXPECT_EQ(version.wireBytes(), 7U);
    EXPECT_EQ(version.publishedUs(), 50);
    VersionObjects other = version;
    EXPECT_EQ(version.identity(), other.identity());
    other.objects[1].identity = "3";
    EXPECT_NE(version.identity(), other.identity());
}

TEST(VersionIndex, FindsEntriesAndAddsUpWhatIsKnown)
{
    VersionIndex index;
    EXPECT_TRUE(index.countsKnown());
    for (const char* name : { "a", "b.c", "d" }) {
        TensorEntry& entry = index.tensors.emplace_back();
        entry.name = name;
        entry.storedElements = 2;
    }
    EXPECT_EQ(index.storedElements(), 6U);
    EXPECT_EQ(index.find("b.c"), &index.tensors[1]);
    EXPECT_EQ(index.find("b"), nullptr);
    EXPECT_EQ(index.find("z"), nullptr);
    index.tensors[1].storedElements.reset();
    EXPECT_FALSE(index.countsKnown());
    EXPECT_EQ(index.storedElements(), 4U);
}

TEST(DigestAlgorithm, HasTheWordsOfTheFormats)
{
    EXPECT_EQ(word(DigestAlgorithm::Xxh3_128), "xxh3-128");
    EXPECT_EQ(word(DigestAlgorithm::Blake3), "blake3");
    EXPECT_EQ(word(DigestAlgorithm::Adler32), "adler32");
    EXPECT_EQ(word(DigestAlgorithm::None), "none");
}

} // namespace
} // namespace deltascope
