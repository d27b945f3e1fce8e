#include "format/hf/hf_layout.h"

#include "format/hf/checkpoint_index.h"
#include "layout_fixture.h"

namespace deltascope {
namespace {

using namespace layout_test;

const std::string Data = fromHex("80 3f 00 40 40 40 80 40 a0 40 c0 40 e0 40 00 41");
const std::string Single = safetensorsFile({ { tensor("model.w"), Data } }, { { "format", "pt" } });
const std::string ShardA = safetensorsFile({ { tensor("a.bias", { 2 }), "abcd" } });
const std::string ShardB = safetensorsFile({ { tensor("model.w"), Data } });
const std::string ShardedIndex =
    R"({"metadata":{"total_size":20.5},"weight_map":{"a.bias":"model-00001-of-00002.safetensors","model.w":"model-00002-of-00002.safetensors"}})";

void putSharded(Source& source, const std::string& folder = "")
{
    source.put(folder + "model-00001-of-00002.safetensors", ShardA);
    source.put(folder + "model-00002-of-00002.safetensors", ShardB);
    source.put(folder + "model.safetensors.index.json", ShardedIndex);
}

TEST(HfIndex, ReadsASingleFile)
{
    Source source;
    source.put("model.safetensors", Single).put("config.json", "{}");
    EXPECT_TRUE(recognized(HfLayout(), source));
    const auto index = indexOnly(HfLayout(), source);
    ASSERT_TRUE(index) << index.error().text;
    EXPECT_TRUE(index->full);
    EXPECT_EQ(index->storedElements(), 8U);
    EXPECT_EQ(*index->tensors[0].info(), tensor("model.w"));
    std::string state(16, '\0');
    const auto counts = applyOnly(HfLayout(), source, tensor("model.w"), state, 6);
    ASSERT_TRUE(counts) << counts.error().text;
    PatchCounts expected = countsOf(0, 0, 8);
    expected.sameLowByte = 2; // 4000 and 4100, where zeros were
    EXPECT_EQ(*counts, expected);
    EXPECT_EQ(hexOf(state), hexOf(Data));
}

TEST(HfIndex, ReadsShards)
{
    Source source;
    putSharded(source);
    const auto index = indexOnly(HfLayout(), source);
    ASSERT_TRUE(index) << index.error().text;
    ASSERT_EQ(index->tensors.size(), 2U);
    EXPECT_EQ(index->tensors[0].name(), "a.bias");
    EXPECT_EQ(index->tensors[1].name(), "model.w");
    EXPECT_EQ(index->tensors[1].extents[0].object, 1U);
}

TEST(HfIndex, AFullStreamIsSeekable)
{
    Source source;
    source.put("model.safetensors", Single);
    const HfLayout layout;
    const VersionObjects version = onlyVersion(layout, source);
    const auto index = layout.index(source.store(), version, source.task);
    const auto stream = layout.open(source.store(), version, *index, index->tensors[0], tensor("model.w"),
                                    { &test::anyTask(), 64 * 1024, {} });
    ASSERT_TRUE((*stream)->seekable());
    const auto piece = (*stream)->next(10, 14);
    ASSERT_TRUE(piece);
    EXPECT_EQ(toHex(std::get<FullBlock>(*piece).bytes), hexOf(Data.substr(10, 4)));
    EXPECT_EQ(errorOf((*stream)->next(0, 4)).code, Code::Internal);
    EXPECT_EQ(errorOf((*stream)->finish()).code, Code::Malformed);
    EXPECT_EQ(errorOf((*stream)->next(14, 18)).code, Code::Internal);
}

TEST(HfIndex, RefusesAnotherShapeOrType)
{
    Source source;
    source.put("model.safetensors", Single);
    std::string state(16, '\0');
    EXPECT_EQ(errorOf(applyOnly(HfLayout(), source, tensor("model.w", { 4, 2 }), state)).code, Code::BaseMismatch);
    EXPECT_EQ(errorOf(applyOnly(HfLayout(), source, tensor("model.w", { 2, 4 }, Dtype::F16), state)).code,
              Code::BaseMismatch);
}

TEST(HfIndex, AllShardsWithoutIndexAreReadAndItIsSaid)
{
    Source source;
    putSharded(source);
    const VersionIndex want = indexOnly(HfLayout(), source).value();
    Source without;
    without.put("model-00001-of-00002.safetensors", ShardA).put("model-00002-of-00002.safetensors", ShardB);
    const auto index = indexOnly(HfLayout(), without);
    ASSERT_TRUE(index) << index.error().text;
    ASSERT_EQ(index->tensors.size(), want.tensors.size());
    for (std::size_t i = 0; i < want.tensors.size(); ++i)
        EXPECT_EQ(index->tensors[i].name(), want.tensors[i].name());
    ASSERT_EQ(index->notes.size(), 1U);
    EXPECT_EQ(index->notes[0].code, Code::Unlisted);
    EXPECT_EQ(index->notes[0].where, "model.safetensors.index.json");
    EXPECT_NE(index->notes[0].text.find("all 2 shards are there"), std::string::npos);
    EXPECT_TRUE(want.notes.empty());
    without.put("model.safetensors", Single); // which of them is the model?
    EXPECT_EQ(errorOf(indexOnly(HfLayout(), without)).code, Code::Unfinished);
}

TEST(HfIndex, MissingShardsAreNamed)
{
    Source source;
    source.put("model-00001-of-00004.safetensors", ShardA).put("model-00003-of-00004.safetensors", ShardB);
    EXPECT_TRUE(recognized(HfLayout(), source));
    const Error error = errorOf(indexOnly(HfLayout(), source));
    EXPECT_EQ(error.code, Code::Unfinished);
    EXPECT_NE(error.text.find("2 of its 4 shards are missing"), std::string::npos) << error.text;
    for (const char* file :
         { "model-00002-of-00004.safetensors", "model-00004-of-00004.safetensors", "model.safetensors.index.json" })
        EXPECT_NE(error.text.find(file), std::string::npos) << error.text;
    source.put("model.safetensors.index.json",
               R"({"weight_map":{"a":"model-00002-of-00004.safetensors","b":"model-00004-of-00004.safetensors"}})");
    const Error ofIndex = errorOf(indexOnly(HfLayout(), source));
    EXPECT_EQ(ofIndex.code, Code::Unfinished);
    EXPECT_NE(ofIndex.text.find("model-00002-of-00004.safetensors, model-00004-of-00004.safetensors"),
              std::string::npos)
        << ofIndex.text;
    Source uncounted;
    uncounted.put("model-00001.safetensors", ShardA);
    EXPECT_EQ(errorOf(indexOnly(HfLayout(), uncounted)).code, Code::Unfinished);
}

TEST(HfIndex, ATornIndexOrAMissingShardIsUnfinished)
{
    Source torn;
    putSharded(torn);
    torn.put("model.safetensors.index.json", ShardedIndex.substr(0, 40));
    EXPECT_EQ(errorOf(indexOnly(HfLayout(), torn)).code, Code::Unfinished);

    Source missing;
    missing.put("model-00001-of-00002.safetensors", ShardA).put("model.safetensors.index.json", ShardedIndex);
    const Error error = errorOf(indexOnly(HfLayout(), missing));
    EXPECT_EQ(error.code, Code::Unfinished);
    EXPECT_EQ(error.where, "model-00002-of-00002.safetensors");
}

TEST(HfIndex, ACutShardIsTruncated)
{
    Source source;
    putSharded(source);
    source.put("model-00002-of-00002.safetensors", ShardB.substr(0, ShardB.size() - 1));
    const Error error = errorOf(indexOnly(HfLayout(), source));
    EXPECT_EQ(error.code, Code::Truncated);
    EXPECT_EQ(error.where, "model-00002-of-00002.safetensors");
}

TEST(HfIndex, ANameInTwoFilesIsAnError)
{
    Source source;
    putSharded(source);
    source.put("model-00001-of-00002.safetensors",
               safetensorsFile({ { tensor("a.bias", { 2 }), "abcd" }, { tensor("model.w"), Data } }));
    EXPECT_EQ(errorOf(indexOnly(HfLayout(), source)).code, Code::DuplicateName);
}

TEST(HfIndex, ReadsTensorsThatTheIndexDoesNotNameAndSaysSo)
{
    Source extra;
    putSharded(extra);
    extra.put("model-00001-of-00002.safetensors",
              safetensorsFile({ { tensor("a.bias", { 2 }), "abcd" }, { tensor("b.bias", { 2 }), "efgh" } }));
    const auto index = indexOnly(HfLayout(), extra);
    ASSERT_TRUE(index) << index.error().text;
    ASSERT_EQ(index->tensors.size(), 3U);
    EXPECT_EQ(index->tensors[1].name(), "b.bias");
    ASSERT_EQ(countNotes(index->notes, Code::Unlisted), 1U);
    EXPECT_NE(index->notes[0].text.find("\"b.bias\""), std::string::npos) << index->notes[0].text;
    EXPECT_EQ(index->notes[0].where, "model-00001-of-00002.safetensors");
    EXPECT_TRUE(isNotice(Code::Unlisted));

    extra.put("model-00002-of-00002.safetensors",
              safetensorsFile({ { tensor("b.bias", { 2 }), "ijkl" }, { tensor("model.w"), Data } }));
    EXPECT_EQ(errorOf(indexOnly(HfLayout(), extra)).code, Code::DuplicateName);
}

TEST(HfIndex, ASecondModelBesideTheIndexIsAProblem)
{
    Source two;
    putSharded(two);
    EXPECT_TRUE(indexOnly(HfLayout(), two)->notes.empty());
    two.put("adapter_model.safetensors", Single).put("optimizer.safetensors", Single);
    EXPECT_TRUE(indexOnly(HfLayout(), two)->notes.empty()) << "no model of its own";
    two.put("model.safetensors", Single);
    const auto index = indexOnly(HfLayout(), two);
    ASSERT_TRUE(index) << index.error().text;
    EXPECT_EQ(index->tensors.size(), 2U) << "those of the index";
    ASSERT_EQ(countNotes(index->notes, Code::TwoModels), 1U);
    for (const char* reader : { "transformers", "vLLM" })
        EXPECT_NE(index->notes[0].text.find(reader), std::string::npos) << index->notes[0].text;
    EXPECT_EQ(index->notes[0].where, "model.safetensors");
    EXPECT_FALSE(isNotice(Code::TwoModels));
}

TEST(HfIndex, SideFilesThatNoIndexNamesAreAProblem)
{
    Source sharded;
    putSharded(sharded);
    sharded.put("model-mtp-of-00002.safetensors", ShardA).put("ema/model.safetensors", Single);
    ASSERT_TRUE(indexOnly(HfLayout(), sharded));
    EXPECT_EQ(countNotes(indexOnly(HfLayout(), sharded)->notes, Code::TwoModels), 1U);
    Source single;
    single.put("model.safetensors", Single).put("ema.safetensors", Single);
    ASSERT_EQ(countNotes(indexOnly(HfLayout(), single)->notes, Code::TwoModels), 1U);
    EXPECT_EQ(indexOnly(HfLayout(), single)->notes[0].where, "ema.safetensors");
}

TEST(HfIndex, RefusesFilesThatDoNotFitTheMap)
{
    Source absent;
    putSharded(absent);
    absent.put("model-00001-of-00002.safetensors", safetensorsFile({}));
    const Error error = errorOf(indexOnly(HfLayout(), absent));
    EXPECT_EQ(error.code, Code::Malformed);
    EXPECT_NE(error.text.find("\"a.bias\""), std::string::npos) << error.text;
    EXPECT_EQ(error.where, "model-00001-of-00002.safetensors");
    Source unsafe;
    putSharded(unsafe);
    unsafe.put("model.safetensors.index.json", R"({"weight_map":{"a.bias":"../model-00001-of-00002.safetensors"}})");
    EXPECT_EQ(errorOf(indexOnly(HfLayout(), unsafe)).code, Code::Hostile);
}

TEST(HfIndex, MetadataMayBeAbsent)
{
    Source source;
    putSharded(source);
    source.put(
        "model.safetensors.index.json",
        R"({"weight_map":{"a.bias":"model-00001-of-00002.safetensors","model.w":"model-00002-of-00002.safetensors"}})");
    EXPECT_TRUE(indexOnly(HfLayout(), source));
}

TEST(HfIndex, ADeltaIsNoCheckpoint)
{
    Source source;
    source.put("model.safetensors.index.json", R"({"metadata":{"delta_encoding":"xor"},"weight_map":{}})");
    EXPECT_FALSE(recognized(HfLayout(), source));
    EXPECT_EQ(errorOf(indexOnly(HfLayout(), source)).code, Code::Unsupported);
}

TEST(HfGroup, TheFolderItselfAndNumberedChildren)
{
    Source source;
    putSharded(source);
    source.put("config.json", "{}")
        .put(".deltascope/v1/x.json", "{}")
        .put("half.safetensors.tmp", "x")
        .put("sub/dir/readme", "");
    source.put("checkpoint-20/model.safetensors", Single).put("checkpoint-20/trainer_state.json", "{}");
    source.put("checkpoint-20/global_step20/optimizer.pt", "x");
    putSharded(source, "step_000010/");
    source.put("checkpoint-30/adapter_model.safetensors", Single).put("checkpoint-x/model.safetensors", Single);
    source.put("checkpoint-40/model.fp16.safetensors", Single).put("other/model.safetensors", Single);
    const auto versions = HfLayout().group(source.listing());
    ASSERT_EQ(stepsOf(versions), (std::vector<std::int64_t> { 0, 10, 20 }));
    EXPECT_EQ(keysOf(versions[0]),
              (std::vector<std::string> { "config.json", "model-00001-of-00002.safetensors",
                                          "model-00002-of-00002.safetensors", "model.safetensors.index.json" }));
    EXPECT_EQ(versions[1].name, "step_000010");
    EXPECT_EQ(keysOf(versions[2]),
              (std::vector<std::string> { "checkpoint-20/model.safetensors", "checkpoint-20/trainer_state.json" }));
}

TEST(HfGroup, VariantsAndAdaptersAreNoCheckpoint)
{
    for (const char* key :
         { "model.fp16.safetensors", "consolidated.safetensors", "adapter_model.safetensors", "model.safetensors.tmp",
           "model-x.safetensors", "shard-00001-model-00001-of-00001.safetensors", "pytorch_model.bin" }) {
        Source source;
        source.put(key, Single);
        EXPECT_FALSE(recognized(HfLayout(), source)) << key;
    }
    Source beside;
    beside.put("model.safetensors", Single).put("model.fp16.safetensors", "x").put("consolidated.safetensors", "x");
    EXPECT_TRUE(indexOnly(HfLayout(), beside));
}

TEST(HfGroup, LeavesOtherLayoutsAlone)
{
    for (const char* marker : { "manifest.json", "sparse_manifest.json", "sparse_update_manifest.json", ".metadata",
                                "__0_0.distcp", "rank0000_flush000000.safetensors", "STABLE", "READY-120",
                                "DELTA/delta_sparse.bin.zst", "FULL/model.safetensors" }) {
        Source source;
        source.put("checkpoint-120/model.safetensors", Single).put(std::string("checkpoint-120/") + marker, "x");
        EXPECT_FALSE(recognized(HfLayout(), source)) << marker;
    }
}

TEST(HfGroup, AFileBesideAFolderMarksItAsUnfinished)
{
    const HfLayout layout;
    Source source;
    source.put("step=10/weights/model.safetensors", Single).put("step=20/weights/model.safetensors", Single);
    source.put("step=20-unfinished", "").put("step=2-unfinished", "");
    const auto versions = layout.group(source.listing());
    ASSERT_EQ(stepsOf(versions), (std::vector<std::int64_t> { 10, 20 }));
    EXPECT_TRUE(layout.index(source.store(), versions[0], source.task));
    const Error error = errorOf(layout.index(source.store(), versions[1], source.task));
    EXPECT_EQ(error.code, Code::Unfinished);
    EXPECT_EQ(error.text, "step=20-unfinished marks this checkpoint as unfinished");
    EXPECT_EQ(error.step, 20);
    ASSERT_TRUE(source.store().remove("step=20-unfinished"));
    const auto ended = layout.group(source.listing());
    EXPECT_TRUE(layout.index(source.store(), ended[1], source.task));
    EXPECT_NE(ended[1].identity(), versions[1].identity()) << "what was not read is read now";
}

TEST(HfGroup, OneStableMarkerMakesAllStepsPrimeRl)
{
    Source source;
    source.put("step_1/model.safetensors", Single).put("step_2/model.safetensors", Single).put("step_2/STABLE", "");
    EXPECT_FALSE(recognized(HfLayout(), source));
}

TEST(HfGroup, TheNewerOfTwoFoldersWithOneNumberCounts)
{
    Source source;
    source.put("step_10/model.safetensors", Single).put("checkpoint-10/model.safetensors", Single);
    const VersionObjects version = onlyVersion(HfLayout(), source);
    EXPECT_EQ(version.name, "checkpoint-10");
    EXPECT_EQ(countNotes(version.notes, Code::Fork), 1U);
}

class HfGolden : public testing::TestWithParam<const char*> { };

TEST_P(HfGolden, TensorsEqualTheSavedOnes)
{
    Golden golden(GetParam());
    const HfLayout layout;
    ASSERT_TRUE(*layout.recognizes(*golden.store, golden.listing, golden.task));
    const auto versions = layout.group(golden.listing);
    ASSERT_EQ(versions.size(), golden.expected["steps"].size());
    for (const VersionObjects& version : versions) {
        const Json* step = golden.step(version.step);
        ASSERT_NE(step, nullptr);
        EXPECT_EQ(version.wireBytes(), (*step)["wire_bytes"]);
        EXPECT_EQ(Json(keysOf(version)), (*step)["objects"]);
        const auto index = layout.index(*golden.store, version, golden.task);
        ASSERT_TRUE(index) << index.error().text;
        EXPECT_EQ(index->storedElements(), (*step)["total_elems"]);
        ModelState state;
        PatchCounts counts;
        ASSERT_TRUE(state.apply(layout, *golden.store, version, *index, counts));
        state.expectEqual((*step)["tensors"], fmt::format("{} step {}", GetParam(), version.step));
    }
}

INSTANTIATE_TEST_SUITE_P(Cases, HfGolden, testing::Values("hf-single", "hf-sharded"), [](const auto& info) {
    std::string name = info.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

} // namespace
} // namespace deltascope
