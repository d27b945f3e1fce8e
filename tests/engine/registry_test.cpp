#include "deltascope/engine/layout.h"

#include "layout_fixture.h"

#include <filesystem>
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

TEST(LayoutRegistry, HoldsTheBuiltinLayoutsInOrderOfDetection)
{
    const LayoutRegistry layouts = builtinLayouts();
    std::vector<std::string_view> words;
    for (const auto& layout : layouts.all())
        words.push_back(layout->word());
    EXPECT_EQ(words,
              (std::vector<std::string_view> { "grail", "prime-rl", "trl-v1.0", "trl-v1.1", "trl-v1.2", "trl-v2",
                                               "trl-adapter", "skyrl", "slime-v1", "slime-v2", "modelexpress", "dcp",
                                               "hf", "fireworks" }));
    EXPECT_EQ(layouts.find("hf")->word(), "hf");
    EXPECT_EQ(layouts.find("nonsense"), nullptr);
    EXPECT_TRUE(layouts.find("hf")->standAlone());
    EXPECT_TRUE(layouts.find("dcp")->standAlone());
    EXPECT_TRUE(layouts.find("slime-v2")->needsExternalBase());
    EXPECT_FALSE(layouts.find("trl-v2")->standAlone());
}

TEST(LayoutRegistry, DetectsEveryGoldenCase)
{
    std::size_t cases = 0;
    for (const auto& folder : std::filesystem::directory_iterator(DELTASCOPE_GOLDEN_DIR)) {
        const std::string name = folder.path().filename();
        if (!std::filesystem::exists(folder.path() / "expected.json") || name == "safetensors-hostile")
            continue;
        ++cases;
        Golden golden(name);
        const auto layout = builtinLayouts().detect(*golden.store, golden.listing, golden.task);
        ASSERT_TRUE(layout) << name << ": " << layout.error().text;
        EXPECT_EQ((*layout)->word(), golden.expected["layout"]) << name;
    }
    EXPECT_GE(cases, 35U);
}

TEST(LayoutRegistry, SaysWhatItLookedForAndWhatItSaw)
{
    const Error error = detectionError({ "notes/a.txt", "b.txt" });
    EXPECT_TRUE(mentions(error, "modelexpress, dcp, hf")) << error.text;
    EXPECT_TRUE(mentions(error, "2 objects (b.txt, notes/a.txt)")) << error.text;
    EXPECT_TRUE(mentions(detectionError({ "a/1", "a/2", "a/3", "a/4", "b/1" }), "5 objects (a/1, b/1, a/2, …)"));
    EXPECT_FALSE(error.where.empty());
    EXPECT_TRUE(mentions(detectionError({}), "no objects"));
    EXPECT_TRUE(mentions(detectionError({ ".deltascope/v1/refs/a.json" }), "no objects"));
}

TEST(LayoutRegistry, SaysThatASaveHasNotEnded)
{
    const Error error = detectionError({ "tmp_step_30/policy/weights/__0_0.distcp" });
    EXPECT_TRUE(mentions(error,
                         "tmp_step_30 holds no weights but those of an unfinished save "
                         "(policy/weights/__0_0.distcp)"))
        << error.text;
    EXPECT_TRUE(mentions(detectionError({ "run/global_step_3/.tmp-hf-export-a/model.safetensors" }),
                         "run/global_step_3 holds no weights but those of an unfinished save"));
    EXPECT_FALSE(mentions(detectionError({ "tmp_step_30/readme.txt" }), "unfinished"));
    EXPECT_FALSE(mentions(detectionError({ "step_30/pytorch_model.bin" }), "unfinished"));
}

TEST(LayoutRegistry, SaysHowDeepWeightsLie)
{
    const std::vector<std::string> deep { "step_1/a/b/c/d/e/f/model.safetensors" };
    EXPECT_NE(detectionError(deep).action.find("--depth 6"), std::string::npos) << detectionError(deep).action;
    EXPECT_EQ(detectionError({ "step_1/a/pytorch_model.bin" }).action.find("--depth"), std::string::npos);
    Source source;
    source.put(deep.front(), "x");
    EXPECT_FALSE(builtinLayouts(5).detect(source.store(), source.listing(), source.task));
    const auto layout = builtinLayouts(6).detect(source.store(), source.listing(), source.task);
    ASSERT_TRUE(layout);
    EXPECT_EQ((*layout)->word(), "hf");
    EXPECT_EQ((*layout)->searchDepth(), 6U);
}

TEST(LayoutRegistry, NamesPublicationsByWhatTheirFilesSay)
{
    const auto textOf = [](const std::vector<std::pair<std::string, std::string>>& files) {
        Source source;
        for (const auto& [key, text] : files)
            source.put(key, text);
        const auto layout = builtinLayouts().detect(source.store(), source.listing(), source.task);
        EXPECT_FALSE(layout);
        return layout ? std::string() : layout.error().text;
    };
    const std::string manifest = R"({"base_version":0,"codec":"lz4","frame_bytes":1048576,"plan_digest":"aa",)"
                                 R"("publication_id":"s:1","stream_id":"s","target_version":1})";
    EXPECT_NE(textOf({ { "s/v000001/READY.json", "{}" }, { "s/v000001/manifest.json", manifest } }).find("gpu-delta"),
              std::string::npos);
    EXPECT_EQ(textOf({ { "s/READY.json", "{}" }, { "s/manifest.json", R"({"name":"page"})" } }).find("gpu-delta"),
              std::string::npos)
        << "other things are ready, too";
    EXPECT_NE(
        textOf({ { "identities.json", R"({"entries":{"cd61":{"version":1,"previous":null}}})" } }).find("hot-load"),
        std::string::npos);
    EXPECT_EQ(textOf({ { "identities.json", R"({"entries":[]})" } }).find("hot-load"), std::string::npos);
    EXPECT_EQ(textOf({ { "identities.json", "no JSON" } }).find("hot-load"), std::string::npos);
}

TEST(LayoutRegistry, NamesLayoutsThatItCannotRead)
{
    std::vector<std::string> manyBroken;
    for (int step = 1; step <= 9; ++step)
        manyBroken.push_back(fmt::format("deltas/step_{:06}.safetensors", step));
    EXPECT_TRUE(mentions(detectionError(manyBroken), "TRL's delta sync"));
    EXPECT_TRUE(mentions(detectionError({ "steps/step_000001.safetensors" }), "TRL's delta sync"));
    EXPECT_TRUE(mentions(detectionError({ "delta_000001.pt" }), "never loaded"));
    EXPECT_TRUE(mentions(detectionError({ "s/weight_v000001/manifest.json" }), "gpu-delta"));
    EXPECT_TRUE(mentions(detectionError({ "nemo-rl-refit/0123/000001/000002.pt" }), "NeMo-RL"));
    EXPECT_TRUE(mentions(detectionError({ "weight_v000001/model-00000-of-00001.safetensors" }), "weight_v"));
}

TEST(VersionObjects, SumUpTheirObjects)
{
    VersionObjects version;
    EXPECT_EQ(version.wireBytes(), 0U);
    version.objects = { { "a", 3, "1", 50, false, {} }, { "b", 4, "2", 20, false, {} } };
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
        entry.setName(name);
        entry.setStoredElements(2);
    }
    EXPECT_EQ(index.storedElements(), 6U);
    EXPECT_EQ(index.find("b.c"), &index.tensors[1]);
    EXPECT_EQ(index.find("b"), nullptr);
    EXPECT_EQ(index.find("z"), nullptr);
    index.tensors[1] = TensorEntry();
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
