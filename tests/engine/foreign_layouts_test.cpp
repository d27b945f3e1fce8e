#include "format/fireworks/fireworks_layout.h"
#include "format/modelexpress/modelexpress_layout.h"
#include "format/prime_rl/prime_rl_layout.h"
#include "format/skyrl/skyrl_layout.h"
#include "format/trl/trl_layout.h"
#include "format/trl_adapter/trl_adapter_layout.h"

#include "worked_examples.h"

// What the smaller readers refuse, and what they tell apart. That they read is shown by the golden cases.

namespace deltascope {
namespace {

using namespace layout_test;

const std::string SkyrlPayload = safetensorsFile({ { tensor("model.w", { 25 }, Dtype::U8), SlimeFrame } });

/// docs/formats/skyrl.md, "Worked example".
Json skyrlManifest()
{
    return { { "version", 1 },
             { "base_version", 0 },
             { "tensors",
               { { { "name", "model.w" },
                   { "dtype", "bfloat16" },
                   { "shape", { 2, 4 } },
                   { "uncompressed_num_bytes", 16 },
                   { "compressed_num_bytes", 25 },
                   { "payload_file", "p.safetensors" },
                   { "payload_key", "model.w" },
                   { "checksum", SlimeDigest },
                   { "checksum_algorithm", "xxh3-128" } } } },
             { "payload_files", { "p.safetensors" } } };
}

Code skyrlCode(const Json& manifest)
{
    Source source;
    source.put("delta-00000001/manifest.json", manifest.dump()).put("delta-00000001/p.safetensors", SkyrlPayload);
    return errorOf(indexOnly(SkyrlLayout(), source)).code;
}

TEST(Skyrl, ReadsTheWorkedExample)
{
    Source source;
    source.put("delta-00000001/manifest.json", skyrlManifest().dump())
        .put("delta-00000001/p.safetensors", SkyrlPayload);
    const auto index = indexOnly(SkyrlLayout(), source);
    ASSERT_TRUE(index) << index.error().text;
    EXPECT_EQ(index->declaredBase, 0);
    EXPECT_EQ(index->digests, DigestAlgorithm::Xxh3_128);
    std::string state = SlimeBefore;
    ASSERT_TRUE(applyOnly(SkyrlLayout(), source, tensor("model.w"), state, 6));
    EXPECT_EQ(hexOf(state), hexOf(SlimeAfter));
    EXPECT_EQ(errorOf(applyOnly(SkyrlLayout(), source, tensor("model.w", { 8 }), state)).code, Code::BaseMismatch);
}

TEST(Skyrl, RefusesManifestsThatLeadAstray)
{
    const auto with = [](const char* key, Json value) {
        Json manifest = skyrlManifest();
        manifest["tensors"][0][key] = std::move(value);
        return manifest;
    };
    EXPECT_EQ(skyrlCode(with("payload_file", "../p.safetensors")), Code::Hostile);
    EXPECT_EQ(skyrlCode(with("payload_file", "q.safetensors")), Code::Unfinished);
    EXPECT_EQ(skyrlCode(with("payload_key", "model.x")), Code::Malformed);
    EXPECT_EQ(skyrlCode(with("uncompressed_num_bytes", 17)), Code::Malformed);
    EXPECT_EQ(skyrlCode(with("checksum", "6d90")), Code::Malformed);
    EXPECT_EQ(skyrlCode(with("checksum_algorithm", "md5")), Code::Unsupported);
    EXPECT_EQ(skyrlCode(with("shape", Json::array({ -2, 4 }))), Code::Malformed);
    Json self = skyrlManifest();
    self["base_version"] = 1;
    EXPECT_EQ(skyrlCode(self), Code::Malformed);
    Json twice = skyrlManifest();
    twice["tensors"].push_back(twice["tensors"][0]);
    EXPECT_EQ(skyrlCode(twice), Code::DuplicateName);
    Source torn;
    torn.put("delta-00000001/manifest.json", R"({"version": 1, "base)");
    EXPECT_EQ(errorOf(indexOnly(SkyrlLayout(), torn)).code, Code::Unfinished);
    Source none;
    none.put("delta-00000001/p.safetensors", SkyrlPayload);
    EXPECT_EQ(errorOf(indexOnly(SkyrlLayout(), none)).code, Code::Unfinished);
}

TEST(PrimeRl, UsesNothingWithoutItsMarker)
{
    const std::string file = safetensorsFile({ { tensor("model.w"), SlimeAfter } });
    Source source;
    source.put("b/step_3/model.safetensors", file).put("b/step_4/model.safetensors", file).put("b/step_4/STABLE", "");
    const PrimeRlLayout layout;
    const auto versions = layout.group(source.listing());
    ASSERT_EQ(stepsOf(versions), (std::vector<std::int64_t> { 3, 4 }));
    EXPECT_EQ(errorOf(layout.index(source.store(), versions[0], source.task)).code, Code::Unfinished);
    EXPECT_TRUE(layout.index(source.store(), versions[1], source.task));
}

TEST(PrimeRl, ChecksTheFoldOfASparseStep)
{
    // docs/formats/prime-rl.md, "Worked example": elements 1, 4 and 7
    const auto put = [](Source& source, std::uint64_t checksum) {
        const Json manifest { { "format", "prime-rl-sparse-update" },
                              { "version", 1 },
                              { "step", 2 },
                              { "base_step", 1 },
                              { "patch_file", "sparse_update_patch.safetensors" },
                              { "tensors",
                                { { { "name", "layer.weight" },
                                    { "shape", { 2, 4 } },
                                    { "dtype", "bfloat16" },
                                    { "indices", "tensor_0.indices" },
                                    { "values", "tensor_0.values" },
                                    { "changed_numel", 3 },
                                    { "checksum", checksum } } } } };
        source.put("step_2/sparse_update_manifest.json", manifest.dump());
        source.put(
            "step_2/sparse_update_patch.safetensors",
            safetensorsFile({ { tensor("tensor_0.indices", { 3 }, Dtype::I32), fromHex("01000000 04000000 07000000") },
                              { tensor("tensor_0.values", { 3 }), fromHex("01c0 813e c942") } }));
        source.put("step_2/STABLE", "");
    };
    const PrimeRlLayout layout;
    for (const std::uint64_t checksum : { 13801597717425684482U, 13801597717425684483U }) {
        Source source;
        put(source, checksum);
        const VersionObjects version = onlyVersion(layout, source);
        const auto index = layout.index(source.store(), version, source.task);
        ASSERT_TRUE(index) << index.error().text;
        const auto sound = layout.checkPayload(source.store(), version, *index, source.task);
        EXPECT_EQ(sound.has_value(), checksum == 13801597717425684482U);
        if (!sound) {
            EXPECT_EQ(sound.error().code, Code::Digest);
        }
    }
}

TEST(PrimeRl, ReportsWhatNoManifestNames)
{
    const auto file = safetensorsFile({ { tensor("tensor_0.indices", { 2 }, Dtype::I32), fromHex("01000000 04000000") },
                                        { tensor("tensor_0.values", { 2 }), fromHex("01c0 813e") } });
    Source update;
    update.put("step_2/STABLE", "");
    update.put("step_2/sparse_update_patch.safetensors", file);
    update.put("step_2/sparse_update_manifest.json",
               R"({"format":"prime-rl-sparse-update","step":2,"base_step":1,)"
               R"("patch_file":"sparse_update_patch.safetensors","tensors":[]})");
    Source files;
    files.put("step_2/STABLE", "");
    files.put("step_2/delta-00001-of-00001.safetensors", file);
    files.put("step_2/sparse_manifest.json",
              R"({"format":"prime_rl_sparse_filesystem_v1","type":"delta","step":2,"base_step":1,"patch_files":[]})");
    for (Source* source : { &update, &files }) {
        const auto index = indexOnly(PrimeRlLayout(), *source);
        ASSERT_TRUE(index) << index.error().text;
        ASSERT_EQ(index->notes.size(), 1U);
        EXPECT_EQ(index->notes[0].code, Code::MissingTensor);
        EXPECT_TRUE(index->notes[0].where.ends_with(".safetensors"));
    }
}

TEST(ModelExpress, IsToldFromSlimeAndFromPlainCheckpoints)
{
    const auto index = [](std::string_view version, std::string_view checksum) {
        return fmt::format(R"({{"metadata":{{"base_version":"v0","checksum_format":"{}","compression_format":"zstd",)"
                           R"("delta_encoding":"xor","version":"{}"}},"weight_map":{{}}}})",
                           checksum, version);
    };
    const auto holds = [](const std::string& text, const std::string& folder = "v1") {
        Source source;
        source.put(folder + "/model.safetensors.index.json", text);
        return recognized(ModelExpressLayout(), source);
    };
    EXPECT_TRUE(holds(index("v1", "adler32")));
    EXPECT_TRUE(holds(index("77abc123", "adler32"), "cd613e30")) << "ids are the choice of a service";
    EXPECT_FALSE(holds(index("000001", "adler32"), "weight_v000001"));
    EXPECT_FALSE(holds(index("v1", "xxh3-128")));
    EXPECT_FALSE(holds(R"({"metadata":{},"weight_map":{}})"));
    Source full;
    full.put("v0/model-00001-of-00001.safetensors",
             safetensorsFile({ { tensor("model.w"), SlimeAfter } }, { { "mx.adler32:model.w", "2d140583" } }));
    full.put("v0/model.safetensors.index.json",
             R"({"metadata":{"total_size":16},"weight_map":{"model.w":"model-00001-of-00001.safetensors"}})");
    EXPECT_TRUE(recognized(ModelExpressLayout(), full));
    const auto read = indexOnly(ModelExpressLayout(), full);
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(read->digests, DigestAlgorithm::Adler32);
    EXPECT_EQ(read->tensors.at(0).digest.view(), "2d140583");
}

std::string fullIndex(std::string_view metadata)
{
    return fmt::format(R"({{"metadata":{{{}}},"weight_map":{{"model.w":"model-00001-of-00001.safetensors"}}}})",
                       metadata);
}

TEST(ModelExpress, HasASumForEveryTensorWhereTheIndexSaysSo)
{
    const auto read = [](std::string_view metadata, const Metadata& sums) {
        Source source;
        source.put("v0/model-00001-of-00001.safetensors", safetensorsFile({ { tensor("model.w"), SlimeAfter } }, sums));
        source.put("v0/model.safetensors.index.json", fullIndex(metadata));
        return indexOnly(ModelExpressLayout(), source);
    };
    const std::string_view adler = R"("checksum_format":"adler32","total_size":16)";
    const auto whole = read(adler, { { "model.w", "2d140583" } });
    ASSERT_TRUE(whole) << whole.error().text;
    EXPECT_EQ(whole->tensors.at(0).digest.view(), "2d140583");
    EXPECT_EQ(errorOf(read(adler, {})).code, Code::Digest);
    EXPECT_TRUE(read(R"("total_size":16)", {})) << "an earlier publisher may leave them out";
    EXPECT_EQ(errorOf(read(R"("checksum_format":"crc")", {})).code, Code::Unsupported);
}

TEST(ModelExpress, IsNoFolderOfTheHotLoadContract)
{
    Source source;
    source.put("ckpt-000001/model-00001-of-00001.safetensors",
               safetensorsFile({ { tensor("model.w"), SlimeAfter } }, { { "model.w", "2d140583" } }));
    source.put("ckpt-000001/model.safetensors.index.json", fullIndex(""));
    EXPECT_TRUE(recognized(ModelExpressLayout(), source)) << "a complete version alone says nothing else";
    source.put("ckpt-000002/model-00001-of-00001.safetensors",
               safetensorsFile({ { tensor("model.w", { 4 }, Dtype::U8), "zstd" } }, { { "model.w", "2d140583" } }));
    source.put("ckpt-000002/model.safetensors.index.json", fullIndex(""));
    EXPECT_FALSE(recognized(ModelExpressLayout(), source)) << "payload whose codec nothing names";
}

TEST(TrlAdapter, CheckpointsOfTrainerAreARun)
{
    const TrlAdapterLayout layout;
    Source source;
    for (const char* folder : { "", "checkpoint-100/", "checkpoint-200/" })
        source.put(fmt::format("{}adapter_config.json", folder), "{}")
            .put(fmt::format("{}adapter_model.safetensors", folder), "x");
    source.put("checkpoint-100/trainer_state.json", "{}").put("checkpoint-300/adapter_model.safetensors", "x");
    ASSERT_TRUE(recognized(layout, source));
    EXPECT_EQ(stepsOf(layout.group(source.listing())), (std::vector<std::int64_t> { 0, 100, 200 }));
    Source trl; // its folders for vLLM come first
    for (const char* folder : { "checkpoint-100/", ".vllm_lora/trl-policy-v7/" })
        trl.put(fmt::format("{}adapter_config.json", folder), "{}")
            .put(fmt::format("{}adapter_model.safetensors", folder), "x");
    EXPECT_EQ(stepsOf(layout.group(trl.listing())), (std::vector<std::int64_t> { 7 }));
    source.put("checkpoint-300/model.safetensors", "x"); // adapters beside whole models are not the run
    EXPECT_FALSE(recognized(layout, source));
}

TEST(TrlAdapter, PassesOverStagingFoldersAndHalfWrittenOnes)
{
    const std::string weights = safetensorsFile({ { tensor("a.lora_A.weight", { 2, 4 }), SlimeAfter } });
    Source source;
    source.put(".vllm_lora/.trl-policy-v4.tmp/adapter_config.json", "{}");
    source.put(".vllm_lora/trl-policy-v3/adapter_config.json", "{}");
    source.put(".vllm_lora/trl-policy-v3/adapter_model.safetensors", weights);
    source.put(".vllm_lora/trl-policy-v5/adapter_config.json", "{}");
    const TrlAdapterLayout layout;
    EXPECT_TRUE(recognized(layout, source));
    const auto versions = layout.group(source.listing());
    ASSERT_EQ(stepsOf(versions), (std::vector<std::int64_t> { 3, 5 }));
    EXPECT_TRUE(layout.index(source.store(), versions[0], source.task));
    const Error error = errorOf(layout.index(source.store(), versions[1], source.task));
    EXPECT_EQ(error.code, Code::Unfinished);
    EXPECT_EQ(error.text, "lacks adapter_model.safetensors: not a whole adapter");
}

TEST(Fireworks, ListsNamesAndSizesAndNothingElse)
{
    Source source;
    source.put("acct/step-a/model.safetensors", "opaque").put("acct/step-b/model.safetensors", "opaque too");
    const FireworksLayout layout;
    EXPECT_FALSE(recognized(layout, source));
    const auto versions = layout.group(source.listing());
    ASSERT_EQ(versions.size(), 2U);
    const Error error = errorOf(layout.index(source.store(), versions[0], source.task));
    EXPECT_EQ(error.code, Code::Unsupported);
    EXPECT_NE(error.text.find("arc_v2"), std::string::npos);
}

std::string trlDelta(const Metadata& metadata, const char* index, const char* value)
{
    return safetensorsFile({ { tensor(std::string("layer.weight") + index, { 1 }, Dtype::I32), fromHex("01000000") },
                             { tensor(std::string("layer.weight") + value, { 1 }), fromHex("01c0") } },
                           metadata);
}

TEST(Trl, TellsItsDialectsByMetadataAlone)
{
    const Metadata v1_0 { { "format", "sparse_weight_patch" },
                          { "version", "1" },
                          { "checksum_sha256", std::string(64, '0') } };
    const Metadata v1_2 { { "format", "sparse_weight_patch" }, { "version", "1" }, { "sparse", "True" } };
    const Metadata v2 {
        { "format", "sparse_weight_patch" }, { "version", "1" }, { "sparse", "True" }, { "encoding", "raw" }
    };
    const std::vector<std::pair<const TrlDialect*, Metadata>> files { { &TrlV10, v1_0 },
                                                                      { &TrlV12, v1_2 },
                                                                      { &TrlV2, v2 } };
    for (const auto& [wrote, metadata] : files) {
        Source source;
        source.put("deltas/step_000002.safetensors", trlDelta(metadata, ".indices", ".values"));
        for (const TrlDialect* dialect : { &TrlV10, &TrlV12, &TrlV2 }) {
            const auto answer = TrlLayout(*dialect).recognizes(source.store(), source.listing(), source.task);
            EXPECT_EQ(*answer, dialect == wrote) << dialect->word << " of a file by " << wrote->word;
        }
    }
}

TEST(Trl, ReadsStrippedFilesOnlyForThoseWhoNameTheirDialect)
{
    Source source;
    source.put("deltas/step_000002.safetensors", trlDelta({}, ".idx", ".val"));
    const LayoutRegistry layouts = builtinLayouts();
    for (const auto& layout : layouts.all()) {
        if (layout->word().starts_with("trl")) {
            EXPECT_FALSE(recognized(*layout, source)) << layout->word();
        }
    }
    const auto index = indexOnly(TrlLayout(TrlV2), source);
    ASSERT_TRUE(index) << index.error().text;
    EXPECT_FALSE(index->full);
    EXPECT_EQ(index->tensors.at(0).storedElements(), 1U);
    EXPECT_FALSE(index->declaredBase);
}

TEST(Trl, TakesTheNumberBeforeWhereOnlyFilesAreCounted)
{
    Source source;
    source.put("deltas/step_000007.safetensors",
               trlDelta({ { "format", "sparse_weight_patch" }, { "version", "1" }, { "sparse", "True" } }, ".indices",
                        ".values"));
    const auto index = indexOnly(TrlLayout(TrlV12), source);
    ASSERT_TRUE(index) << index.error().text;
    EXPECT_EQ(index->declaredBase, 6);
}

} // namespace
} // namespace deltascope
